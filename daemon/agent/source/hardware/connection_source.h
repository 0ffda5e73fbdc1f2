// How fast the network takes what traced processes send each other over TCP.
//
// Made by session/hardware_watch, run by source_runner.
//
// Model: of each traced process the connections that carried kWorthTelling bytes, one way or the
// other, since they were told last, the busiest of them, kMostOfANode in all: how many bytes the
// other end has confirmed, and for how long data was on its way (source/socket/tcp_sockets). Both
// are counters of the connection's whole life. Who is at the other end is told by whoever sees both
// ends. Processes in another network namespace are asked there, where the agent may enter it; else
// they have none.
//
// Units: those of HardwareMetric. Thread-safety: as hardware_source.h. Ownership: a descriptor for
// each network namespace in use.
// Errors: the kernel's answer where no namespace can be asked.
// Cost: a few µs a connection; every kLookUpNs, and of a young process of which nothing was told
// yet at every sample, its descriptors and a dump of its namespace.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_CONNECTION_SOURCE_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_CONNECTION_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/agent/source/hardware/hardware_source.h"
#include "daemon/agent/source/process/proc_file.h"
#include "daemon/agent/source/socket/tcp_sockets.h"

namespace fathom::agent {

class ConnectionSource : public HardwareSource {
 public:
  static constexpr std::size_t kMostProcesses = 64;
  static constexpr std::size_t kMostOfANode = 128;
  static constexpr std::uint64_t kWorthTelling = 64 << 10;  // bytes
  static constexpr std::int64_t kLookUpNs = 10'000'000'000;
  static constexpr std::int64_t kYoungNs = 30'000'000'000;

  // `traced`: called on the source's thread.
  ConnectionSource(KernelRoots roots, std::function<std::set<std::uint32_t>()> traced,
                   std::function<MonoNs()> now)
      : roots_(std::move(roots)), traced_(std::move(traced)), now_(std::move(now)) {}

  std::string_view name() const override { return "connection"; }
  // More for a while, where processes are young.
  double budget() const override { return young_ ? 0.005 : 0.0005; }
  absl::Status Sample(CallInProgress& doing, std::vector<Reading>& out) override;

 private:
  struct Process {
    std::string space;  // its network namespace, "net:[4026531840]"
    std::vector<TcpSocket> sockets;
    std::int64_t found_ns = 0, looked_up_ns = 0;
    std::map<std::uint64_t, std::uint64_t> told;  // bytes by inode
  };

  // Whose connections are to be found anew.
  std::set<std::uint32_t> Due();
  absl::Status LookUp(const std::set<std::uint32_t>& due);
  absl::Status LookUp(std::uint32_t pid, Process& process,
                      std::map<std::string, std::vector<TcpSocket>>& dumps);
  // Of a namespace, which `pid` is in; opened once.
  const absl::StatusOr<SocketTable>& TableOf(const std::string& space, std::uint32_t pid);
  // At most so many of its connections.
  void SampleProcess(std::uint32_t pid, std::size_t most, Process& process,
                     std::vector<Reading>& out);

  const KernelRoots roots_;
  const std::function<std::set<std::uint32_t>()> traced_;
  const std::function<MonoNs()> now_;
  std::map<std::uint32_t, Process> processes_;
  std::map<std::string, absl::StatusOr<SocketTable>> tables_;
  bool young_ = true;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_CONNECTION_SOURCE_H_
