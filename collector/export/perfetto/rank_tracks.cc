#include "collector/export/perfetto/rank_tracks.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/export/perfetto/lanes.h"
#include "proto/types/collective_kind.h"

namespace fathom::collector::perfetto {
namespace {

using diagnosis::CommOp;
using diagnosis::DeviceTimeline;
using diagnosis::DeviceWork;
using diagnosis::WorkKind;

// Track ids: the rank's process, and within it room for every Lanes it may need.
constexpr std::uint64_t kRankTracks = std::uint64_t{1} << 32;

// A slice before it is one; on the rank's own clock.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string_view name;
  std::string_view prefix;  // of the name
  std::string_view category;
};

// A kernel or copy with its timeline, which holds the name.
struct Work {
  const DeviceTimeline* timeline;
  const DeviceWork* work;
  std::int64_t begin() const { return timeline->base + work->begin; }
  std::int64_t end() const { return timeline->base + work->end; }
};

std::string_view CategoryOf(WorkKind kind) {
  switch (kind) {
    case WorkKind::kCommunication:
      return "communication";
    case WorkKind::kCopy:
      return "copy";
    default:
      return "kernel";
  }
}

class RankTracks {
 public:
  RankTracks(const diagnosis::JobView& view, const std::vector<RankPart>& parts, std::size_t at,
             const Flows& flows, std::int32_t& next_thread, TraceWriter& writer)
      : view_(view),
        part_(parts[at]),
        at_(at),
        flows_(flows),
        next_thread_(next_thread),
        writer_(writer),
        process_((part_.rank.value + std::uint64_t{1}) * kRankTracks),
        pid_(static_cast<std::int32_t>(part_.rank.value % 0x3fffffff + 1)) {}

  std::uint64_t Write() {
    WriteProcess();
    WriteIterations();
    if (part_.rows != nullptr) {
      for (const CommOp& op : part_.rows->ops) last_ = std::max({last_, op.enter.ns, op.end.ns});
      WriteOps();
    }
    WriteThreads();
    WritePython();
    WriteStreams();
    return left_out_;
  }

 private:
  bool Drawn(std::int64_t begin) const { return begin < part_.until; }

  // Begin and end on the clock of the trace.
  Slice SliceOf(std::int64_t begin, std::int64_t end) const {
    Slice slice;
    slice.begin_ns = begin - part_.shift;
    slice.end_ns = std::max(begin, end) - part_.shift;
    return slice;
  }

  Track NewTrack(std::string name) {
    return {process_ + Lanes::kMostLanes * ++used_, process_, std::move(name), 0, 0};
  }
  // The first thread is the main one of the process.
  Track NewThread(std::string name, bool main) {
    Track track = NewTrack(std::move(name));
    track.process = pid_;
    track.thread = main ? pid_ : next_thread_++;
    return track;
  }

  void Finish(Lanes& lanes) {
    lanes.Finish();
    left_out_ += lanes.left_out();
  }

  void WriteProcess() {
    const bool told = part_.facts != nullptr && !part_.facts->node.empty();
    const std::string where = told ? absl::StrCat(" on ", part_.facts->node) : "";
    writer_.Add({process_, 0, absl::StrCat("rank ", part_.rank.value, where), pid_, 0});
    if (part_.left_out == 0) return;
    const std::string name =
        absl::StrCat(part_.left_out, " slices left out from here on: the limit of this trace");
    Slice slice = SliceOf(part_.until, part_.until);
    slice.name = name;
    slice.category = "left out";
    writer_.Instant(process_, slice);
  }

  void WriteIterations() {
    Lanes lanes(writer_, NewTrack("iterations"));
    for (const auto& summary : view_.window) {
      const diagnosis::RankIteration* row = RowOf(summary, part_.rank);
      if (row == nullptr || !Drawn(row->begin.ns)) continue;
      const std::string name = absl::StrCat("iteration ", summary.index.value);
      const std::int64_t end = row->begin.ns + row->duration.count;
      Slice slice = SliceOf(row->begin.ns, end);
      slice.name = name;
      slice.category = "iteration";
      lanes.Put(slice);
      last_ = std::max(last_, end);
    }
    Finish(lanes);
  }

  void WriteOps() {
    const std::vector<CommOp>& ops = part_.rows->ops;
    std::map<GroupId, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const MonoNs arrival = ops[i].arrival();
      if (arrival.known() && Drawn(arrival.ns)) groups[ops[i].group].push_back(i);
    }
    for (auto& [group, mine] : groups) {
      std::stable_sort(mine.begin(), mine.end(), [&](std::size_t a, std::size_t b) {
        const std::int64_t left = ops[a].arrival().ns, right = ops[b].arrival().ns;
        return left != right ? left < right : EndOf(ops[a]) > EndOf(ops[b]);
      });
      Lanes lanes(writer_, NewTrack(absl::StrCat("communicator ", NameOf(group))));
      for (const std::size_t i : mine) PutOp(i, lanes);
      Finish(lanes);
    }
  }

  std::int64_t EndOf(const CommOp& op) const { return op.done() ? op.end.ns : last_; }

  void PutOp(std::size_t at, Lanes& lanes) {
    const CommOp& op = part_.rows->ops[at];
    Slice slice = SliceOf(op.arrival().ns, EndOf(op));
    slice.name = CollectiveKindName(op.kind);
    slice.category = "communication";
    const Flows::Link link = flows_.Of(at_, at);
    slice.flow = link.id;
    slice.flow_ends = link.last;
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

  void Add(std::int64_t begin, std::int64_t end, const Stretch& what, std::vector<Stretch>& to) {
    if (!Drawn(begin)) return;
    to.push_back(what);
    to.back().begin = begin;
    to.back().end = end;
  }

  // What the calling threads saw, the call itself and the wait for its end, and what the training
  // thread did.
  std::map<std::uint32_t, std::vector<Stretch>> Threads() {
    std::map<std::uint32_t, std::vector<Stretch>> threads;
    if (part_.rows != nullptr) {
      for (const CommOp& op : part_.rows->ops) {
        const std::string_view kind = CollectiveKindName(op.kind);
        if (op.enter.known() && op.api_return >= op.enter) {
          const Stretch call{0, 0, kind, "call ", "call"};
          Add(op.enter.ns, op.api_return.ns, call, threads[op.thread]);
        }
        if (op.wait_start.known() && op.wait_end >= op.wait_start) {
          const Stretch wait{0, 0, kind, "wait for ", "wait"};
          Add(op.wait_start.ns, op.wait_end.ns, wait, threads[op.thread]);
        }
      }
    }
    if (part_.timelines == nullptr) return threads;
    for (const DeviceTimeline& timeline : *part_.timelines) {
      if (timeline.work.host_ops.empty()) continue;
      std::vector<Stretch>& thread = threads[timeline.thread];
      for (const diagnosis::HostOp& op : timeline.work.host_ops) {
        const Stretch one{0, 0, timeline.work.names[op.name], "", "op"};
        Add(timeline.base + op.begin, timeline.base + op.end, one, thread);
      }
    }
    return threads;
  }

  void WriteThreads() {
    const bool known = part_.timelines != nullptr && !part_.timelines->empty();
    const std::uint32_t training = known ? part_.timelines->front().thread : 0;
    auto threads = Threads();
    for (auto& [thread, stretches] : threads) {
      const bool trains = known ? thread == training : threads.size() == 1;
      const std::string name = absl::StrCat(trains ? "training thread " : "thread ", thread);
      Lanes lanes(writer_, NewThread(name, trains));
      Put(stretches, lanes);
    }
  }

  void Put(std::vector<Stretch>& stretches, Lanes& lanes) {
    std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    std::string name;
    for (const Stretch& stretch : stretches) {
      Slice slice = SliceOf(stretch.begin, stretch.end);
      name.assign(stretch.prefix).append(stretch.name);
      slice.name = name;
      slice.category = stretch.category;
      lanes.Put(slice);
    }
    Finish(lanes);
  }

  void WritePython() {
    if (part_.rows == nullptr) return;
    std::vector<Stretch> stretches;
    for (const diagnosis::Mark& mark : part_.rows->marks) {
      const bool gc = mark.kind == diagnosis::MarkKind::kGc;
      const Stretch one{0, 0, gc ? "garbage collection" : "data loading", "", "python"};
      Add(mark.begin.ns, mark.end.known() ? mark.end.ns : last_, one, stretches);
    }
    for (const diagnosis::FunctionCall& call : part_.rows->functions) {
      const Stretch one{0, 0, call.name, "", "python"};
      if (call.end >= call.begin) Add(call.begin.ns, call.end.ns, one, stretches);
    }
    Lanes lanes(writer_, NewTrack("Python"));
    Put(stretches, lanes);
  }

  std::map<std::int64_t, std::vector<Work>> Streams() const {
    std::map<std::int64_t, std::vector<Work>> streams;
    for (const DeviceTimeline& timeline : *part_.timelines) {
      for (const DeviceWork& work : timeline.work.device) {
        if (!Drawn(timeline.base + work.begin)) continue;
        streams[timeline.work.streams[work.stream]].push_back({&timeline, &work});
      }
    }
    return streams;
  }

  void WriteStreams() {
    if (part_.timelines == nullptr) return;
    auto streams = Streams();
    for (auto& [stream, works] : streams) {
      std::stable_sort(works.begin(), works.end(), [](const Work& a, const Work& b) {
        return a.begin() != b.begin() ? a.begin() < b.begin() : a.end() > b.end();
      });
      const auto communicates = std::count_if(works.begin(), works.end(), [](const Work& each) {
        return each.work->kind == WorkKind::kCommunication;
      });
      const bool most = 2 * static_cast<std::size_t>(communicates) > works.size();
      const std::string name = absl::StrCat("stream ", stream, most ? ", communication" : "");
      Lanes lanes(writer_, NewThread(name, false));
      for (const Work& each : works) {
        Slice slice = SliceOf(each.begin(), each.end());
        slice.name = each.timeline->work.names[each.work->name];
        slice.category = CategoryOf(each.work->kind);
        lanes.Put(slice);
      }
      Finish(lanes);
    }
  }

  std::string NameOf(GroupId id) const {
    for (const diagnosis::Group& group : view_.groups) {
      if (group.id != id) continue;
      return group.description.empty() ? group.name : group.description;
    }
    return absl::StrCat(absl::Hex(id.value));
  }

  const diagnosis::JobView& view_;
  const RankPart& part_;
  const std::size_t at_;
  const Flows& flows_;
  std::int32_t& next_thread_;
  TraceWriter& writer_;
  const std::uint64_t process_;
  const std::int32_t pid_;
  std::uint64_t used_ = 0;
  std::uint64_t left_out_ = 0;
  std::int64_t last_ = 0;  // ns, the last moment known
};

}  // namespace

std::uint64_t WriteRank(const diagnosis::JobView& view, const std::vector<RankPart>& parts,
                        std::size_t at, const Flows& flows, std::int32_t& next_thread,
                        TraceWriter& writer) {
  return RankTracks(view, parts, at, flows, next_thread, writer).Write();
}

}  // namespace fathom::collector::perfetto
