#include "collector/import/nccl/inspector_reader.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "collector/import/nccl/json_objects.h"

namespace fathom::collector::nccl {
namespace {

using simdjson::dom::object;

constexpr std::int64_t kNsPerUs = 1000;
constexpr std::int64_t kLatestUs = std::int64_t{1} << 52;  // some 140 years from 1970

// µs → ns; 0 for what is no time.
std::int64_t TimeIn(const object& from, std::string_view key) {
  const std::int64_t us = IntegerIn(from, key, 0);
  return us > 0 && us < kLatestUs ? us * kNsPerUs : 0;
}

void ReadKernels(const object& trace, OpRecord& op) {
  simdjson::dom::array kernels;
  if (trace["kernel_events"].get(kernels) != simdjson::SUCCESS) return;
  for (const auto element : kernels) {
    object channel;
    if (element.get(channel) != simdjson::SUCCESS) continue;
    const std::int64_t start = TimeIn(channel, "kernel_start_ts");
    // A channel that was promised but never ran has no times.
    if (start > 0) op.start_ns = op.start_ns == 0 ? start : std::min(op.start_ns, start);
    op.end_ns = std::max(op.end_ns, TimeIn(channel, "kernel_stop_ts"));
  }
}

class Reader {
 public:
  explicit Reader(std::uint64_t max_ops) : max_ops_(max_ops) {}

  bool Take(const object& line) {
    object header, metadata, perf;
    if (line["header"].get(header) == simdjson::SUCCESS) ReadHeader(header);
    if (line["metadata"].get(metadata) == simdjson::SUCCESS) ReadMetadata(metadata);
    if (line["dump_stats"].get(perf) == simdjson::SUCCESS) return ReadStats(perf);
    if (line["coll_perf"].get(perf) == simdjson::SUCCESS) return ReadOp(perf, "coll");
    if (line["p2p_perf"].get(perf) == simdjson::SUCCESS) return ReadOp(perf, "p2p");
    return line["proxy_trace"].error() == simdjson::SUCCESS;  // known, of no use here
  }

  std::vector<CommPart> TakeParts() { return TakeValues(parts_); }
  bool full() const { return ops_ > max_ops_; }

 private:
  void ReadHeader(const object& header) {
    comm_ = std::string(TextIn(header, "id"));
    rank_ = SmallIn(header, "rank");
    size_ = SmallIn(header, "n_ranks");
    name_ = std::string(TextIn(header, "comm_name"));
    if (name_ == "unknown") name_.clear();
  }

  void ReadMetadata(const object& metadata) {
    host_ = std::string(TextIn(metadata, "hostname"));
    pid_ = IntegerIn(metadata, "pid");
  }

  CommPart* Part() {
    if (comm_.empty() || rank_ < 0 || size_ < 1 || rank_ >= size_) return nullptr;
    CommPart& part = parts_[{host_, pid_, comm_, rank_}];
    part.host = host_;
    part.pid = static_cast<std::uint64_t>(std::max<std::int64_t>(pid_, 0));
    part.comm = comm_;
    part.name = name_;
    part.rank = static_cast<std::uint32_t>(rank_);
    part.size = static_cast<std::uint32_t>(size_);
    return &part;
  }

  bool ReadStats(const object& stats) {
    CommPart* const part = Part();
    if (part == nullptr) return false;
    const std::int64_t lost = IntegerIn(stats, "coll_dropped_total", 0);
    part->dropped =
        std::max(part->dropped, static_cast<std::uint64_t>(std::max<std::int64_t>(lost, 0)));
    return true;
  }

  bool ReadOp(const object& perf, const std::string& prefix) {
    CommPart* const part = Part();
    OpRecord op;
    op.kind = KindOfFunction(TextIn(perf, prefix));
    op.number = IntegerIn(perf, prefix + "_sn");
    if (part == nullptr || op.kind == CollectiveKind::kUnknown || op.number < 0) return false;
    const std::int64_t bytes = IntegerIn(perf, prefix + "_msg_size_bytes", 0);
    op.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
    op.peer = SmallIn(perf, "p2p_peer");
    object trace;
    if (perf["event_trace_ts"].get(trace) == simdjson::SUCCESS) ReadKernels(trace, op);
    ReadRun(perf, prefix, op);
    part->ops.push_back(op);
    ++ops_;
    return true;
  }

  // v4.0 of before the source was told had none but the device's clock.
  void ReadRun(const object& perf, const std::string& prefix, OpRecord& op) const {
    const std::string_view source = TextIn(perf, prefix + "_timing_source");
    if (!source.empty() && source != "kernel_gpu") return;
    const std::int64_t us = IntegerIn(perf, prefix + "_exec_time_us");
    if (us < 0 || us >= kLatestUs) return;
    op.kernel_ns = us * kNsPerUs;
    if (op.end_ns > op.kernel_ns) op.start_ns = op.end_ns - op.kernel_ns;
  }

  const std::uint64_t max_ops_;
  std::string comm_, name_, host_;
  std::int64_t rank_ = kUnknown, size_ = kUnknown, pid_ = kUnknown;
  std::map<std::tuple<std::string, std::int64_t, std::string, std::int64_t>, CommPart> parts_;
  std::uint64_t ops_ = 0;
};

}  // namespace

absl::StatusOr<FileRecord> ReadInspector(ByteSource source, std::uint64_t max_ops,
                                         std::size_t chunk_bytes) {
  Reader reader(max_ops);
  auto record = ReadObjects(
      source, chunk_bytes, max_ops, [&] { return reader.full(); },
      [&](const object& line) { return reader.Take(line); });
  if (record.ok()) record->parts = reader.TakeParts();
  return record;
}

}  // namespace fathom::collector::nccl
