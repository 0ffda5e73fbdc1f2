#include "daemon/agent/uplink/backoff.h"

#include <algorithm>

namespace fathom::agent {

Nanos Backoff::Next() {
  const int doublings = std::min(failures_, 30);
  ++failures_;
  const std::int64_t room = limit_.count >> doublings;
  const std::int64_t whole = first_.count > room ? limit_.count : first_.count << doublings;
  std::uniform_int_distribution<std::int64_t> pick(whole / 2, whole);
  return Nanos(pick(random_));
}

}  // namespace fathom::agent
