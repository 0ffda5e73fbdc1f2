#include "collector/cli/process/signal_relay.h"

#include <algorithm>
#include <csignal>

namespace fathom::cli {

bool SignalRelay::TakeMatch(std::vector<Waiting>* list, int signal, int sender) {
  const auto found = std::find_if(list->begin(), list->end(), [&](const Waiting& each) {
    return each.signal == signal && each.sender == sender;
  });
  if (found == list->end()) return false;
  list->erase(found);
  return true;
}

void SignalRelay::Arrived(int signal, int si_code, int sender, Time now) {
  if (si_code == SI_KERNEL || TakeMatch(&witnessed_, signal, sender)) return;
  waiting_.push_back({signal, sender, has_witness_ ? now + kPatience : now});
}

void SignalRelay::Witnessed(int signal, int sender, Time now) {
  std::erase_if(witnessed_, [now](const Waiting& each) { return each.until <= now; });
  if (!TakeMatch(&waiting_, signal, sender))
    witnessed_.push_back({signal, sender, now + kPatience});
}

std::vector<int> SignalRelay::Due(Time now) {
  std::vector<int> out;
  for (const Waiting& each : waiting_) {
    if (each.until <= now) out.push_back(each.signal);
  }
  std::erase_if(waiting_, [now](const Waiting& each) { return each.until <= now; });
  return out;
}

std::optional<SignalRelay::Time> SignalRelay::next() const {
  std::optional<Time> out;
  for (const Waiting& each : waiting_) out = out ? std::min(*out, each.until) : each.until;
  return out;
}

}  // namespace fathom::cli
