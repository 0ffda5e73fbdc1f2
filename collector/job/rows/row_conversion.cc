#include "collector/job/rows/row_conversion.h"

#include <algorithm>
#include <cmath>

#include "fathom/v1/row.pb.h"
#include "fathom/v1/summary.pb.h"

namespace fathom::collector {
namespace {

Nanos Us(std::uint32_t us) { return Nanos(std::int64_t{us} * 1000); }

// What is seen is not none.
std::uint32_t ToMega(double flop) {
  constexpr double kMega = 1e6, kMost = 4e9;
  return flop <= 0 ? 0 : static_cast<std::uint32_t>(std::clamp(flop / kMega, 1.0, kMost));
}

}  // namespace

diagnosis::CommOp ToCommOp(const v1::CommOp& op, Iteration iteration) {
  diagnosis::CommOp row;
  row.group = GroupId(op.group());
  row.sequence = Sequence(op.sequence());
  if (op.kind() < kCollectiveKindCount) row.kind = static_cast<CollectiveKind>(op.kind());
  if (op.data_type() < kDataTypeCount) row.data_type = static_cast<DataType>(op.data_type());
  row.bytes = op.bytes();
  row.peer = RankId(op.peer());
  row.thread = op.thread_id();
  row.iteration = iteration;
  row.enter = MonoNs(op.enter_ns());
  row.api_return = MonoNs(op.return_ns());
  row.exec_start = MonoNs(op.exec_start_ns());
  row.end = MonoNs(op.end_ns());
  row.wait_start = MonoNs(op.wait_start_ns());
  row.wait_end = MonoNs(op.wait_end_ns());
  row.cpu_at_enter = Nanos(op.cpu_at_enter_ns());
  row.runqueue_at_enter = Nanos(op.runqueue_at_enter_ns());
  row.failed = op.failed();
  row.launches = op.launches();
  row.launching = Nanos(op.launch_ns());
  row.device_wait = Nanos(op.gpu_wait_ns());
  row.hidden = op.hidden();
  return row;
}

std::optional<diagnosis::Mark> ToMark(const v1::Mark& mark, Iteration iteration) {
  diagnosis::Mark row;
  if (mark.kind() == "gc") {
    row.kind = diagnosis::MarkKind::kGc;
  } else if (mark.kind() == "dataloader") {
    row.kind = diagnosis::MarkKind::kDataLoader;
  } else {
    return std::nullopt;
  }
  row.begin = MonoNs(mark.begin_ns());
  row.end = MonoNs(mark.end_ns());
  row.thread = mark.thread_id();
  row.iteration = iteration;
  return row;
}

diagnosis::RankIteration ToRankIteration(const v1::SummaryBatch& batch, int i, MonoNs begin) {
  diagnosis::RankIteration row;
  row.rank = RankId(batch.rank());
  row.begin = begin;
  row.duration = Us(batch.duration_us(i));
  row.cpu = Us(batch.cpu_us(i));
  row.runqueue = Us(batch.runqueue_us(i));
  row.blocked = Us(batch.blocked_us(i));
  row.gc = Us(batch.gc_us(i));
  row.dataloader = Us(batch.dataloader_us(i));
  row.device_wait = batch.device_wait_us().empty() ? Nanos() : Us(batch.device_wait_us(i));
  row.loader_starved = batch.loader_starved_us().empty() ? Nanos() : Us(batch.loader_starved_us(i));
  row.batch_elements = batch.batch_elements().empty() ? 0 : batch.batch_elements(i);
  row.ops = batch.op_count(i);
  const bool void_known = i < batch.void_between_us_size() && i < batch.void_within_us_size();
  if (void_known) row.void_between = Us(batch.void_between_us(i));
  if (void_known) row.void_within = Us(batch.void_within_us(i));
  row.mega_flop = ToMega(SumOf(ToFlop(batch, i)));
  if (i < batch.unsure_us_size() && i < batch.beside_us_size() && i < batch.leading_us_size()) {
    row.unsure = std::min(row.blocked, Us(batch.unsure_us(i)));
    row.beside =
        std::min(row.duration - std::min(row.blocked, row.duration), Us(batch.beside_us(i)));
    row.leading = std::min(row.unsure, Us(batch.leading_us(i)));
  }
  for (const auto& g : batch.groups()) {
    if (g.count(i) == 0) continue;
    row.groups.push_back({GroupId(g.group()), g.count(i), Us(g.elapsed_us(i)), Us(g.min_us(i)),
                          Us(g.max_us(i)), Us(g.first_us(i))});
  }
  return row;
}

FlopByClass ToFlop(const v1::SummaryBatch& batch, int i) {
  FlopByClass flop{};
  for (const v1::FlopColumn& column : batch.flop()) {
    const bool here = column.flop_class() < kFlopClasses && i < column.flop_size();
    const double told = here ? static_cast<double>(column.flop(i)) : 0;
    if (std::isfinite(told) && told > 0) flop[column.flop_class()] += told;
  }
  return flop;
}

IssueLatency ToIssueLatency(const v1::SummaryBatch& batch, int i) {
  IssueLatency issued;
  constexpr auto kColumns = static_cast<int>(kIssueBuckets);
  if ((i + 1) * kColumns > batch.issued_size()) return issued;
  for (int bucket = 0; bucket < kColumns; ++bucket) {
    issued.counts[static_cast<std::size_t>(bucket)] = batch.issued(i * kColumns + bucket);
  }
  return issued;
}

std::optional<diagnosis::FunctionCall> ToFunctionCall(const v1::Mark& mark, Iteration iteration) {
  const bool told = mark.kind() == "function" && !mark.name().empty() && mark.end_ns() > 0;
  if (!told) return std::nullopt;
  diagnosis::FunctionCall call;
  call.name = mark.name();
  call.begin = MonoNs(mark.begin_ns());
  call.end = MonoNs(mark.end_ns());
  call.thread = mark.thread_id();
  call.iteration = iteration;
  return call;
}

}  // namespace fathom::collector
