#include "collector/import/nccl/job_ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace fathom::collector::nccl {
namespace {

using Process = std::pair<std::string, std::uint64_t>;

Process ProcessOf(const CommPart& part) { return {part.host, part.pid}; }

struct Comm {
  std::uint32_t size = 0;
  std::uint64_t ops = 0;
  std::set<Process> processes;
};

// Of two files that tell of the same rank of a communicator, the one that tells more.
std::vector<CommPart> WithoutRepeats(std::vector<CommPart> parts, std::vector<std::string>& notes) {
  std::map<std::tuple<std::string, std::uint32_t>, CommPart> kept;
  for (CommPart& part : parts) {
    const auto [at, first] = kept.try_emplace({part.comm, part.rank});
    if (!first) {
      if (at->second.ops.size() < part.ops.size()) std::swap(at->second, part);
      notes.push_back(absl::StrCat(part.path, ": tells again of rank ", part.rank,
                                   " of communicator ", part.comm, ", after ", at->second.path,
                                   "; left out"));
    } else {
      at->second = std::move(part);
    }
  }
  std::vector<CommPart> out;
  for (auto& [key, part] : kept) out.push_back(std::move(part));
  return out;
}

std::map<std::string, Comm> CommsOf(const std::vector<CommPart>& parts) {
  std::map<std::string, Comm> comms;
  for (const CommPart& part : parts) {
    Comm& comm = comms[part.comm];
    comm.size = std::max({comm.size, part.size, part.rank + 1});
    comm.ops += part.ops.size();
    comm.processes.insert(ProcessOf(part));
  }
  return comms;
}

absl::StatusOr<std::string> WorldOf(const std::map<std::string, Comm>& comms) {
  std::set<Process> all;
  const std::pair<const std::string, Comm>* best = nullptr;
  for (const auto& entry : comms) {
    all.insert(entry.second.processes.begin(), entry.second.processes.end());
    const auto weight = [](const auto& e) { return std::pair(e.second.size, e.second.ops); };
    if (best == nullptr || weight(entry) > weight(*best)) best = &entry;
  }
  if (best != nullptr && best->second.processes == all) return best->first;
  return absl::InvalidArgumentError(
      absl::StrCat("no communicator holds all ", all.size(),
                   " processes of these files, so which rank a process is cannot be told; name "
                   "the files of one communicator"));
}

}  // namespace

absl::StatusOr<JobRanks> RankParts(std::vector<CommPart> parts) {
  JobRanks out;
  parts = WithoutRepeats(std::move(parts), out.notes);
  const std::map<std::string, Comm> comms = CommsOf(parts);
  auto world = WorldOf(comms);
  if (!world.ok()) return world.status();
  out.world = *std::move(world);
  out.size = comms.at(out.world).size;
  std::map<Process, std::set<std::uint32_t>> ranks;
  for (const CommPart& part : parts) {
    if (part.comm == out.world) ranks[ProcessOf(part)].insert(part.rank);
  }
  std::size_t unknown = 0;
  for (CommPart& part : parts) {
    const std::set<std::uint32_t>& mine = ranks.at(ProcessOf(part));
    const bool is_world = part.comm == out.world;
    if (!is_world && mine.size() > 1) {
      ++unknown;
      continue;
    }
    const std::uint32_t rank = is_world ? part.rank : *mine.begin();
    out.parts.push_back({rank, std::move(part)});
  }
  std::stable_sort(out.parts.begin(), out.parts.end(), [&](const auto& a, const auto& b) {
    return std::tuple(a.rank, a.part.comm != out.world) <
           std::tuple(b.rank, b.part.comm != out.world);
  });
  if (unknown > 0) {
    out.notes.push_back(absl::StrCat(unknown,
                                     " traces are left out: several ranks share their "
                                     "process id, and they name no host"));
  }
  return out;
}

}  // namespace fathom::collector::nccl
