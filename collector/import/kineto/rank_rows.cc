#include "collector/import/kineto/rank_rows.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "collector/import/kineto/group_names.h"
#include "collector/import/kineto/trace/names.h"
#include "collector/import/kineto/trace/whole_steps.h"
#include "collector/import/reading/recording.h"

namespace fathom::collector::kineto {
namespace {

using diagnosis::CommOp;
using diagnosis::Mark;

// Room for the ops of one iteration in a made-up sequence.
constexpr std::uint64_t kOpsPerIteration = std::uint64_t{1} << 20;
// Where a trace without a base begins at 0, which means "not known" in the view.
constexpr std::int64_t kOwnBase = 1'000'000'000;
// Between two kernels; what is shorter is not worth a row.
constexpr std::int64_t kShortestDeviceWait = 5'000;

struct StepSpan {
  std::int64_t number = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

std::vector<StepSpan> Spans(const RankTrace& trace) {
  std::vector<StepSpan> spans;
  for (const StepMark& step : trace.steps) {
    if (!spans.empty() && step.number == spans.back().number) continue;  // marked twice
    if (!spans.empty() && step.number == spans.back().number + 1) spans.back().end = step.begin;
    spans.push_back({step.number, step.begin, step.end});
  }
  return spans;
}

template <typename Event>
void MoveInto(std::vector<Event>& from, std::vector<Event>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

class RankReader {
 public:
  explicit RankReader(const RankTrace& trace)
      : trace_(trace), training_thread_(TrainingThread(trace)), spans_(Spans(trace)) {}

  RankIterations Read() {
    JoinedOps joined = JoinComms(trace_, training_thread_);
    ChooseClock(joined);
    const bool named = NameGroups(trace_, joined);
    out_.guessed_groups = named && trace_.groups.size() != 1;
    in_part_ = StepsInPart(trace_, joined, training_thread_);
    out_.steps_in_part = in_part_.size();
    out_.calls_without_run = joined.calls_without_run;
    out_.runs_without_call = joined.runs_without_call;
    SetBusy(joined);
    AnchorIterations(joined);
    AddIterations();
    for (const JoinedOp& op : joined.ops) AddOp(op);
    if (device_clock_) {
      AddDeviceWaits(joined);
    } else {
      AddHostWaits(joined);
    }
    MakeTables(joined);
    for (const MarkEvent& mark : trace_.marks) AddMark(mark);
    for (const PythonCall& call : trace_.python) AddFunction(call);
    AddMarkTimes();
    out_.busy = Nanos(busy_.Covered());
    out_.device = Nanos(trace_.device_busy.Covered());
    return std::move(out_);
  }

 private:
  void MakeTables(const JoinedOps& joined) {
    if (trace_.tables.on_device) {
      out_.tables = trace_.tables;
    } else {
      out_.tables = diagnosis::TablesOfHost(trace_.work, HostTimeOf(joined));
    }
    out_.tables.rank = RankId(trace_.rank);
  }

  diagnosis::HostTime HostTimeOf(const JoinedOps& joined) const {
    IntervalSet waits, flights;
    for (const JoinedOp& op : joined.ops) {
      if (op.wait_end != kAbsent) waits.Add(op.wait_begin, op.wait_end);
      flights.Add(op.call.begin, std::max(op.left(), op.wait_end));
    }
    waits.Seal();
    flights.Seal();
    const std::vector<Stretch> spans = JudgedSpans();
    const auto seconds = [&](const IntervalSet& set) {
      std::int64_t covered = 0;
      for (const Stretch& span : spans) covered += set.Covered(span.begin, span.end);
      return static_cast<double>(covered) * 1e-9;
    };
    std::int64_t length = 0;
    for (const Stretch& span : spans) length += span.end - span.begin;
    const double in_flight = seconds(flights);
    return {static_cast<double>(length) * 1e-9, seconds(busy_), seconds(waits), in_flight,
            in_flight - seconds(flights.Without(busy_))};
  }

  // The time that is known: from the first iteration to the last, or where some are lost, those
  // that are not.
  std::vector<Stretch> JudgedSpans() const {
    if (iterations_.empty()) return {{trace_.first, trace_.last}};
    if (in_part_.empty()) return {{iterations_.front().begin, iterations_.back().end}};
    std::vector<Stretch> spans;
    for (const StepSpan& span : iterations_) {
      if (!in_part_.contains(span.number)) spans.push_back({span.begin, span.end});
    }
    return spans;
  }

  // A rank that communicates on its device is judged in the device's time. What the host did
  // beside it, without a kernel, has no place there.
  void ChooseClock(JoinedOps& joined) {
    device_clock_ = trace_.on_device() && std::any_of(joined.ops.begin(), joined.ops.end(),
                                                      [](const auto& op) { return op.on_device; });
    if (!device_clock_) return;
    std::erase_if(joined.ops, [](const JoinedOp& op) { return !op.on_device; });
  }

  // An op of the framework may wrap a wait: a Python autograd function that communicates does.
  void SetBusy(const JoinedOps& joined) {
    const auto found = trace_.ops_by_thread.find(training_thread_);
    if (found == trace_.ops_by_thread.end()) return;
    IntervalSet waits;
    for (const JoinedOp& op : joined.ops) {
      if (op.wait_end != kAbsent) waits.Add(op.wait_begin, op.wait_end);
    }
    waits.Seal();
    busy_ = found->second.busy.Without(waits);
  }

  Iteration IterationAt(std::int64_t time) const {
    const auto after =
        std::upper_bound(spans_.begin(), spans_.end(), time,
                         [](std::int64_t t, const StepSpan& span) { return t < span.begin; });
    if (after == spans_.begin() || time >= (after - 1)->end) return Iteration(-1);
    return Iteration((after - 1)->number);
  }

  // Moves the borders of the iterations from the marks to the ends of the last ops before them.
  void AnchorIterations(const JoinedOps& joined) {
    iterations_ = spans_;
    if (!spans_.empty() && trace_.steps.front().anchor != kAbsent) {
      iterations_.front().begin = trace_.steps.front().anchor;
    }
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      const std::int64_t anchor = AnchorOf(spans_[i], joined);
      if (anchor == kAbsent) continue;
      iterations_[i].end = anchor;
      if (i + 1 < spans_.size() && spans_[i + 1].number == spans_[i].number + 1) {
        iterations_[i + 1].begin = anchor;
      }
    }
  }

  // Where the counter began again, the first run is kept.
  template <typename Fill>
  void ForEachKept(Fill fill) {
    std::set<std::int64_t> seen;
    for (const StepSpan& span : iterations_) {
      if (in_part_.contains(span.number)) continue;
      if (seen.insert(span.number).second) fill(span, out_.iterations[span.number]);
    }
  }

  // The end of the last collective called in the step, else of the last message.
  std::int64_t AnchorOf(const StepSpan& span, const JoinedOps& joined) const {
    auto op =
        std::lower_bound(joined.ops.begin(), joined.ops.end(), span.begin,
                         [](const JoinedOp& a, std::int64_t time) { return a.call.begin < time; });
    std::int64_t collective = kAbsent, message = kAbsent;
    for (; op != joined.ops.end() && op->call.begin < span.end; ++op) {
      std::int64_t& latest = IsPointToPoint(op->call.kind) ? message : collective;
      latest = Later(latest, op->left());
    }
    return collective != kAbsent ? collective : message;
  }

  void AddIterations() {
    ForEachKept([this](const StepSpan& span, diagnosis::RankIteration& iteration) {
      iteration.rank = RankId(trace_.rank);
      iteration.begin = TimeOf(trace_, span.begin);
      iteration.duration = Nanos(std::max<std::int64_t>(span.end - span.begin, 0));
      iteration.cpu = Nanos(busy_.Covered(span.begin, span.end));
      iteration.device = Nanos(trace_.device_busy.Covered(span.begin, span.end));
      iteration.blocks = BlocksIn(span);
    });
  }

  std::uint64_t BlocksIn(const StepSpan& span) const {
    const auto from = [&](std::int64_t time) {
      return std::lower_bound(
          trace_.grids.begin(), trace_.grids.end(), time,
          [](const KernelGrid& grid, std::int64_t t) { return grid.begin < t; });
    };
    std::uint64_t sum = 0;
    const auto last = from(span.end);
    for (auto at = from(span.begin); at != last; ++at) {
      sum += static_cast<std::uint64_t>(at->blocks);
    }
    return sum;
  }

  void AddOp(const JoinedOp& joined) {
    const CommEvent& call = joined.call;
    CommOp op;
    op.iteration = IterationAt(call.begin);
    if (in_part_.contains(op.iteration.value)) return;
    if (call.group.empty()) {
      ++out_.unnamed_ops;
    } else {
      op.group = GroupIdOfName(call.group);
    }
    op.sequence = SequenceOf(call, op.iteration);
    op.kind = call.kind;
    op.data_type = call.data_type;
    if (call.elements > 0)
      op.bytes = static_cast<std::uint64_t>(call.elements) * BytesOf(op.data_type);
    if (call.peer >= 0) op.peer = PeerOf(call);
    op.thread = static_cast<std::uint32_t>(call.thread);
    op.enter = TimeOf(trace_, call.begin);
    op.api_return = TimeOf(trace_, call.end);
    if (joined.run_begin != kAbsent) op.exec_start = TimeOf(trace_, joined.run_begin);
    if (joined.run_end != kAbsent) op.end = TimeOf(trace_, joined.run_end);
    if (joined.wait_begin != kAbsent) op.wait_start = TimeOf(trace_, joined.wait_begin);
    if (joined.wait_end != kAbsent) op.wait_end = TimeOf(trace_, joined.wait_end);
    op.cpu_at_enter = Nanos(busy_.CoveredUntil(call.begin));
    op.on_device = joined.on_device;
    if (device_clock_) {
      op.thread = static_cast<std::uint32_t>(training_thread_);
      op.device_at_arrival = Nanos(trace_.device_busy.CoveredUntil(joined.run_begin));
    }
    out_.rows.ops.push_back(op);
  }

  Sequence SequenceOf(const CommEvent& call, Iteration iteration) {
    if (IsPointToPoint(call.kind)) return kNoSequence;
    if (call.sequence != kAbsent) return Sequence(static_cast<std::uint64_t>(call.sequence));
    if (iteration.value < 0) return kNoSequence;
    const auto base = static_cast<std::uint64_t>(iteration.value) * kOpsPerIteration;
    return Sequence(base + counted_[{call.group, iteration.value}]++);
  }

  RankId PeerOf(const CommEvent& call) const {
    if (call.peer_is_global) return RankId(static_cast<std::uint32_t>(call.peer));
    const auto group = trace_.groups.find(call.group);
    if (group == trace_.groups.end()) return kNoRank;
    const auto& ranks = group->second.ranks;
    const auto at = static_cast<std::size_t>(call.peer);
    return at < ranks.size() ? RankId(ranks[at]) : kNoRank;
  }

  // Ops that are in flight together are waited for together: each moment counts once.
  void AddHostWaits(const JoinedOps& joined) {
    IntervalSet all;
    for (const JoinedOp& op : joined.ops) {
      if (!op.on_device && op.wait_end != kAbsent) all.Add(op.wait_begin, op.wait_end);
    }
    SetBlocked(std::move(all));
  }

  void SetBlocked(IntervalSet waits) {
    waits.Seal();
    ForEachKept([&waits](const StepSpan& span, diagnosis::RankIteration& iteration) {
      iteration.blocked = Nanos(waits.Covered(span.begin, span.end));
    });
  }

  void AddDeviceWaits(const JoinedOps& joined) {
    IntervalSet all;
    for (const DeviceStretch& wait : DeviceWaits(joined, trace_.device_busy)) {
      all.Add(wait.begin, wait.end);
      if (wait.end - wait.begin < kShortestDeviceWait) continue;
      out_.rows.device_waits.push_back(
          {TimeOf(trace_, wait.begin), TimeOf(trace_, wait.end), wait.op});
    }
    SetBlocked(std::move(all));
  }

  void AddMark(const MarkEvent& event) {
    Mark mark;
    mark.kind = event.kind;
    mark.begin = TimeOf(trace_, event.begin);
    mark.end = TimeOf(trace_, event.end);
    mark.thread = static_cast<std::uint32_t>(event.thread);
    mark.iteration = IterationAt(event.begin);
    (event.kind == diagnosis::MarkKind::kGc ? gc_ : loading_).Add(event.begin, event.end);
    // A collection shows as `Python GC` and as a function call; one mark is enough.
    auto& marks = out_.rows.marks;
    const auto same = std::find_if(marks.rbegin(), marks.rend(), [&](const Mark& other) {
      return other.kind == mark.kind && other.thread == mark.thread;
    });
    if (same == marks.rend() || mark.begin >= same->end) {
      marks.push_back(mark);
    } else {
      same->end = std::max(same->end, mark.end);
    }
  }

  void AddMarkTimes() {
    gc_.Seal();
    loading_.Seal();
    ForEachKept([this](const StepSpan& span, diagnosis::RankIteration& iteration) {
      iteration.gc = Nanos(gc_.Covered(span.begin, span.end));
      iteration.dataloader = Nanos(loading_.Covered(span.begin, span.end));
    });
  }

  void AddFunction(const PythonCall& call) {
    diagnosis::FunctionCall function;
    function.name = call.name;
    function.begin = TimeOf(trace_, call.begin);
    function.end = TimeOf(trace_, call.end);
    function.thread = static_cast<std::uint32_t>(call.thread);
    function.iteration = IterationAt(call.begin);
    out_.rows.functions.push_back(std::move(function));
  }

  const RankTrace& trace_;
  const std::int64_t training_thread_;
  bool device_clock_ = false;
  const std::vector<StepSpan> spans_;
  std::vector<StepSpan> iterations_;
  std::set<std::int64_t> in_part_;
  IntervalSet busy_;  // of the training thread, waits left out
  IntervalSet gc_;
  IntervalSet loading_;
  std::map<std::pair<std::string, std::int64_t>, std::uint64_t> counted_;
  RankIterations out_;
};

}  // namespace

MonoNs TimeOf(const RankTrace& trace, std::int64_t time) {
  std::int64_t base = trace.summary.header.base_ns;
  if (base == 0 && trace.first < kOwnBase) base = kOwnBase - trace.first;
  return MonoNs(base + time);
}

RankIterations ReadRank(const RankTrace& trace) { return RankReader(trace).Read(); }

void Append(RankIterations later, RankIterations& all) {
  const std::size_t ops = all.rows.ops.size();
  for (CommOp& op : later.rows.ops) {
    op.cpu_at_enter += all.busy;
    if (op.device_known()) op.device_at_arrival += all.device;
    all.rows.ops.push_back(op);
  }
  for (diagnosis::DeviceWait& wait : later.rows.device_waits) {
    if (wait.op < later.rows.ops.size()) wait.op += ops;
    all.rows.device_waits.push_back(wait);
  }
  MoveInto(later.rows.marks, all.rows.marks);
  MoveInto(later.rows.functions, all.rows.functions);
  all.iterations.merge(later.iterations);
  diagnosis::AddTables(later.tables, all.tables);
  all.busy += later.busy;
  all.device += later.device;
  all.guessed_groups = all.guessed_groups || later.guessed_groups;
  all.unnamed_ops += later.unnamed_ops;
  all.calls_without_run += later.calls_without_run;
  all.runs_without_call += later.runs_without_call;
  all.steps_in_part += later.steps_in_part;
}

}  // namespace fathom::collector::kineto
