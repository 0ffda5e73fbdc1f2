// What a window of detail comes to: activities summed by kind and name.
//
// Used by session/window_watch; the sums go to the collector, the records stay and are dropped.
//
// Model: a name is worth a line of its own while there is room; the kMaxWindowSums with the
// largest total time are kept, the others are one line a kind with an empty name. Waits of the host
// (kSync) and overheads, which are time of its threads, are no work of the GPU and do not count as
// busy. An overhead is CUPTI's own or the driver's; its name says what for.
// Units: ns. Thread-safety: pure. Errors: none. Cost: O(records log records).
#ifndef FATHOM_DAEMON_AGENT_SOURCE_WINDOW_WINDOW_SUMS_H_
#define FATHOM_DAEMON_AGENT_SOURCE_WINDOW_WINDOW_SUMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/agent/source/window/window_file.h"

namespace fathom::agent {

inline constexpr std::size_t kMaxWindowSums = 64;

struct ActivitySum {
  abi::ActivityKind kind = abi::ActivityKind::kNone;
  std::string name;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t longest_ns = 0;
  std::uint64_t bytes = 0;
  bool of_driver = false;  // kOverhead: it would have been there without CUPTI, too
};

struct WindowSums {
  std::vector<ActivitySum> sums;  // by total time, largest first
  std::int64_t busy_ns = 0;       // union of kernels, copies and memsets
};

WindowSums SumUp(const WindowContents& contents);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_WINDOW_WINDOW_SUMS_H_
