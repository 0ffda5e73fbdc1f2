#include "daemon/agent/pipeline/void_time.h"

#include <algorithm>

namespace fathom::agent {
namespace {

// What lies in [begin, end] of it; its busy time in proportion.
SeenInterval Clipped(const SeenInterval& whole, std::int64_t begin_ns, std::int64_t end_ns) {
  const SeenInterval part = {std::max(whole.begin_ns, begin_ns), std::min(whole.end_ns, end_ns), 0};
  const std::int64_t length = whole.end_ns - whole.begin_ns;
  if (part.end_ns <= part.begin_ns || length <= 0) return {part.begin_ns, part.begin_ns, 0};
  const double share =
      static_cast<double>(part.end_ns - part.begin_ns) / static_cast<double>(length);
  return {part.begin_ns, part.end_ns,
          static_cast<std::int64_t>(share * static_cast<double>(whole.busy_ns))};
}

}  // namespace

VoidTime VoidOf(std::vector<SeenInterval> seen, std::int64_t begin_ns, std::int64_t end_ns) {
  VoidTime out;
  if (seen.empty() || end_ns <= begin_ns) return out;
  std::sort(seen.begin(), seen.end(),
            [](const SeenInterval& a, const SeenInterval& b) { return a.begin_ns < b.begin_ns; });
  std::int64_t covered = begin_ns, busy = 0, longest = 0;
  for (const SeenInterval& each : seen) {
    const SeenInterval part = Clipped(each, begin_ns, end_ns);
    if (part.end_ns <= part.begin_ns) continue;
    longest = std::max(longest, part.begin_ns - covered);
    // Where threads overlap no more counts than the time that went by.
    busy += std::min(part.busy_ns, std::max<std::int64_t>(0, part.end_ns - covered));
    covered = std::max(covered, part.end_ns);
  }
  longest = std::max(longest, end_ns - covered);
  const std::int64_t all = std::max<std::int64_t>(0, end_ns - begin_ns - busy);
  out.known = true;
  out.between_ns = std::min(longest, all);
  out.within_ns = all - out.between_ns;
  return out;
}

}  // namespace fathom::agent
