#include "daemon/agent/pipeline/iteration_summary.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "daemon/agent/pipeline/hidden_ops.h"

namespace fathom::agent {
namespace {

using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::int64_t Overlap(std::int64_t begin, std::int64_t end, const IterationSpan& span) {
  return std::max<std::int64_t>(0, std::min(end, span.end_ns) - std::max(begin, span.begin_ns));
}

// One wait may be for many ops: the time is counted once.
std::int64_t Union(Spans waits, const IterationSpan& span) {
  std::sort(waits.begin(), waits.end());
  std::int64_t sum = 0;
  std::int64_t covered = 0;
  for (const auto& [start, end] : waits) {
    sum += Overlap(std::max(start, covered), end, span);
    covered = std::max(covered, end);
  }
  return sum;
}

void AddOp(const OpRow& row, const HeldBack& held, GroupSummary& group) {
  ++group.count;
  if (!row.done()) return;
  const std::int64_t elapsed = row.end_ns - row.arrival_ns(held);
  const bool first = group.elapsed_ns == 0;
  group.first_ns = first ? elapsed : group.first_ns;
  if (row.kind != CollectiveKind::kRecv) {
    group.shortest_ns = group.shortest_ns == 0 ? elapsed : std::min(group.shortest_ns, elapsed);
  }
  group.longest_ns = std::max(group.longest_ns, elapsed);
  group.elapsed_ns += elapsed;
}

void AddThreads(const std::set<std::uint32_t>& tids, const ThreadClock& clock,
                IterationSummary& out) {
  for (const std::uint32_t tid : tids) {
    const auto begin = clock.At(tid, out.span.begin_ns);
    const auto end = clock.At(tid, out.span.end_ns);
    if (!begin.has_value() || !end.has_value()) continue;
    out.cpu_ns += std::max<std::int64_t>(0, end->cpu_ns - begin->cpu_ns);
    out.runqueue_ns += std::max<std::int64_t>(0, end->runqueue_ns - begin->runqueue_ns);
  }
}

void AddMarks(const OpLog& log, IterationSummary& out) {
  for (auto mark = log.marks().rbegin(); mark != log.marks().rend(); ++mark) {
    const std::int64_t end = mark->end_ns == 0 ? out.span.end_ns : mark->end_ns;
    if (mark->kind != abi::MarkKind::kFunctionBegin) {
      std::int64_t& sum = mark->kind == abi::MarkKind::kGcBegin ? out.gc_ns : out.dataloader_ns;
      sum += Overlap(mark->begin_ns, end, out.span);
    }
    const bool came = mark->end_ns > out.span.begin_ns && mark->end_ns <= out.span.end_ns;
    if (came) out.batch_elements += mark->elements;
    // Marks do not nest deeply: one that began long before the iteration has ended before it.
    if (mark->begin_ns < out.span.begin_ns && end < out.span.begin_ns) break;
  }
}

// The anchor before the iteration, else its first op.
const OpRow* AnchorBefore(const OpLog& log, const IterationSpan& span) {
  const OpRow* before = span.first_row == 0 ? nullptr : log.Find(span.first_row - 1);
  return before != nullptr ? before : log.Find(std::max(span.first_row, log.first()));
}

// The sums of an op are those at its entry, so that what came behind an anchor is the next
// iteration's.
void AddDeviceWaits(const OpLog& log, IterationSummary& out) {
  const OpRow* anchor = log.Find(out.span.anchor_row);
  const OpRow* before = AnchorBefore(log, out.span);
  if (anchor == nullptr || before == nullptr) return;
  const std::int64_t waited = anchor->device_calls.waiting_ns - before->device_calls.waiting_ns;
  const std::int64_t lasted = out.span.end_ns - out.span.begin_ns;
  out.device_wait_ns = std::max<std::int64_t>(0, std::min(waited, lasted));
}

void AddFlop(const OpLog& log, const ProductLog& products, IterationSummary& out) {
  const OpRow* anchor = log.Find(out.span.anchor_row);
  const OpRow* before = AnchorBefore(log, out.span);
  if (anchor == nullptr || before == nullptr) return;
  if (anchor->device_calls.graphs != before->device_calls.graphs) return;
  // Of the first iteration nobody knows when it began.
  const bool first = before == log.Find(std::max(out.span.first_row, log.first()));
  const std::int64_t after = first ? out.span.begin_ns - 1 : before->enter_ns;
  out.flop = products.Flop(after, anchor->enter_ns);
}

// A stream was busy from the launch of an op on, and with what came before it.
void AddDeviceIntervals(const OpLog& log, const IterationSpan& span,
                        std::vector<SeenInterval>& seen) {
  std::int64_t before_end = span.begin_ns;
  for (std::uint64_t i = std::max(span.first_row, log.first()); i <= span.anchor_row; ++i) {
    const OpRow& row = log.At(i);
    if (!row.on_device() || row.exec_start_ns == 0 || !row.done()) continue;
    const std::int64_t begin = std::min(std::max(row.enter_ns, before_end), row.exec_start_ns);
    seen.push_back({begin, row.end_ns, row.end_ns - begin});
    before_end = std::max(before_end, row.end_ns);
  }
}

// Those of the threads that communicate: others help them, at the same time.
void AddStretches(const ProductLog& products, const std::set<std::uint32_t>& tids,
                  const IterationSpan& span, std::vector<SeenInterval>& seen) {
  for (const ProductStretch& each : products.stretches()) {
    const bool overlaps = each.begin_ns < span.end_ns && each.end_ns > span.begin_ns;
    if (overlaps && each.busy_ns > 0 && tids.contains(each.thread_id)) {
      seen.push_back({each.begin_ns, each.end_ns, each.busy_ns});
    }
  }
}

VoidTime VoidIn(const OpLog& log, const ProductLog& products, const std::set<std::uint32_t>& tids,
                const Spans& waits, const IterationSummary& summary) {
  std::vector<SeenInterval> seen;
  if (summary.issued.known()) {
    AddDeviceIntervals(log, summary.span, seen);
  } else {
    AddStretches(products, tids, summary.span, seen);
    // Without any product it is not known when the rank computes.
    if (seen.empty() || products.on_device()) return {};
    for (const auto& [start, end] : waits) seen.push_back({start, end, end - start});
  }
  return VoidOf(std::move(seen), summary.span.begin_ns, summary.span.end_ns);
}

// When the rank waited for communication, for certain and at most; and its runs of ops of which
// computing hid some.
struct Waits {
  Spans sure, at_most, runs;
  std::uint32_t run = 0;  // the last of them
};

void AddDeviceOp(const OpRow& row, const OpCover& cover, Waits& waits, IterationSummary& out) {
  out.issued.Add(row.exec_start_ns - row.enter_ns);
  if (!row.done()) return;
  const std::pair<std::int64_t, std::int64_t> span(row.exec_start_ns, row.end_ns);
  const bool another = cover.run != std::exchange(waits.run, cover.run);
  if (cover.run != 0 && another) {
    waits.runs.emplace_back(cover.goes_on ? out.span.begin_ns : span.first, span.second);
  }
  if (cover.run != 0) waits.runs.back().second = span.second;
  if (cover.state == OpCover::State::kHidden) return;
  waits.at_most.push_back(span);  // its stream did no more
  if (cover.state != OpCover::State::kUnsure) waits.sure.push_back(span);
  if (cover.leads) out.leading_ns = std::max(out.leading_ns, span.second - span.first);
}

void AddBlocked(const Waits& waits, IterationSummary& out) {
  out.blocked_ns = Union(waits.at_most, out.span);
  out.unsure_ns = out.blocked_ns - Union(waits.sure, out.span);
  Spans all = waits.at_most;
  all.insert(all.end(), waits.runs.begin(), waits.runs.end());
  out.beside_ns = Union(std::move(all), out.span) - out.blocked_ns;
}

}  // namespace

IterationSummary Summarise(const OpLog& log, const ProductLog& products, const ThreadClock& clock,
                           const HeldBack& held, const IterationSpan& span) {
  IterationSummary out;
  out.span = span;
  std::set<std::uint32_t> tids;
  Waits waits;
  const std::uint64_t first = std::max(span.first_row, log.first());
  std::vector<OpCover> covers;
  if (first <= span.anchor_row) covers = CoversOf(log, first, span.anchor_row);
  for (std::uint64_t i = first; i <= span.anchor_row; ++i) {
    const OpRow& row = log.At(i);
    ++out.ops;
    tids.insert(row.thread_id);
    if (row.group_slot != abi::kNoGroupSlot) AddOp(row, held, out.groups[row.group_slot]);
    // A host that waits for an op on a device asks its streams to wait and goes on at once.
    if (row.on_device() && row.exec_start_ns != 0) {
      AddDeviceOp(row, covers[i - first], waits, out);
    } else if (row.wait_start_ns != 0 && (row.wait_end_ns != 0 || i == span.anchor_row)) {
      // Who waits for the op that ends the iteration may wake up later than it is summed up.
      const std::int64_t end = row.wait_end_ns != 0 ? row.wait_end_ns : span.end_ns;
      waits.at_most.emplace_back(held.Arrival(row.wait_start_ns, end), end);
      waits.sure.push_back(waits.at_most.back());
    }
  }
  out.void_time = VoidIn(log, products, tids, waits.at_most, out);
  AddFlop(log, products, out);
  AddBlocked(waits, out);
  AddThreads(tids, clock, out);
  AddMarks(log, out);
  AddDeviceWaits(log, out);
  return out;
}

}  // namespace fathom::agent
