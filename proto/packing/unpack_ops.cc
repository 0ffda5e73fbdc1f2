#include "proto/packing/unpack_ops.h"

#include <zstd.h>

#include <string>

#include "proto/packing/against.h"
#include "proto/packing/pack_ops.h"

namespace fathom {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr std::uint32_t kLongestUnit = 1'000'000;  // ns

absl::Status Bad(const char* what) { return absl::InvalidArgumentError(what); }

absl::StatusOr<v1::OpColumns> Inflate(const v1::OpsBlock& block) {
  if (block.raw_bytes() > kMaxPackedBytes) return Bad("a block of ops is too large");
  std::string raw(block.raw_bytes(), '\0');
  const std::string& stored = block.columns();
  const std::size_t got = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) != 0 || got != raw.size()) return Bad("a block of ops does not inflate");
  v1::OpColumns columns;
  if (!columns.ParseFromString(raw)) return Bad("a block of ops holds no columns");
  return columns;
}

template <typename Column>
bool Fits(const Column& column, std::uint64_t count) {
  return column.empty() || static_cast<std::uint64_t>(column.size()) == count;
}

bool SameLengths(const v1::OpColumns& c, std::uint64_t ops, std::uint64_t marks) {
  const auto has = [](int size, std::uint64_t count) {
    return static_cast<std::uint64_t>(size) == count;
  };
  return has(c.shape_size(), ops) && has(c.op_id_size(), ops) && has(c.sequence_size(), ops) &&
         has(c.iteration_size(), ops) && has(c.enter_size(), ops) && Fits(c.back(), ops) &&
         Fits(c.exec_start(), ops) && Fits(c.end(), ops) && Fits(c.wait_start(), ops) &&
         Fits(c.wait_end(), ops) && Fits(c.cpu(), ops) && Fits(c.runqueue(), ops) &&
         Fits(c.launches(), ops) && Fits(c.launch(), ops) && Fits(c.gpu_wait(), ops) &&
         has(c.mark_shape_size(), marks) && has(c.mark_begin_size(), marks) &&
         has(c.mark_length_size(), marks) && has(c.mark_iteration_size(), marks);
}

bool PlacesExist(const v1::OpColumns& c) {
  for (const std::uint32_t shape : c.shape()) {
    if (shape >= static_cast<std::uint32_t>(c.shapes_size())) return false;
  }
  for (const std::uint32_t shape : c.mark_shape()) {
    if (shape >= static_cast<std::uint32_t>(c.mark_shapes_size())) return false;
  }
  return true;
}

absl::Status Check(const v1::OpColumns& columns) {
  std::uint64_t ops = 0, marks = 0;
  for (const v1::RankPart& part : columns.parts()) {
    ops += part.ops();
    marks += part.marks();
  }
  if (columns.time_ns() == 0 || columns.time_ns() > kLongestUnit || columns.cpu_ns() == 0 ||
      columns.cpu_ns() > kLongestUnit) {
    return Bad("a block of ops has no unit of time");
  }
  if (!SameLengths(columns, ops, marks)) return Bad("a block of ops has columns of unlike length");
  return PlacesExist(columns) ? absl::OkStatus() : Bad("a block of ops names a shape it lacks");
}

template <typename Column>
auto At(const Column& column, int place) {
  return column.empty() ? typename Column::value_type(0) : column.Get(place);
}

class Unpacker {
 public:
  explicit Unpacker(const v1::OpColumns& columns)
      : columns_(columns), time_(columns.time_ns()), cpu_(columns.cpu_ns()) {}

  void Take(const v1::RankPart& part, v1::RankRows& out) {
    history_ = PartHistory();
    out.set_rank(part.rank());
    for (std::uint32_t i = 0; i < part.ops(); ++i) TakeOp(*out.add_ops());
    for (std::uint32_t i = 0; i < part.marks(); ++i) TakeMark(*out.add_marks());
  }

 private:
  // Wraps where a block says nonsense, which the reader of the rows finds.
  static std::int64_t Times(std::int64_t value, std::uint32_t unit) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) * unit);
  }
  static std::int64_t Times(std::uint64_t value, std::uint32_t unit) {
    return Times(static_cast<std::int64_t>(value), unit);
  }
  std::int64_t Moment(std::uint64_t offset, std::int64_t base) const {
    return offset == 0 ? 0 : Times(FromOffset(offset, base), time_);
  }

  void TakeShape(const v1::OpShape& shape, v1::CommOp& op) const {
    op.set_group(shape.group());
    op.set_kind(shape.kind());
    op.set_data_type(shape.data_type());
    op.set_bytes(shape.bytes());
    op.set_peer(shape.peer() == 0 ? kNone : shape.peer() - 1);
    op.set_thread_id(shape.thread_id());
    op.set_place_of_peer(shape.place_of_peer());
  }

  void TakeOp(v1::CommOp& op) {
    const v1::OpColumns& c = columns_;
    const int i = op_++;
    TakeShape(c.shapes(static_cast<int>(c.shape(i))), op);
    op.set_op_id(history_.op_id.Value(c.op_id(i)));
    op.set_sequence(history_.sequence[op.group()].Value(c.sequence(i)));
    op.set_iteration(static_cast<std::int64_t>(history_.iteration.Value(c.iteration(i))));
    const auto enter = static_cast<std::int64_t>(history_.enter.Value(c.enter(i)));
    const std::uint64_t end = At(c.end(), i);
    op.set_enter_ns(Times(enter, time_));
    op.set_return_ns(Moment(At(c.back(), i), enter));
    op.set_exec_start_ns(Moment(At(c.exec_start(), i), enter));
    op.set_end_ns(Moment(end, enter));
    op.set_wait_start_ns(Moment(At(c.wait_start(), i), enter));
    op.set_wait_end_ns(Moment(At(c.wait_end(), i), end == 0 ? enter : FromOffset(end, enter)));
    op.set_cpu_at_enter_ns(Times(history_.cpu[op.thread_id()].Value(At(c.cpu(), i)), cpu_));
    op.set_runqueue_at_enter_ns(
        Times(history_.runqueue[op.thread_id()].Value(At(c.runqueue(), i)), cpu_));
    op.set_launches(At(c.launches(), i));
    op.set_launch_ns(Times(At(c.launch(), i), time_));
    op.set_gpu_wait_ns(Times(At(c.gpu_wait(), i), time_));
    op.set_failed(TakePlace(c.failed(), i, failed_));
    op.set_hidden(TakePlace(c.hidden(), i, hidden_));
  }

  // Whether op `i` is the next of those whose places are listed, rising.
  static bool TakePlace(const google::protobuf::RepeatedField<std::uint32_t>& places, int i,
                        int& next) {
    const bool listed = next < places.size() && places[next] == static_cast<std::uint32_t>(i);
    next += listed ? 1 : 0;
    return listed;
  }

  void TakeMark(v1::Mark& mark) {
    const v1::OpColumns& c = columns_;
    const int i = mark_++;
    const v1::MarkShape& shape = c.mark_shapes(static_cast<int>(c.mark_shape(i)));
    mark.set_kind(shape.kind());
    mark.set_name(shape.name());
    mark.set_thread_id(shape.thread_id());
    const std::uint64_t begin = history_.mark_begin.Value(c.mark_begin(i));
    const std::uint64_t length = c.mark_length(i);
    mark.set_begin_ns(Times(begin, time_));
    mark.set_end_ns(length == 0 ? 0 : Times(begin + (length - 1), time_));
    mark.set_iteration(
        static_cast<std::int64_t>(history_.mark_iteration.Value(c.mark_iteration(i))));
  }

  const v1::OpColumns& columns_;
  const std::uint32_t time_, cpu_;
  PartHistory history_;
  int op_ = 0, mark_ = 0, failed_ = 0, hidden_ = 0;
};

}  // namespace

absl::StatusOr<v1::RowsReply> UnpackOps(const v1::OpsBlock& block) {
  const absl::StatusOr<v1::OpColumns> columns = Inflate(block);
  if (!columns.ok()) return columns.status();
  if (absl::Status status = Check(*columns); !status.ok()) return status;
  v1::RowsReply reply;
  reply.set_job(block.job());
  Unpacker unpacker(*columns);
  for (const v1::RankPart& part : columns->parts()) unpacker.Take(part, *reply.add_ranks());
  return reply;
}

}  // namespace fathom
