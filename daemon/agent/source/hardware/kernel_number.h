// Numbers and folders of /proc and /sys, as the hardware sources want them.
//
// Used by the system sources of this folder. Thread-safety: pure. Errors: nullopt, empty.
// Cost: three system calls a file; opendir and some a folder.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_KERNEL_NUMBER_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_KERNEL_NUMBER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace fathom::agent {

inline constexpr std::size_t kMostDevices = 64;  // of one kind; what comes after is left out

// The names in a folder, sorted, but those that begin with a dot; at most `most`.
std::vector<std::string> NamesIn(const std::string& folder, std::size_t most = kMostDevices);

// PSI's "some avg10" of cpu, memory or io, 0 to 1.
std::optional<double> PressureIn(const std::string& path);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_KERNEL_NUMBER_H_
