#include "daemon/agent/source/hardware/connection_source.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace fathom::agent {
namespace {

// "net:[4026531840]"; empty where the process is gone or another user's.
std::string NetworkSpaceOf(const KernelRoots& roots, std::uint32_t pid) {
  const std::string path = absl::StrCat(roots.proc, "/", pid, "/ns/net");
  char target[64];
  const ssize_t n = readlink(path.c_str(), target, sizeof(target));
  return n <= 0 ? "" : std::string(target, static_cast<std::size_t>(n));
}

// Both ways: whose the other end is, is only known if that end is told too.
std::uint64_t CarriedBy(const TcpSocket& socket) { return socket.confirmed + socket.received; }

}  // namespace

std::set<std::uint32_t> ConnectionSource::Due() {
  const std::int64_t now = now_().ns;
  std::set<std::uint32_t> due;
  young_ = false;
  for (auto& [pid, process] : processes_) {
    if (process.found_ns == 0) process.found_ns = now;
    const bool young = process.told.empty() && now - process.found_ns < kYoungNs;
    young_ |= young;
    if (young || now - process.looked_up_ns >= kLookUpNs) due.insert(pid);
  }
  return due;
}

const absl::StatusOr<SocketTable>& ConnectionSource::TableOf(const std::string& space,
                                                             std::uint32_t pid) {
  const auto known = tables_.find(space);
  if (known != tables_.end()) return known->second;
  const bool own = space == NetworkSpaceOf(roots_, static_cast<std::uint32_t>(getpid()));
  return tables_.emplace(space, own ? SocketTable::Own() : SocketTable::Of(roots_, pid))
      .first->second;
}

absl::Status ConnectionSource::LookUp(std::uint32_t pid, Process& process,
                                      std::map<std::string, std::vector<TcpSocket>>& dumps) {
  process.looked_up_ns = now_().ns;
  process.space = NetworkSpaceOf(roots_, pid);
  process.sockets.clear();
  const auto inodes = SocketsOf(roots_, pid);
  if (process.space.empty() || !inodes.ok()) return absl::OkStatus();  // it is gone
  auto dump = dumps.find(process.space);
  if (dump == dumps.end()) {
    const absl::StatusOr<SocketTable>& table = TableOf(process.space, pid);
    if (!table.ok()) return table.status();
    auto sockets = table->Established();
    if (!sockets.ok()) return sockets.status();
    dump = dumps.emplace(process.space, *std::move(sockets)).first;
  }
  for (const TcpSocket& socket : dump->second) {
    if (inodes->contains(socket.inode)) process.sockets.push_back(socket);
  }
  std::erase_if(process.told, [&](const auto& each) { return !inodes->contains(each.first); });
  return absl::OkStatus();
}

absl::Status ConnectionSource::LookUp(const std::set<std::uint32_t>& due) {
  std::map<std::string, std::vector<TcpSocket>> dumps;
  absl::Status status;
  for (const std::uint32_t pid : due) {
    if (absl::Status looked = LookUp(pid, processes_[pid], dumps); !looked.ok()) status = looked;
  }
  std::set<std::string> used;
  for (const auto& [pid, process] : processes_) used.insert(process.space);
  std::erase_if(tables_, [&](const auto& each) { return !used.contains(each.first); });
  return dumps.empty() ? status : absl::OkStatus();
}

void ConnectionSource::SampleProcess(std::uint32_t pid, std::size_t most, Process& process,
                                     std::vector<Reading>& out) {
  std::vector<std::pair<std::uint64_t, const TcpSocket*>> grown;
  const auto table = tables_.find(process.space);
  if (table == tables_.end() || !table->second.ok()) return;
  for (TcpSocket& socket : process.sockets) {
    // Of one that is closed the kernel may tell what is left of it.
    auto now = table->second->Now(socket);
    if (now.ok() && now->inode == socket.inode) socket = *std::move(now);
    const auto known = process.told.find(socket.inode);
    const std::uint64_t told = known == process.told.end() ? 0 : known->second;
    const std::uint64_t carried = CarriedBy(socket);
    if (carried >= told + kWorthTelling) grown.emplace_back(carried - told, &socket);
  }
  most = std::min(grown.size(), most);
  std::partial_sort(grown.begin(), grown.begin() + static_cast<std::ptrdiff_t>(most), grown.end(),
                    [](const auto& a, const auto& b) { return a.first > b.first; });
  grown.resize(most);
  for (const auto& [bytes, socket] : grown) {
    process.told[socket->inode] = CarriedBy(*socket);
    const std::string device = absl::StrCat(pid, " ", socket->local, " ", socket->peer);
    out.push_back({DeviceKind::kConnection, device, HardwareMetric::kConfirmedBytes,
                   static_cast<double>(socket->confirmed), ""});
    out.push_back({DeviceKind::kConnection, device, HardwareMetric::kSendingTime,
                   socket->sending.Seconds(), ""});
  }
}

absl::Status ConnectionSource::Sample(CallInProgress& doing, std::vector<Reading>& out) {
  doing.Enter("reading connections of processes");
  const std::set<std::uint32_t> traced = traced_();
  std::erase_if(processes_, [&](const auto& each) { return !traced.contains(each.first); });
  for (const std::uint32_t pid : traced) {
    if (processes_.size() < kMostProcesses) processes_.try_emplace(pid);
  }
  const std::set<std::uint32_t> due = Due();
  if (absl::Status looked = LookUp(due); !looked.ok()) return looked;
  const std::size_t most = kMostOfANode / std::max<std::size_t>(processes_.size(), 1);
  for (auto& [pid, process] : processes_) SampleProcess(pid, most, process, out);
  return absl::OkStatus();
}

}  // namespace fathom::agent
