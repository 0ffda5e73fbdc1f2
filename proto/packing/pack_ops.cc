#include "proto/packing/pack_ops.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "proto/packing/against.h"
#include "proto/packing/zstd_frame.h"

namespace fathom {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};  // CommOp.peer

// 0 stays 0: not known. Moments are cut, which keeps their order.
std::int64_t Moment(std::int64_t ns) {
  return ns <= 0 ? 0 : std::max<std::int64_t>(1, ns / kPackedTime.count);
}

// Amounts are raised, so that there is no known one of 0.
std::uint64_t Amount(std::int64_t ns, Nanos unit) {
  return ns <= 0 ? 0 : static_cast<std::uint64_t>((ns - 1) / unit.count + 1);
}

std::uint64_t Offset(std::int64_t ns, std::int64_t base) {
  return ns <= 0 ? 0 : ToOffset(Moment(ns), base);
}

// Numbers shapes in the order in which they come; marks and ops alike.
template <typename Key>
class Numbers {
 public:
  // The number, and whether it is new.
  std::pair<std::uint32_t, bool> Of(const Key& key) {
    const auto [at, added] = known_.emplace(key, static_cast<std::uint32_t>(known_.size()));
    return {at->second, added};
  }

 private:
  std::map<Key, std::uint32_t> known_;
};

using OpKey = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t,
                         std::uint32_t, std::uint32_t>;
using MarkKey = std::tuple<std::string, std::string, std::uint32_t>;

class Packer {
 public:
  Packer() {
    columns_.set_time_ns(static_cast<std::uint32_t>(kPackedTime.count));
    columns_.set_cpu_ns(static_cast<std::uint32_t>(kPackedCpu.count));
  }

  void Add(const v1::RankRows& rows) {
    v1::RankPart& part = *columns_.add_parts();
    part.set_rank(rows.rank());
    part.set_ops(static_cast<std::uint32_t>(rows.ops_size()));
    part.set_marks(static_cast<std::uint32_t>(rows.marks_size()));
    history_ = PartHistory();
    for (const v1::CommOp& op : rows.ops()) AddOp(op);
    for (const v1::Mark& mark : rows.marks()) AddMark(mark);
  }

  v1::OpColumns& Finish() {
    const auto drop = [](auto* column) {
      if (std::all_of(column->begin(), column->end(), [](auto v) { return v == 0; })) {
        column->Clear();
      }
    };
    drop(columns_.mutable_back()), drop(columns_.mutable_exec_start());
    drop(columns_.mutable_wait_start()), drop(columns_.mutable_wait_end());
    drop(columns_.mutable_end()), drop(columns_.mutable_cpu()), drop(columns_.mutable_runqueue());
    drop(columns_.mutable_launches()), drop(columns_.mutable_launch());
    drop(columns_.mutable_gpu_wait());
    return columns_;
  }

  std::uint32_t ops() const { return ops_; }

 private:
  std::uint32_t ShapeOf(const v1::CommOp& op) {
    const auto [number, added] = shapes_.Of({op.group(), op.kind(), op.data_type(), op.bytes(),
                                             op.peer(), op.thread_id(), op.place_of_peer()});
    if (!added) return number;
    v1::OpShape& shape = *columns_.add_shapes();
    shape.set_group(op.group());
    shape.set_kind(op.kind());
    shape.set_data_type(op.data_type());
    shape.set_bytes(op.bytes());
    shape.set_peer(op.peer() == kNone ? 0 : op.peer() + 1);
    shape.set_thread_id(op.thread_id());
    shape.set_place_of_peer(op.place_of_peer());
    return number;
  }

  void AddOp(const v1::CommOp& op) {
    columns_.add_shape(ShapeOf(op));
    columns_.add_op_id(history_.op_id.Difference(op.op_id()));
    columns_.add_sequence(history_.sequence[op.group()].Difference(op.sequence()));
    columns_.add_iteration(
        history_.iteration.Difference(static_cast<std::uint64_t>(op.iteration())));
    const std::int64_t enter = Moment(op.enter_ns());
    const std::int64_t end = op.end_ns() > 0 ? Moment(op.end_ns()) : enter;
    columns_.add_enter(history_.enter.Difference(static_cast<std::uint64_t>(enter)));
    columns_.add_back(Offset(op.return_ns(), enter));
    columns_.add_exec_start(Offset(op.exec_start_ns(), enter));
    columns_.add_end(Offset(op.end_ns(), enter));
    columns_.add_wait_start(Offset(op.wait_start_ns(), enter));
    columns_.add_wait_end(Offset(op.wait_end_ns(), end));
    columns_.add_cpu(
        history_.cpu[op.thread_id()].Difference(Amount(op.cpu_at_enter_ns(), kPackedCpu)));
    columns_.add_runqueue(history_.runqueue[op.thread_id()].Difference(
        Amount(op.runqueue_at_enter_ns(), kPackedCpu)));
    columns_.add_launches(op.launches());
    columns_.add_launch(Amount(op.launch_ns(), kPackedTime));
    columns_.add_gpu_wait(Amount(op.gpu_wait_ns(), kPackedTime));
    if (op.failed()) columns_.add_failed(ops_);
    if (op.hidden()) columns_.add_hidden(ops_);
    ++ops_;
  }

  void AddMark(const v1::Mark& mark) {
    const auto [number, added] = mark_shapes_.Of({mark.kind(), mark.name(), mark.thread_id()});
    if (added) {
      v1::MarkShape& shape = *columns_.add_mark_shapes();
      shape.set_kind(mark.kind());
      shape.set_name(mark.name());
      shape.set_thread_id(mark.thread_id());
    }
    const std::int64_t begin = Moment(mark.begin_ns());
    const std::int64_t length = Moment(mark.end_ns()) - begin;
    columns_.add_mark_shape(number);
    columns_.add_mark_begin(history_.mark_begin.Difference(static_cast<std::uint64_t>(begin)));
    columns_.add_mark_length(
        mark.end_ns() <= 0 ? 0 : static_cast<std::uint64_t>(std::max<std::int64_t>(0, length)) + 1);
    columns_.add_mark_iteration(
        history_.mark_iteration.Difference(static_cast<std::uint64_t>(mark.iteration())));
  }

  v1::OpColumns columns_;
  PartHistory history_;
  Numbers<OpKey> shapes_;
  Numbers<MarkKey> mark_shapes_;
  std::uint32_t ops_ = 0;
};

}  // namespace

v1::OpsBlock PackOps(const v1::RowsReply& rows, std::uint64_t serial) {
  v1::OpsBlock block;
  block.set_job(rows.job());
  block.set_serial(serial);
  Packer packer;
  for (const v1::RankRows& rank : rows.ranks()) {
    block.add_ranks(rank.rank());
    packer.Add(rank);
  }
  const std::string raw = packer.Finish().SerializeAsString();
  block.set_rows(packer.ops());
  block.set_raw_bytes(static_cast<std::uint32_t>(raw.size()));
  AppendFrame(raw, *block.mutable_columns());
  return block;
}

}  // namespace fathom
