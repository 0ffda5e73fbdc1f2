#include "collector/export/perfetto/job_trace.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/export/perfetto/trace_writer.h"
#include "proto/types/collective_kind.h"

namespace fathom::collector {
namespace {

using diagnosis::CommOp;
using diagnosis::JobView;
using perfetto::Lanes;
using perfetto::Slice;
using perfetto::TraceWriter;

// Track ids: the rank's process, and within it room for every Lanes it may need.
constexpr std::uint64_t kVerdictTrack = 1;
constexpr std::uint64_t kRankTracks = std::uint64_t{1} << 32;
std::uint64_t ProcessTrack(RankId rank) { return (rank.value + std::uint64_t{1}) * kRankTracks; }

// The same for all members of one collective, 0 for a message.
std::uint64_t FlowOf(const CommOp& op) {
  if (op.sequence == kNoSequence) return 0;
  std::uint64_t hash = op.group.value ^ (op.sequence.value * 0x9e3779b97f4a7c15);
  hash = (hash ^ (hash >> 31)) * 0xbf58476d1ce4e5b9;
  return (hash ^ (hash >> 29)) | 1;
}

class RankTracks {
 public:
  RankTracks(const JobView& view, RankId rank, TraceWriter& writer)
      : view_(view), rank_(rank), writer_(writer), process_(ProcessTrack(rank)) {}

  void Write() {
    WriteProcess();
    WriteIterations();
    const auto rows = view_.rows.find(rank_);
    if (rows == view_.rows.end()) return;
    for (const CommOp& op : rows->second.ops) last_ = std::max({last_, op.enter.ns, op.end.ns});
    WriteOps(rows->second.ops);
    WriteCalls(rows->second.ops);
    WritePython(rows->second);
  }

 private:
  std::uint64_t NextBase() { return process_ + Lanes::kMostLanes * ++used_; }

  void WriteProcess() {
    const auto facts =
        std::find_if(view_.ranks.begin(), view_.ranks.end(),
                     [this](const diagnosis::RankFacts& each) { return each.rank == rank_; });
    const std::string node = facts == view_.ranks.end() ? "" : facts->node;
    const std::string where = node.empty() ? "" : absl::StrCat(" on ", node);
    writer_.Add({.id = process_,
                 .parent = 0,
                 .name = absl::StrCat("rank ", rank_.value, where),
                 .process = static_cast<std::int32_t>(rank_.value % 0x7fffffff + 1)});
  }

  void WriteIterations() {
    Lanes lanes(writer_, NextBase(), process_, "iterations");
    for (const auto& summary : view_.window) {
      const auto row = std::lower_bound(
          summary.ranks.begin(), summary.ranks.end(), rank_,
          [](const diagnosis::RankIteration& each, RankId rank) { return each.rank < rank; });
      if (row == summary.ranks.end() || row->rank != rank_ || !row->begin.known()) continue;
      const std::string name = absl::StrCat("iteration ", summary.index.value);
      lanes.Put({name, "iteration", row->begin.ns, row->begin.ns + row->duration.count, 0, {}});
      last_ = std::max(last_, row->begin.ns + row->duration.count);
    }
    lanes.Finish();
  }

  void WriteOps(const std::vector<CommOp>& ops) {
    std::map<GroupId, std::vector<const CommOp*>> groups;
    for (const CommOp& op : ops) groups[op.group].push_back(&op);
    for (auto& [group, mine] : groups) {
      std::stable_sort(mine.begin(), mine.end(), [](const CommOp* a, const CommOp* b) {
        return a->arrival() < b->arrival();
      });
      Lanes lanes(writer_, NextBase(), process_, absl::StrCat("communicator ", NameOf(group)));
      for (const CommOp* op : mine) PutOp(*op, lanes);
      lanes.Finish();
    }
  }

  void PutOp(const CommOp& op, Lanes& lanes) {
    if (!op.arrival().known()) return;
    Slice slice;
    slice.name = CollectiveKindName(op.kind);
    slice.category = "communication";
    slice.begin_ns = op.arrival().ns;
    slice.end_ns = std::max(op.done() ? op.end.ns : last_, slice.begin_ns);
    slice.flow = FlowOf(op);
    slice.notes = {{"bytes", absl::StrCat(op.bytes)}};
    if (op.sequence != kNoSequence) {
      slice.notes.emplace_back("sequence", absl::StrCat(op.sequence.value));
    }
    if (op.peer != kNoRank) slice.notes.emplace_back("peer", absl::StrCat(op.peer.value));
    if (op.iteration.value >= 0) {
      slice.notes.emplace_back("iteration", absl::StrCat(op.iteration.value));
    }
    if (!op.done()) slice.notes.emplace_back("state", "in flight");
    if (op.failed) slice.notes.emplace_back("state", "failed");
    lanes.Put(slice);
  }

  // What the calling threads saw: the call itself, and the wait for its end.
  void WriteCalls(const std::vector<CommOp>& ops) {
    struct Stretch {
      std::int64_t begin, end;
      const CommOp* op;
      bool wait;
    };
    std::map<std::uint32_t, std::vector<Stretch>> threads;
    for (const CommOp& op : ops) {
      auto& stretches = threads[op.thread];
      if (op.enter.known() && op.api_return >= op.enter) {
        stretches.push_back({op.enter.ns, op.api_return.ns, &op, false});
      }
      if (op.wait_start.known() && op.wait_end >= op.wait_start) {
        stretches.push_back({op.wait_start.ns, op.wait_end.ns, &op, true});
      }
    }
    for (auto& [thread, stretches] : threads) {
      std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
      });
      if (stretches.empty()) continue;
      Lanes lanes(writer_, NextBase(), process_, absl::StrCat("calls of thread ", thread));
      for (const Stretch& s : stretches) {
        const std::string name = absl::StrCat(s.wait ? "wait for " : "call ",
                                              std::string(CollectiveKindName(s.op->kind)));
        lanes.Put({name, s.wait ? "wait" : "call", s.begin, s.end, 0, {}});
      }
      lanes.Finish();
    }
  }

  void WritePython(const diagnosis::RankRows& rows) {
    struct Stretch {
      std::int64_t begin, end;
      std::string_view name;
    };
    std::vector<Stretch> stretches;
    for (const diagnosis::Mark& mark : rows.marks) {
      const bool gc = mark.kind == diagnosis::MarkKind::kGc;
      const std::int64_t end = mark.end.known() ? mark.end.ns : std::max(last_, mark.begin.ns);
      stretches.push_back({mark.begin.ns, end, gc ? "garbage collection" : "data loading"});
    }
    for (const diagnosis::FunctionCall& call : rows.functions) {
      if (call.end >= call.begin) stretches.push_back({call.begin.ns, call.end.ns, call.name});
    }
    std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    Lanes lanes(writer_, NextBase(), process_, "Python");
    for (const Stretch& s : stretches) lanes.Put({s.name, "python", s.begin, s.end, 0, {}});
    lanes.Finish();
  }

  std::string NameOf(GroupId id) const {
    for (const diagnosis::Group& group : view_.groups) {
      if (group.id != id) continue;
      return group.description.empty() ? group.name : group.description;
    }
    return absl::StrCat(absl::Hex(id.value));
  }

  const JobView& view_;
  const RankId rank_;
  TraceWriter& writer_;
  const std::uint64_t process_;
  std::uint64_t used_ = 0;
  std::int64_t last_ = 0;  // ns, the last moment known
};

// The first and the last moment of an iteration on the view's clock; 0, 0 where it is not there.
std::pair<std::int64_t, std::int64_t> SpanFrom(const JobView& view, Iteration onset) {
  std::int64_t first = 0, last = 0;
  for (const auto& summary : view.window) {
    for (const auto& row : summary.ranks) {
      last = std::max(last, row.begin.ns + row.duration.count);
      if (summary.index < onset || !row.begin.known()) continue;
      first = first == 0 ? row.begin.ns : std::min(first, row.begin.ns);
    }
  }
  return {first, last};
}

void WriteVerdicts(const JobView& view, const std::vector<Episode>& verdicts, TraceWriter& writer) {
  writer.Add({.id = kVerdictTrack, .parent = 0, .name = "fathom's verdicts"});
  for (const Episode& episode : verdicts) {
    if (episode.superseded) continue;
    const diagnosis::Verdict& verdict = episode.verdict;
    const auto [first, last] = SpanFrom(view, verdict.since_iteration);
    Slice slice{verdict.sentence,
                "verdict",
                first != 0 ? first : verdict.since_time.ns,
                last,
                0,
                {{"grade", std::string(ToString(verdict.grade))},
                 {"cause", std::string(ToString(verdict.cause))}}};
    if (slice.begin_ns <= 0) slice.begin_ns = last;
    for (const diagnosis::Evidence& evidence : verdict.evidence) {
      slice.notes.emplace_back("evidence", evidence.statement);
    }
    writer.Instant(kVerdictTrack, slice);
  }
}

absl::Status WriteAll(const JobView& view, const std::vector<Episode>& verdicts,
                      TraceWriter& writer) {
  WriteVerdicts(view, verdicts, writer);
  std::set<RankId> ranks;
  for (const auto& facts : view.ranks) ranks.insert(facts.rank);
  for (const auto& [rank, rows] : view.rows) ranks.insert(rank);
  for (const RankId rank : ranks) RankTracks(view, rank, writer).Write();
  return writer.Close();
}

}  // namespace

absl::Status WritePerfetto(const JobView& view, const std::vector<Episode>& verdicts,
                           const std::string& path) {
  const auto writer = TraceWriter::Create(path);
  return writer.ok() ? WriteAll(view, verdicts, **writer) : writer.status();
}

absl::StatusOr<std::string> PerfettoBytes(const JobView& view,
                                          const std::vector<Episode>& verdicts) {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&bytes, &size);
  if (stream == nullptr) return absl::ResourceExhaustedError("no memory for the trace");
  const absl::Status status =
      WriteAll(view, verdicts, *TraceWriter::Into(stream, "trace in memory"));
  const std::unique_ptr<char, decltype(&std::free)> owner(bytes, &std::free);
  if (!status.ok()) return status;
  return std::string(bytes, size);
}

}  // namespace fathom::collector
