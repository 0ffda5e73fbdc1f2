#include "collector/import/kineto/trace/comm_joiner.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "collector/import/kineto/trace/whole_steps.h"

namespace fathom::collector::kineto {
namespace {

// Reduce-scatter is an all-reduce underneath in Gloo; the c10d names of the two all-gathers differ.
bool SameKind(CollectiveKind call, CollectiveKind run) {
  return call == run ||
         (call == CollectiveKind::kReduceScatter && run == CollectiveKind::kAllReduce);
}

// Of an all-to-all the call tells what is received, and the run what is sent.
bool SameSize(const CommEvent& call, const CommEvent& run) {
  return call.elements == run.elements || call.kind == CollectiveKind::kAllToAll;
}

// A call of a collective or message; init, wait and the like are none.
bool IsCall(const CommEvent& event) {
  return event.part == CommPart::kCall && event.kind != CollectiveKind::kUnknown;
}

// record_param_comms lies inside the c10d op, and that beside nccl's annotation: the best told
// source is used alone.
CallSource BestSource(const RankTrace& trace) {
  CallSource best = CallSource::kAnnotation;
  for (const CommEvent& event : trace.comms) {
    if (IsCall(event)) best = std::min(best, event.source);
  }
  return best;
}

// Whether a kernel that was launched for several calls can be of one of this kind.
bool CanBeOf(CollectiveKind kernel, CollectiveKind call) {
  return kernel == CollectiveKind::kUnknown || kernel == call;
}

class Joiner {
 public:
  explicit Joiner(const RankTrace& trace) : trace_(trace) {
    const CallSource source = BestSource(trace);
    for (const CommEvent& event : trace.comms) {
      if (IsCall(event) && event.source == source) joined_.ops.push_back({.call = event});
      const auto launch = event.part == CommPart::kKernel ? LaunchOf(event) : kAbsent;
      if (launch != kAbsent) launches_.push_back(launch);
    }
    std::sort(launches_.begin(), launches_.end());
  }

  JoinedOps Join() {
    ReadIds();
    for (const CommEvent& event : trace_.comms) {
      if (event.part == CommPart::kCall) continue;
      const std::size_t at = event.part == CommPart::kKernel ? CallOfKernel(event)
                             : IsPointToPoint(event.kind)    ? CallOfMessage(event)
                                                             : CallOfRun(event);
      if (at != kNone) {
        SetRun(joined_.ops[at], event);
      } else if (event.part != CommPart::kKernel || !SetRunOfSeveral(event)) {
        AddAlone(event);
      }
    }
    MergeParts();
    for (const JoinedOp& op : joined_.ops) joined_.calls_without_run += op.run_begin == kAbsent;
    std::stable_sort(
        joined_.ops.begin(), joined_.ops.end(),
        [](const JoinedOp& a, const JoinedOp& b) { return a.call.begin < b.call.begin; });
    return std::move(joined_);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  static void SetRun(JoinedOp& op, const CommEvent& run) {
    // A call can launch several kernels (coalesced ops): the op is from the first to the last.
    op.run_begin = op.run_begin == kAbsent ? run.begin : std::min(op.run_begin, run.begin);
    op.run_end = Later(op.run_end, run.end);
    op.run_thread = run.thread;
    op.on_device = run.part == CommPart::kKernel;
    if (op.call.group.empty()) op.call.group = run.group;
    if (op.call.sequence == kAbsent) op.call.sequence = run.sequence;
    if (op.call.data_type == DataType::kUnknown) op.call.data_type = run.data_type;
    if (op.call.elements == kAbsent) op.call.elements = run.elements;
  }

  void AddAlone(const CommEvent& run) {
    ++joined_.runs_without_call;
    // Its call came before the trace began, or was not recorded.
    if (run.kind == CollectiveKind::kUnknown || run.part != CommPart::kKernel) return;
    JoinedOp op{.call = run};
    SetRun(op, run);
    if (const std::int64_t launch = LaunchOf(run); launch != kAbsent) {
      op.call.begin = op.call.end = launch;
    }
    alone_.push_back(joined_.ops.size());
    joined_.ops.push_back(op);
  }

  // What has a call comes first, by the begin of these; runs alone are behind.
  std::size_t Calls() const { return joined_.ops.size() - alone_.size(); }

  // Calls that began by `time`.
  std::size_t BegunBy(std::int64_t time) const {
    const auto calls = joined_.ops.begin() + static_cast<std::ptrdiff_t>(Calls());
    const auto after =
        std::upper_bound(joined_.ops.begin(), calls, time,
                         [](std::int64_t t, const JoinedOp& op) { return t < op.call.begin; });
    return static_cast<std::size_t>(after - joined_.ops.begin());
  }

  bool Open(std::size_t i) const { return joined_.ops[i].run_begin == kAbsent; }

  // Of a cut trace, where runs of other workers are lost, their calls stay open: the run is of one
  // in the step of the latest call that it can be of. Calls of the thread that the file ends in are
  // lost, too: what runs later may be theirs.
  std::size_t CallOfRunInStep(const CommEvent& run) const {
    std::size_t found = kNone;
    std::ptrdiff_t step = 0;
    for (std::size_t i = BegunBy(run.begin); i-- > 0;) {
      const CommEvent& call = joined_.ops[i].call;
      if (!Open(i)) continue;
      if (found != kNone && StepAt(trace_, call.begin) != step) break;
      if (!SameKind(call.kind, run.kind) || !SameSize(call, run)) continue;
      if (call.thread == trace_.last_thread && run.begin > trace_.last_begin) continue;
      if (found == kNone) step = StepAt(trace_, call.begin);
      found = i;
    }
    return found;
  }

  std::size_t CallOfRun(const CommEvent& run) {
    if (trace_.cut) return CallOfRunInStep(run);
    while (first_open_ < joined_.ops.size() && !Open(first_open_)) ++first_open_;
    std::size_t loose = kNone;
    for (std::size_t i = first_open_; i < joined_.ops.size(); ++i) {
      const CommEvent& call = joined_.ops[i].call;
      if (call.begin > run.begin) break;
      if (!Open(i) || !SameKind(call.kind, run.kind)) continue;
      if (SameSize(call, run)) return i;
      if (loose == kNone && call.kind != CollectiveKind::kAllReduce) loose = i;
    }
    return loose;
  }

  std::size_t CallOfMessage(const CommEvent& run) const {
    for (std::size_t i = BegunBy(run.begin); i-- > 0;) {
      const CommEvent& call = joined_.ops[i].call;
      if (call.kind == run.kind && call.thread == run.thread) return Open(i) ? i : kNone;
    }
    return kNone;
  }

  void ReadIds() {
    for (std::size_t i = 0; i < joined_.ops.size(); ++i) {
      const CommEvent& call = joined_.ops[i].call;
      if (call.external_id != kAbsent) by_external_id_.emplace(call.external_id, i);
    }
    std::size_t named = 0, wrong = 0;
    for (const CommEvent& event : trace_.comms) {
      const std::size_t call = event.part == CommPart::kKernel ? CallById(event) : kNone;
      if (call == kNone) continue;
      ++named;
      if (!MayBeOf(event, joined_.ops[call].call)) ++wrong;
    }
    if (static_cast<double>(wrong) > kMostWrongIds * static_cast<double>(named)) {
      by_external_id_.clear();
    }
  }

  std::size_t CallById(const CommEvent& kernel) const {
    if (kernel.external_id == kAbsent) return kNone;
    // Of a launch that is known by this id it is the id, and not that of an op.
    if (kernel.external_id == kernel.correlation && LaunchOf(kernel) != kAbsent) return kNone;
    const auto at = by_external_id_.find(kernel.external_id);
    return at == by_external_id_.end() ? kNone : at->second;
  }

  bool MayBeOf(const CommEvent& kernel, const CommEvent& call) const {
    const std::int64_t launch = LaunchOf(kernel);
    if (launch == kAbsent) return call.begin <= kernel.begin + kDeviceClock;
    // Of several ops in a group the launch comes after the last of them.
    return call.begin <= launch && (launch <= call.end || CallAround(launch) == kNone);
  }

  std::size_t CallOfKernel(const CommEvent& kernel) const {
    const std::size_t named = CallById(kernel);
    if (named != kNone && MayBeOf(kernel, joined_.ops[named].call)) return named;
    const std::int64_t launch = LaunchOf(kernel);
    return launch == kAbsent ? kNone : CallAround(launch);
  }

  std::int64_t LaunchOf(const CommEvent& kernel) const {
    if (kernel.correlation == kAbsent) return kAbsent;
    const auto launch = trace_.launches.find(kernel.correlation);
    return launch == trace_.launches.end() ? kAbsent : launch->second.begin;
  }

  // A kernel launched at the end of a group of calls: the run of all of them.
  bool SetRunOfSeveral(const CommEvent& kernel) {
    const std::int64_t launch = LaunchOf(kernel);
    if (launch == kAbsent) return false;
    const auto before = std::lower_bound(launches_.begin(), launches_.end(), launch);
    const bool first = before == launches_.begin();
    bool any = false;
    const std::size_t begun = BegunBy(launch);
    for (std::size_t i = 0; i < begun; ++i) {
      JoinedOp& op = joined_.ops[i];
      if (!Open(i) || !CanBeOf(kernel.kind, op.call.kind)) continue;
      if (!first && op.call.begin <= *(before - 1)) continue;
      SetRun(op, kernel);
      any = true;
    }
    return any;
  }

  // Ops of one group are called one after the other; the same sequence again is a part of the same.
  void MergeParts() {
    std::map<std::pair<std::string, std::int64_t>, std::size_t> whole;
    std::vector<JoinedOp> kept;
    for (JoinedOp& op : joined_.ops) {
      const bool told = !op.call.group.empty() && op.call.sequence != kAbsent;
      if (told && !IsPointToPoint(op.call.kind)) {
        const auto [at, fresh] = whole.try_emplace({op.call.group, op.call.sequence}, kept.size());
        if (!fresh) {
          Merge(kept[at->second], op);
          continue;
        }
      }
      kept.push_back(std::move(op));
    }
    joined_.ops = std::move(kept);
  }

  static void Merge(JoinedOp& whole, const JoinedOp& part) {
    whole.call.end = std::max(whole.call.end, part.call.end);
    if (part.call.elements > 0) {
      whole.call.elements = std::max<std::int64_t>(whole.call.elements, 0) + part.call.elements;
    }
    if (part.run_begin == kAbsent) return;
    const bool first = whole.run_begin == kAbsent;
    whole.run_begin = first ? part.run_begin : std::min(whole.run_begin, part.run_begin);
    whole.run_end = Later(whole.run_end, part.run_end);
    whole.run_thread = part.run_thread;
    whole.on_device = part.on_device;
  }

  // The call with the latest begin that spans `time`.
  std::size_t CallAround(std::int64_t time) const {
    const std::size_t begun = BegunBy(time);
    return begun > 0 && joined_.ops[begun - 1].call.end >= time ? begun - 1 : kNone;
  }

  const RankTrace& trace_;
  JoinedOps joined_;
  std::unordered_map<std::int64_t, std::size_t> by_external_id_;
  std::vector<std::size_t> alone_;
  std::vector<std::int64_t> launches_;  // of communication kernels, sorted
  std::size_t first_open_ = 0;
};

// The gaps of the training thread between `begin` and `end`, by time.
std::vector<Stretch> Gaps(const IntervalSet& busy, std::int64_t begin, std::int64_t end) {
  std::vector<Stretch> gaps;
  std::int64_t free_since = begin;
  for (const Stretch& stretch : busy.stretches()) {
    if (stretch.begin - free_since >= kShortestGap) gaps.push_back({free_since, stretch.begin});
    free_since = std::max(free_since, stretch.end);
  }
  if (end - free_since >= kShortestGap) gaps.push_back({free_since, end});
  return gaps;
}

// An isend or irecv: its run ends when the job has waited for it. When the data had gone, nobody
// knows.
bool IsDetached(const JoinedOp& op, const IntervalSet& busy) {
  return busy.Covered(op.call.end, op.run_end) > 0;
}

// When the training thread last did something before `time`.
std::int64_t IdleSince(const IntervalSet& busy, std::int64_t time) {
  const auto& all = busy.stretches();
  const auto after = std::partition_point(
      all.begin(), all.end(), [&](const Stretch& stretch) { return stretch.begin < time; });
  return after == all.begin() ? kAbsent : std::min((after - 1)->end, time);
}

void SortByEnd(std::vector<JoinedOp*>& ops) {
  std::sort(ops.begin(), ops.end(),
            [](const JoinedOp* a, const JoinedOp* b) { return a->run_end < b->run_end; });
}

// The thread waits for such messages one after the other, at the end of what it did meanwhile: from
// its last op, message or wait on. A thread that sleeps there looks as if it waited.
void SetDetachedWaits(std::vector<JoinedOp*>& messages, const IntervalSet& busy,
                      std::vector<std::int64_t> message_ends) {
  std::sort(message_ends.begin(), message_ends.end());
  SortByEnd(messages);
  std::int64_t waited_until = kAbsent;
  for (JoinedOp* op : messages) {
    std::int64_t since = std::max({op->call.end, waited_until, IdleSince(busy, op->run_end)});
    const auto later = std::upper_bound(message_ends.begin(), message_ends.end(), op->run_end);
    if (later != message_ends.begin()) since = std::max(since, *(later - 1));
    if (since < op->run_end) {
      op->wait_begin = since;
      op->wait_end = op->run_end;
    }
    waited_until = op->run_end;
    if (op->call.kind == CollectiveKind::kSend) op->run_end = kAbsent;
  }
}

// What a synchronous call is followed by: nothing, until the run has ended.
bool SetWaitAfterCall(JoinedOp& op, const std::vector<std::int64_t>& begins) {
  if (op.call.asynchronous || op.run_end <= op.call.end) return false;
  const auto next = std::lower_bound(begins.begin(), begins.end(), op.call.end);
  const std::int64_t free_until = next == begins.end() ? op.run_end : *next;
  if (free_until + kLateEnd < op.run_end) return false;
  op.wait_begin = op.call.end;
  op.wait_end = std::min(op.run_end, free_until);
  return true;
}

// The waiter went on, and the worker that woke it had no core for what it had left to do.
bool EndedLate(const JoinedOp& op, const Stretch& gap) {
  const std::int64_t late = op.run_end - gap.end;
  return op.call.begin <= gap.begin && op.run_begin < gap.end &&
         late <= std::min(kLostCore, (gap.end - gap.begin) / 4);
}

// Collectives in flight at some time of the gap that end in it, by end.
void SetWaits(std::vector<JoinedOp*>& by_end, const std::vector<Stretch>& gaps) {
  auto op = by_end.begin();
  for (const Stretch& gap : gaps) {
    while (op != by_end.end() && (*op)->run_end <= gap.begin) ++op;
    std::int64_t waiting_since = gap.begin;
    for (; op != by_end.end() && (*op)->run_end <= gap.end + kLateEnd; ++op) {
      if ((*op)->call.begin > gap.begin) continue;
      (*op)->wait_begin = waiting_since;
      (*op)->wait_end = waiting_since = std::min((*op)->run_end, gap.end);
    }
    if (waiting_since == gap.begin && op != by_end.end() && EndedLate(**op, gap)) {
      (*op)->wait_begin = gap.begin;
      (*op)->wait_end = (*op)->run_end = gap.end;
      ++op;
    }
  }
}

// Cuts an exposed stretch at the ends of the ops that end in it.
void CutAtEnds(const Stretch& exposed, const JoinedOps& joined,
               const std::vector<std::size_t>& by_end, std::vector<DeviceStretch>& waits) {
  std::int64_t at = exposed.begin;
  auto op = std::partition_point(by_end.begin(), by_end.end(), [&](std::size_t i) {
    return joined.ops[i].run_end <= exposed.begin;
  });
  for (; op != by_end.end() && joined.ops[*op].run_end <= exposed.end; ++op) {
    const std::int64_t end = joined.ops[*op].run_end;
    if (end > at) waits.push_back({at, end, *op});
    at = end;
  }
  if (exposed.end > at) waits.push_back({at, exposed.end, DeviceStretch::kNone});
}

}  // namespace

std::vector<DeviceStretch> DeviceWaits(const JoinedOps& joined, const IntervalSet& device_busy) {
  IntervalSet communication;
  std::vector<std::size_t> by_end;
  for (std::size_t i = 0; i < joined.ops.size(); ++i) {
    const JoinedOp& op = joined.ops[i];
    if (!op.on_device || op.run_begin == kAbsent) continue;
    communication.Add(op.run_begin, op.run_end);
    by_end.push_back(i);
  }
  communication.Seal();
  // Of a send and a receive in one kernel the receive is what was waited for.
  std::stable_sort(by_end.begin(), by_end.end(), [&](std::size_t a, std::size_t b) {
    const JoinedOp& x = joined.ops[a];
    const JoinedOp& y = joined.ops[b];
    if (x.run_end != y.run_end) return x.run_end < y.run_end;
    return x.call.kind == CollectiveKind::kRecv && y.call.kind != CollectiveKind::kRecv;
  });
  std::vector<DeviceStretch> waits;
  const IntervalSet exposed = communication.Without(device_busy);
  for (const Stretch& stretch : exposed.stretches()) CutAtEnds(stretch, joined, by_end, waits);
  return waits;
}

std::int64_t TrainingThread(const RankTrace& trace) {
  std::map<std::int64_t, std::size_t> marks;
  for (const StepMark& step : trace.steps) ++marks[step.thread];
  const auto most = std::max_element(
      marks.begin(), marks.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != marks.end()) return most->first;
  std::int64_t thread = kAbsent;
  std::int64_t busiest = -1;
  for (const auto& [candidate, ops] : trace.ops_by_thread) {
    const std::int64_t covered = ops.busy.Covered(trace.first, trace.last);
    if (covered > busiest) busiest = covered, thread = candidate;
  }
  return thread;
}

JoinedOps JoinComms(const RankTrace& trace, std::int64_t training_thread) {
  JoinedOps joined = Joiner(trace).Join();
  static const ThreadOps kNothing;
  const auto found = trace.ops_by_thread.find(training_thread);
  const ThreadOps& ops = found == trace.ops_by_thread.end() ? kNothing : found->second;
  std::vector<JoinedOp*> by_end, detached;
  std::vector<std::int64_t> message_ends;
  for (JoinedOp& op : joined.ops) {
    if (op.run_begin == kAbsent || op.on_device || op.call.thread != training_thread) continue;
    if (IsPointToPoint(op.call.kind)) {
      if (IsDetached(op, ops.busy)) {
        detached.push_back(&op);
        continue;
      }
      op.wait_begin = op.run_begin;
      message_ends.push_back(op.wait_end = op.run_end);
    } else if (!SetWaitAfterCall(op, ops.begins)) {
      by_end.push_back(&op);
    }
  }
  SortByEnd(by_end);
  SetWaits(by_end, Gaps(ops.busy, trace.first, trace.last));
  SetDetachedWaits(detached, ops.busy, std::move(message_ends));
  return joined;
}

}  // namespace fathom::collector::kineto
