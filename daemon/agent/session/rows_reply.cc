#include "daemon/agent/session/rows_reply.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/agent/pipeline/hidden_ops.h"

namespace fathom::agent {
namespace {

constexpr std::size_t kDefaultRows = 20'000;
constexpr int kMaxIterations = 64;
// A CommOp with every field set, as varints: about 180 bytes at worst.
constexpr std::size_t kRowBytes = 180;

void FillTimes(const ThreadClock& clock, const OpRow& row, v1::CommOp& op) {
  op.set_cpu_at_enter_ns(row.cpu_at_enter_ns);
  const auto point = clock.At(row.thread_id, row.enter_ns);
  if (!point.has_value()) return;
  if (row.cpu_at_enter_ns == 0) op.set_cpu_at_enter_ns(point->cpu_ns);
  op.set_runqueue_at_enter_ns(point->runqueue_ns);
}

// Where a device carries communication out and tells when, a rank's timeline is the device's: it
// comes to an op when its stream does, and is at work where the device is. No host thread is that,
// and when the host's call came back, or its wait, which only asks the streams to wait, is nothing
// of it. What its CPU limit held a process back for while an op was open counts as before it.
void FillArrival(const RankPipeline& pipeline, const OpRow& row, v1::CommOp& op) {
  const HeldBack& held = pipeline.held_back();
  op.set_enter_ns(row.arrival_ns(held));
  if (row.on_device() && (row.flags & abi::kFlagAsync) != 0) {
    op.set_cpu_at_enter_ns(row.device_busy_ns);
    return;
  }
  op.set_wait_start_ns(held.Arrival(row.wait_start_ns, row.wait_end_ns));
  op.set_wait_end_ns(row.wait_end_ns);
  op.set_return_ns(held.Arrival(row.return_ns, row.end_ns));
  op.set_thread_id(row.thread_id);
  FillTimes(pipeline.clock(), row, op);
}

// What the process asked of its GPU between two ops.
void FillDeviceCalls(const OpRow* before, const OpRow& row, v1::CommOp& op) {
  if (before == nullptr) return;
  op.set_launches(row.device_calls.launches - before->device_calls.launches);
  op.set_launch_ns(row.device_calls.launch_ns - before->device_calls.launch_ns);
  op.set_gpu_wait_ns(row.device_calls.waiting_ns - before->device_calls.waiting_ns);
}

void FillOp(const RankPipeline& pipeline, std::uint64_t number, const OpCover& cover,
            v1::CommOp& op) {
  const OpRow& row = pipeline.log().At(number);
  op.set_op_id(row.op_id);
  op.set_group(pipeline.Group(row.group_slot).id.value);
  op.set_sequence(row.sequence);
  op.set_kind(static_cast<std::uint32_t>(row.kind));
  op.set_data_type(static_cast<std::uint32_t>(row.data_type));
  op.set_bytes(row.bytes);
  pipeline.TellPeer(row, op);
  op.set_exec_start_ns(row.exec_start_ns);
  op.set_end_ns(row.end_ns);
  op.set_failed(row.failed());
  op.set_iteration(row.iteration);
  op.set_hidden(cover.state == OpCover::State::kHidden);
  FillDeviceCalls(number == 0 ? nullptr : pipeline.log().Find(number - 1), row, op);
  FillArrival(pipeline, row, op);
}

// Rows of an iteration are contiguous and iterations rise along the log.
std::pair<std::uint64_t, std::uint64_t> RowsOf(const OpLog& log, std::int64_t iteration) {
  const auto find = [&](const auto& before) {
    std::uint64_t low = log.first();
    std::uint64_t high = log.next();
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (before(log.At(middle).iteration)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  return {find([&](std::int64_t i) { return i < iteration; }),
          find([&](std::int64_t i) { return i <= iteration; })};
}

v1::Mark MarkOf(RankSession& session, const MarkRow& mark, std::int64_t iteration) {
  v1::Mark out;
  if (mark.kind == abi::MarkKind::kFunctionBegin) {
    out.set_name(session.FunctionName(mark.function));
  }
  out.set_kind(MarkName(mark.kind));
  out.set_begin_ns(mark.begin_ns);
  out.set_end_ns(mark.end_ns);
  out.set_thread_id(mark.thread_id);
  out.set_iteration(iteration);
  return out;
}

// Marks that touch the stretch of the log's rows [first, last).
void AddMarks(RankSession& session, std::uint64_t first, std::uint64_t last, v1::RankRows& out) {
  const OpLog& log = session.pipeline().log();
  // An iteration begins where the one before ended: with the op before its first one.
  const OpRow& before = log.At(first > log.first() ? first - 1 : first);
  const std::int64_t begin = std::max(before.end_ns, before.enter_ns);
  const OpRow& anchor = log.At(last - 1);
  const std::int64_t end = std::max(anchor.end_ns, anchor.enter_ns);
  for (const MarkRow& mark : log.marks()) {
    const bool over = mark.end_ns != 0 && mark.end_ns <= begin;
    if (!over && mark.begin_ns < end) *out.add_marks() = MarkOf(session, mark, anchor.iteration);
  }
}

void AddIterations(const v1::RowsRequest& request, RankSession& session, std::size_t max_rows,
                   v1::RankRows& out) {
  const RankPipeline& pipeline = session.pipeline();
  std::set<std::int64_t> wanted;
  for (int i = 0; i < std::min(request.iterations_size(), kMaxIterations); ++i) {
    wanted.insert(request.iterations(i));
  }
  const OpLog& log = pipeline.log();
  for (const std::int64_t iteration : wanted) {
    const auto [first, last] = RowsOf(log, iteration);
    // The oldest iteration in the log may have lost its beginning.
    const bool cut = first == log.first() && log.first() != 0;
    if (iteration < 0 || first == last || cut) {
      out.add_iterations_missing(iteration);
      continue;
    }
    // Part of an iteration would pass for all of it, unless it is all that was asked for.
    const std::size_t rows = static_cast<std::size_t>(out.ops_size()) + (last - first);
    if (rows > max_rows && wanted.size() > 1) {
      out.set_truncated(true);
      return;
    }
    const std::vector<OpCover> covers = CoversOf(log, first, last - 1);
    for (std::uint64_t i = first; i < last; ++i) {
      if (static_cast<std::size_t>(out.ops_size()) >= max_rows) {
        out.set_truncated(true);
        return;
      }
      FillOp(pipeline, i, covers[i - first], *out.add_ops());
    }
    AddMarks(session, first, last, out);
  }
}

void AddInFlight(RankPipeline& pipeline, std::size_t max_rows, v1::RankRows& out) {
  for (const std::uint64_t number : pipeline.joiner().OpenRows()) {
    if (static_cast<std::size_t>(out.ops_size()) >= max_rows) {
      out.set_truncated(true);
      return;
    }
    FillOp(pipeline, number, OpCover(), *out.add_ops());
  }
}

}  // namespace

v1::RowsReply RowsBetween(RankSession& session, std::uint64_t first, std::uint64_t last) {
  v1::RowsReply reply;
  reply.set_job(session.identity().job);
  v1::RankRows& out = *reply.add_ranks();
  out.set_rank(session.identity().rank);
  if (first == last) return reply;
  const std::vector<OpCover> covers = CoversOf(session.pipeline().log(), first, last - 1);
  for (std::uint64_t i = first; i < last; ++i) {
    FillOp(session.pipeline(), i, covers[i - first], *out.add_ops());
  }
  AddMarks(session, first, last, out);
  return reply;
}

v1::RowsReply AnswerRows(const v1::RowsRequest& request, std::span<RankSession* const> sessions,
                         std::size_t max_bytes) {
  v1::RowsReply reply;
  reply.set_request_id(request.request_id());
  reply.set_job(request.job());
  if (sessions.empty()) {
    reply.set_error(absl::StrCat("no rank asked for of job ", request.job(), " is on this node"));
    return reply;
  }
  const std::size_t asked =
      request.max_rows_per_rank() == 0 ? kDefaultRows : request.max_rows_per_rank();
  const std::size_t max_rows = std::min(asked, max_bytes / kRowBytes / sessions.size());
  for (RankSession* session : sessions) {
    v1::RankRows& out = *reply.add_ranks();
    out.set_rank(session->identity().rank);
    if (request.in_flight_only()) {
      AddInFlight(session->pipeline(), max_rows, out);
    } else {
      AddIterations(request, *session, max_rows, out);
    }
  }
  return reply;
}

}  // namespace fathom::agent
