#include "diagnosis/graph/timeline.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace fathom::diagnosis {
namespace {

struct Stretch {
  MonoNs begin;
  MonoNs end;
  std::size_t op = kNoOp;      // of a wait
  const Mark* mark = nullptr;  // of a mark
};

// Stretches by begin, with how far any of the earlier ones reaches: so that those that touch a gap
// are found without looking at all.
class Stretches {
 public:
  explicit Stretches(std::vector<Stretch> all) : all_(std::move(all)) {
    std::sort(all_.begin(), all_.end(),
              [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
    MonoNs furthest;
    for (const Stretch& s : all_) reach_.push_back(furthest = std::max(furthest, s.end));
  }

  bool empty() const { return all_.empty(); }

  // Those that may overlap [begin, end), by begin.
  std::pair<const Stretch*, const Stretch*> Touching(MonoNs begin, MonoNs end) const {
    const auto from = std::partition_point(reach_.begin(), reach_.end(),
                                           [&](MonoNs reach) { return reach <= begin; });
    const auto to = std::partition_point(all_.begin(), all_.end(),
                                         [&](const Stretch& s) { return s.begin < end; });
    const auto first = all_.begin() + (from - reach_.begin());
    return {all_.data() + (std::min(first, to) - all_.begin()), all_.data() + (to - all_.begin())};
  }

 private:
  std::vector<Stretch> all_;
  std::vector<MonoNs> reach_;
};

std::uint64_t Mix(std::uint64_t seed, std::uint64_t value) {
  return (seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2))) *
         0xff51afd7ed558ccdULL;
}

// The group's id is left out of the key: ranks of the same role have different groups.
std::uint64_t OpKey(const CommOp& op) {
  return Mix(Mix(static_cast<std::uint64_t>(op.kind) + 1, op.bytes),
             static_cast<std::uint64_t>(op.data_type));
}

double Overlap(MonoNs a, MonoNs b, MonoNs c, MonoNs d) {
  const MonoNs low = std::max(a, c), high = std::min(b, d);
  return high > low ? (high - low).Seconds() : 0;
}

void AddDeviceWaits(const RankTimeline& line, const RankRows& rows, std::vector<Stretch>& waits) {
  if (rows.device_waits.empty()) return;
  std::map<const CommOp*, std::size_t> place;
  for (std::size_t k = 0; k < line.ops.size(); ++k) place[line.ops[k]] = k;
  for (const DeviceWait& wait : rows.device_waits) {
    const bool told = wait.op < rows.ops.size();
    waits.push_back({wait.begin, wait.end, told ? place.at(&rows.ops[wait.op]) : kNoOp});
  }
}

// When the thread of each op entered its next one; unknown where it did not. Empty where it is not
// asked for: each wait has its end.
std::vector<MonoNs> NextEntries(const RankTimeline& line) {
  const bool asked = std::any_of(line.ops.begin(), line.ops.end(), [](const CommOp* op) {
    return op->wait_start.known() && !op->wait_end.known();
  });
  if (!asked) return {};
  std::vector<MonoNs> next(line.ops.size());
  std::map<std::uint64_t, MonoNs> of_thread;
  for (std::size_t k = line.ops.size(); k-- > 0;) {
    const CommOp& op = *line.ops[k];
    if (op.thread == 0) continue;
    MonoNs& entered = of_thread[op.thread];
    next[k] = entered;
    entered = op.enter;
  }
  return next;
}

// Where the caller is known to have been blocked: traced waits, and calls that return done. In the
// time of a device a call's return says nothing: the host may have slept in it long after the op.
// A wait whose end is not told goes on as far as ops are known, unless its thread entered another:
// then the record was lost, or had not come when the row was told.
Stretches TracedWaits(const RankTimeline& line, const RankRows& rows, double floor) {
  std::vector<Stretch> waits;
  AddDeviceWaits(line, rows, waits);
  const bool on_host = std::none_of(line.ops.begin(), line.ops.end(),
                                    [](const CommOp* op) { return op->in_device_time(); });
  const std::vector<MonoNs> next = NextEntries(line);
  for (std::size_t k = 0; k < line.ops.size(); ++k) {
    const CommOp& op = *line.ops[k];
    if (op.device_known()) continue;
    if (op.wait_start.known()) {
      MonoNs end = op.wait_end;
      if (!end.known()) end = next[k].known() ? next[k] : line.ops.back()->place();
      waits.push_back({op.wait_start, std::max(end, op.wait_start), k});
    } else if (on_host && op.api_return.known() && op.done() && op.end <= op.api_return &&
               (op.api_return - op.enter).Seconds() > floor) {
      waits.push_back({op.enter, op.api_return, k});
    }
  }
  return Stretches(std::move(waits));
}

void ApplyTracedWaits(RankTimeline& line, std::size_t k, MonoNs begin, const Stretches& waits,
                      double floor) {
  Gap& gap = line.gaps[k];
  const MonoNs end = line.ops[k]->place();
  MonoNs covered = begin;
  const auto [first, last] = waits.Touching(begin, end);
  for (const Stretch* it = first; it < last; ++it) {
    const double here = Overlap(std::max(it->begin, covered), it->end, begin, end);
    if (here <= 0) continue;
    gap.blocked += here;
    covered = std::max(covered, std::min(it->end, end));
    if (here < floor || it->op == kNoOp) continue;
    gap.waited_op = it->op;
    gap.waited = here;
    gap.after_wait = (end - std::min(it->end, end)).Seconds();
  }
}

// Without traced waits: off the CPU while an op was open is taken as blocked on it. That errs
// towards innocence: a rank that slept while its op was still open is not charged.
void InferWait(RankTimeline& line, std::size_t k, MonoNs begin, double floor) {
  Gap& gap = line.gaps[k];
  const MonoNs end = line.ops[k]->place();
  std::size_t last = kNoOp;
  for (std::size_t j = k; j-- > 0 && k - j <= 64;) {
    const CommOp& op = *line.ops[j];
    if (!op.done() || op.end <= begin) continue;
    if (last == kNoOp || op.end > line.ops[last]->end) last = j;
  }
  if (last == kNoOp) return;
  const double open = Overlap(begin, line.ops[last]->end, begin, end);
  const double off_cpu =
      gap.cpu_known ? std::max(0.0, gap.wall - gap.cpu - gap.runqueue) : gap.wall;
  gap.blocked = std::min(open, off_cpu);
  if (gap.blocked < floor) return;
  gap.waited_op = last;
  gap.waited = gap.blocked;
  gap.after_wait = std::max(0.0, (end - std::min(line.ops[last]->end, end)).Seconds());
}

void ApplyCounters(Gap& gap, const CommOp& before, const CommOp& op) {
  if (op.device_known()) {
    gap.on_device = true;
    gap.cpu_known = before.device_known() && op.device_at_arrival >= before.device_at_arrival;
    if (gap.cpu_known) gap.cpu = (op.device_at_arrival - before.device_at_arrival).Seconds();
    return;
  }
  if (before.thread != op.thread) return;
  gap.cpu_known = before.cpu_at_enter.count > 0 && op.cpu_at_enter >= before.cpu_at_enter;
  if (gap.cpu_known) gap.cpu = (op.cpu_at_enter - before.cpu_at_enter).Seconds();
  gap.runqueue_known =
      op.runqueue_at_enter.count > 0 && op.runqueue_at_enter >= before.runqueue_at_enter;
  if (gap.runqueue_known)
    gap.runqueue = (op.runqueue_at_enter - before.runqueue_at_enter).Seconds();
}

Stretches MarkStretches(const std::vector<Mark>& marks, MonoNs last) {
  std::vector<Stretch> stretches;
  for (const Mark& mark : marks) {
    stretches.push_back({mark.begin, mark.end.known() ? mark.end : last, kNoOp, &mark});
  }
  return Stretches(std::move(stretches));
}

void ApplyMarks(Gap& gap, MonoNs begin, const CommOp& op, const Stretches& marks) {
  const auto [first, last] = marks.Touching(begin, op.place());
  for (const Stretch* it = first; it < last; ++it) {
    const Mark& mark = *it->mark;
    if (mark.thread != 0 && op.thread != 0 && mark.thread != op.thread) continue;
    const double here = Overlap(begin, op.place(), it->begin, it->end);
    (mark.kind == MarkKind::kGc ? gap.gc : gap.dataloader) += here;
  }
}

// A rank's place in the iteration: what op follows what, counted where the same pair comes again.
void AssignKeys(RankTimeline& line) {
  for (const auto& [iteration, range] : line.iterations) {
    std::map<std::uint64_t, std::uint64_t> seen;
    for (std::size_t k = range.first; k < range.second; ++k) {
      const std::uint64_t before = k == range.first ? 0 : OpKey(*line.ops[k - 1]);
      const std::uint64_t pair = Mix(before, OpKey(*line.ops[k]));
      line.gaps[k].key = Mix(pair, seen[pair]++);
    }
  }
}

void IndexIterations(RankTimeline& line) {
  for (std::size_t k = 0; k < line.ops.size(); ++k) {
    const Iteration it = line.ops[k]->iteration;
    if (it.value < 0) continue;
    auto [place, fresh] = line.iterations.try_emplace(it, k, k + 1);
    place->second.second = k + 1;
  }
}

// What the numbers of iterations that follow one another differ by: 1, unless steps were joined.
std::int64_t StrideOf(const std::map<Iteration, MonoNs>& iteration_begin) {
  std::int64_t stride = 0;
  std::int64_t before = 0;
  for (const auto& [iteration, begin] : iteration_begin) {
    const std::int64_t step = iteration.value - before;
    if (iteration != iteration_begin.begin()->first && (stride == 0 || step < stride)) {
      stride = step;
    }
    before = iteration.value;
  }
  return std::max<std::int64_t>(stride, 1);
}

// The op before op k, if nothing is missing between them.
const CommOp* Previous(const RankTimeline& line, std::size_t k, std::int64_t stride) {
  if (k == 0) return nullptr;
  const CommOp* before = line.ops[k - 1];
  const std::int64_t step = line.ops[k]->iteration.value - before->iteration.value;
  return step == 0 || step == 1 || step == stride ? before : nullptr;
}

MonoNs BeginOfGap(const CommOp& op, const CommOp* before,
                  const std::map<Iteration, MonoNs>& iteration_begin) {
  const bool first = before == nullptr || before->iteration != op.iteration;
  const auto known = iteration_begin.find(op.iteration);
  if (first && known != iteration_begin.end() && known->second < op.place()) return known->second;
  return before != nullptr ? before->place() : op.place();
}

RankTimeline LineOf(RankId rank, const RankRows& rows) {
  RankTimeline line;
  line.rank = rank;
  for (const CommOp& op : rows.ops) line.ops.push_back(&op);
  std::stable_sort(line.ops.begin(), line.ops.end(),
                   [](const CommOp* a, const CommOp* b) { return a->place() < b->place(); });
  line.waits_traced = std::any_of(line.ops.begin(), line.ops.end(),
                                  [](const CommOp* op) { return op->wait_start.known(); }) ||
                      !rows.device_waits.empty();
  line.gaps.resize(line.ops.size());
  IndexIterations(line);
  AssignKeys(line);
  return line;
}

}  // namespace

RankTimeline BuildTimeline(RankId rank, const RankRows& rows,
                           const std::map<Iteration, MonoNs>& iteration_begin, double wait_floor) {
  RankTimeline line = LineOf(rank, rows);
  const Stretches waits = TracedWaits(line, rows, wait_floor);
  const MonoNs newest = line.ops.empty() ? MonoNs() : line.ops.back()->place();
  const Stretches marks = MarkStretches(rows.marks, newest);
  const std::int64_t stride = StrideOf(iteration_begin);
  for (std::size_t k = 0; k < line.ops.size(); ++k) {
    const CommOp& op = *line.ops[k];
    const CommOp* before = Previous(line, k, stride);
    const MonoNs begin = BeginOfGap(op, before, iteration_begin);
    Gap& gap = line.gaps[k];
    gap.wall = gap.after_wait = (op.place() - begin).Seconds();
    if (before) ApplyCounters(gap, *before, op);
    ApplyMarks(gap, begin, op, marks);
    if (waits.empty()) {
      InferWait(line, k, begin, wait_floor);
    } else {
      ApplyTracedWaits(line, k, begin, waits, wait_floor);
    }
  }
  return line;
}

}  // namespace fathom::diagnosis
