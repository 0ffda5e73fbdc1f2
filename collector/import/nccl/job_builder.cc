#include "collector/import/nccl/job_builder.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/import/nccl/job_ranks.h"
#include "collector/import/nccl/job_steps.h"
#include "collector/import/nccl/op_tables.h"
#include "collector/import/reading/op_summaries.h"

namespace fathom::collector::nccl {
namespace {

using diagnosis::CommOp;
using Level = diagnosis::SignalState::Level;
using Process = std::pair<std::string, std::uint64_t>;

// Of each process, its clock less that of its device; the ops that know both.
std::map<Process, std::int64_t> DeviceClocks(const JobRanks& job) {
  std::map<Process, std::int64_t> clocks;
  for (const RankedPart& ranked : job.parts) {
    for (const OpRecord& op : ranked.part.ops) {
      if (op.gpu_end_ns == 0 || op.end_ns == 0) continue;
      const std::int64_t distance = op.end_ns - op.gpu_end_ns;
      const auto [at, first] = clocks.try_emplace({ranked.part.host, ranked.part.pid}, distance);
      if (!first) at->second = std::min(at->second, distance);
    }
  }
  return clocks;
}

// A process with two devices has two device clocks, which no file tells apart: these are alike to
// less than a kernel's length (both count ns since 1970), so nothing is lost.
void UseDeviceTimes(const std::map<Process, std::int64_t>& clocks, RankedPart& ranked) {
  const auto clock = clocks.find({ranked.part.host, ranked.part.pid});
  if (clock == clocks.end()) return;
  for (OpRecord& op : ranked.part.ops) {
    if (op.gpu_end_ns == 0) continue;
    op.start_ns = std::max<std::int64_t>(1, op.gpu_begin_ns + clock->second);
    op.end_ns = std::max(op.start_ns, op.gpu_end_ns + clock->second);
  }
}

struct Members {
  std::uint32_t size = 0;
  std::map<std::uint32_t, std::uint32_t> rank_of;  // number in the communicator → rank of the job
};

std::map<std::string, Members> MembersOf(const JobRanks& job) {
  std::map<std::string, Members> out;
  for (const RankedPart& ranked : job.parts) {
    Members& comm = out[ranked.part.comm];
    comm.size = std::max({comm.size, ranked.part.size, ranked.part.rank + 1});
    comm.rank_of[ranked.part.rank] = ranked.rank;
  }
  for (std::uint32_t rank = 0; rank < job.size; ++rank) out[job.world].rank_of[rank] = rank;
  return out;
}

void AddGroups(const JobRanks& job, const std::map<std::string, Members>& members,
               Recording& recording) {
  for (const auto& [comm, known] : members) {
    diagnosis::Group& group = GroupOf(recording, comm);
    group.size = known.size;
    if (known.rank_of.size() < known.size) continue;  // some member wrote no file
    group.members.clear();
    for (const auto& [number, rank] : known.rank_of) group.members.emplace_back(rank);
  }
  for (const RankedPart& ranked : job.parts) {
    diagnosis::Group& group = GroupOf(recording, ranked.part.comm);
    if (group.description.empty()) group.description = ranked.part.name;
  }
}

// NCCL counts each function of a communicator by itself.
Sequence SequenceOf(const OpRecord& op) {
  if (IsPointToPoint(op.kind) || op.number < 0) return kNoSequence;
  return Sequence(static_cast<std::uint64_t>(op.number) * kCollectiveKindCount +
                  static_cast<std::uint64_t>(op.kind));
}

CommOp ToCommOp(const OpRecord& from, const RankedPart& ranked, const Members& members) {
  CommOp op;
  op.group = GroupIdOfName(ranked.part.comm);
  op.sequence = SequenceOf(from);
  op.kind = from.kind;
  op.bytes = from.bytes;
  const auto peer = members.rank_of.find(static_cast<std::uint32_t>(from.peer));
  if (from.peer >= 0 && peer != members.rank_of.end()) op.peer = RankId(peer->second);
  op.enter = op.exec_start = MonoNs(from.start_ns);
  op.end = MonoNs(from.end_ns);
  op.on_device = true;
  return op;
}

struct Counts {
  std::set<std::uint32_t> ranks;
  std::set<std::uint32_t> timed_ranks;
  std::set<std::string> hosts;
  std::uint64_t ops = 0;
  std::uint64_t timed = 0;
  std::uint64_t dropped = 0;
};

void AddRows(const RankedPart& ranked, const Members& members, Counts& counts,
             Recording& recording) {
  diagnosis::RankFacts& facts = FactsOf(recording, RankId(ranked.rank));
  if (facts.node.empty()) facts.node = ranked.part.host;
  if (facts.pid == 0) facts.pid = static_cast<std::uint32_t>(ranked.part.pid);
  counts.ranks.insert(ranked.rank);
  TellRank(ranked.part.path, ranked.rank, recording);
  if (!ranked.part.host.empty()) counts.hosts.insert(ranked.part.host);
  counts.dropped += ranked.part.dropped;
  counts.ops += ranked.part.ops.size();
  for (const OpRecord& op : ranked.part.ops) {
    if (!op.timed()) continue;
    ++counts.timed;
    counts.timed_ranks.insert(ranked.rank);
    recording.view.rows[RankId(ranked.rank)].ops.push_back(ToCommOp(op, ranked, members));
  }
}

void SortRows(diagnosis::JobView& view) {
  for (auto& [rank, rows] : view.rows) {
    std::stable_sort(rows.ops.begin(), rows.ops.end(),
                     [](const CommOp& a, const CommOp& b) { return a.enter < b.enter; });
    if (!rows.ops.empty()) view.now = std::max(view.now, WallNs(rows.ops.back().end.ns));
  }
}

Level LevelOf(std::uint64_t have, std::uint64_t of) {
  return have == 0 ? Level::kOff : have < of ? Level::kPartly : Level::kOn;
}

void AddSignals(const JobRanks& job, const Counts& counts, std::string_view how_to_time,
                Recording& recording) {
  auto& signals = recording.view.signals;
  const auto& window = recording.view.window;
  const std::string set = absl::StrCat(" (", std::string(how_to_time), ")");
  signals.push_back({"ranks", LevelOf(counts.ranks.size(), job.size),
                     "whatever happens on ranks without a file"});
  signals.push_back({"communication_ops", LevelOf(counts.timed_ranks.size(), job.size),
                     counts.timed == 0 ? absl::StrCat("who came late to an op, and when", set)
                                       : "who came late to an op"});
  signals.push_back({"summaries", window.empty() ? Level::kOff : Level::kOn,
                     absl::StrCat("iterations, and whether the job is slow",
                                  counts.timed == 0 ? set : std::string())});
  signals.push_back({"communicators", Level::kOn, "who waits for whom"});
  signals.push_back({"process_health", Level::kOff, "stopped, dead and starved processes"});
  signals.push_back({"python_marks", Level::kOff, "garbage collection and data loading as causes"});
  signals.push_back(
      {"gpu_times", Level::kPartly,
       "what a rank did between collectives: slow kernels and a slow host look alike"});
}

void AddNotes(const JobRanks& job, const Counts& counts, std::string_view how_to_time,
              Recording& recording) {
  auto& notes = recording.notes;
  notes.insert(notes.end(), job.notes.begin(), job.notes.end());
  notes.push_back(absl::StrCat("ranks are those of communicator ", job.world, " of ", job.size,
                               " members: NCCL numbers ranks within communicators only"));
  if (counts.dropped > 0) {
    notes.push_back(absl::StrCat(counts.dropped, " ops were lost before they were written"));
  }
  if (counts.timed < counts.ops) {
    notes.push_back(absl::StrCat(counts.ops - counts.timed, " of ", counts.ops,
                                 " ops have no times of their kernels and count in the tables "
                                 "alone; ",
                                 std::string(how_to_time)));
  }
  recording.ranks_missing.clear();
  for (std::uint32_t rank = 0; rank < job.size; ++rank) {
    if (!counts.ranks.contains(rank)) recording.ranks_missing.emplace_back(rank);
  }
}

}  // namespace

absl::Status BuildJob(std::vector<CommPart> parts, std::string_view how_to_time,
                      Recording& recording) {
  auto job = RankParts(std::move(parts));
  if (!job.ok()) return job.status();
  const auto clocks = DeviceClocks(*job);
  const auto members = MembersOf(*job);
  recording.view.world_size = std::max(recording.view.world_size, job->size);
  recording.sizes.push_back({"nccl", job->parts.front().part.path, job->size, false});
  AddGroups(*job, members, recording);
  Counts counts;
  for (RankedPart& ranked : job->parts) {
    UseDeviceTimes(clocks, ranked);
    AddRows(ranked, members.at(ranked.part.comm), counts, recording);
  }
  recording.view.nodes =
      std::max(recording.view.nodes, static_cast<std::uint32_t>(counts.hosts.size()));
  SortRows(recording.view);
  AddIterations(GroupIdOfName(job->world), recording);
  SummariseOps(recording.view);
  AddTables(job->parts, recording);
  AddNotes(*job, counts, how_to_time, recording);
  AddSignals(*job, counts, how_to_time, recording);
  return absl::OkStatus();
}

}  // namespace fathom::collector::nccl
