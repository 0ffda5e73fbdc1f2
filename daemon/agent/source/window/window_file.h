// Reads the side file that a detail window left behind (daemon/abi/window_file.h).
//
// Used by session/window_watch when a process says that its window is closed.
//
// Model: the file is read once, whole, with preads; it belongs to a process that may be dying or
// hostile, so every count is checked against the file's size and our own layout, and names are made
// printable. Times come out on the node's CLOCK_MONOTONIC, by the pair of moments at the opening.
//
// Units: ns. Thread-safety: a pure function of the file.
// Errors: NotFound; Unavailable (`ready` is not set); InvalidArgument names the field.
// Cost: O(records), at most 2.2 MiB read.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_WINDOW_WINDOW_FILE_H_
#define FATHOM_DAEMON_AGENT_SOURCE_WINDOW_WINDOW_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/abi/window_file.h"

namespace fathom::agent {

struct Activity {
  std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t end_ns = 0;
  abi::ActivityKind kind = abi::ActivityKind::kNone;
  std::uint16_t name = abi::kNoWindowName;  // index into names
  std::uint64_t bytes = 0;
  std::uint8_t detail = 0;  // daemon/abi/window_file.h
};

struct WindowContents {
  std::vector<Activity> activities;  // those with a kind that we know
  std::vector<std::string> names;
  std::uint64_t lost = 0;
  std::int64_t clock_residual_ns = 0;  // CUPTI's clock ran ahead of the node's by this much
};

// `ticket`: whose file it must be.
absl::StatusOr<WindowContents> ReadWindowFile(const std::string& path, std::uint32_t ticket);

// "<pid>-<generation>-<ticket>.window"
std::string WindowFileName(std::uint32_t pid, std::uint32_t generation, std::uint32_t ticket);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_WINDOW_WINDOW_FILE_H_
