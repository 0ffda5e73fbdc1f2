#include "collector/import/nccl/profiler_trace_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/import/nccl/json_objects.h"
#include "proto/types/bounds.h"

namespace fathom::collector::nccl {
namespace {

using simdjson::dom::object;

// A trace begins at 0, which means "not known" elsewhere.
constexpr double kBeginNs = 1e9;
constexpr double kLatestUs = 1e13;  // some 100 days

// The plugin prints 0 for what has not happened.
std::int64_t TimeOf(const object& event) {
  double us = 0;
  if (event["ts"].get(us) != simdjson::SUCCESS || !(us > 0 && us < kLatestUs)) return 0;
  return std::llround(us * 1e3 + kBeginNs);
}

std::uint64_t CountIn(const object& args) {
  std::uint64_t count = 0;
  if (args["Count"].get(count) != simdjson::SUCCESS) return 0;
  const std::uint64_t each = BytesOfType(TextIn(args, "Datatype"));
  return each > 0 && count > std::numeric_limits<std::uint64_t>::max() / each ? 0 : count * each;
}

std::string HashIn(const object& args) {
  std::uint64_t hash = 0;
  return args["CommHash"].get(hash) == simdjson::SUCCESS ? absl::StrCat(hash) : std::string();
}

// Since NCCL 2.28 events of the API and of launches are no JSON: they name types without quotes and
// streams as hexadecimal numbers. Nothing in them is used.
bool IsOfApi(std::string_view text) {
  for (const std::string_view category : {"_API\"", "\"KERNEL_LAUNCH\""}) {
    if (text.find(category) != std::string_view::npos) return true;
  }
  return false;
}

class Reader {
 public:
  explicit Reader(std::uint64_t max_ops) : max_ops_(max_ops) {}

  bool Take(const object& event) {
    if (event.size() == 0) return true;  // stands at the end of every trace
    const std::string_view category = TextIn(event, "cat"), phase = TextIn(event, "ph");
    if (category.empty() || (phase != "b" && phase != "e")) return false;
    const bool begins = phase == "b";
    if (category == "COLL" || category == "P2P") return begins ? Begin(event, category) : End();
    if (category == "GPU" && TextIn(event, "name") == "KernelCh") Kernel(event, begins);
    return true;
  }

  std::vector<CommPart> TakeParts() { return TakeValues(parts_); }
  bool full() const { return ops_ > max_ops_; }

 private:
  bool Begin(const object& event, std::string_view category) {
    part_ = nullptr;
    op_ = {};
    object args;
    if (event["args"].get(args) != simdjson::SUCCESS) return false;
    const std::string hash = HashIn(args);
    const std::int64_t rank = SmallIn(args, "Rank");
    const std::int64_t pid = IntegerIn(event, "pid");
    op_.kind = KindOfFunction(TextIn(event, "name"));
    op_.number = category == "COLL" ? IntegerIn(args, "SeqNum") : kUnknown;
    op_.peer = SmallIn(args, "Peer");
    op_.bytes = CountIn(args);
    const bool numbered = IsPointToPoint(op_.kind) || op_.number >= 0;
    if (hash.empty() || rank < 0 || op_.kind == CollectiveKind::kUnknown || !numbered) return false;
    part_ = &parts_[{pid, hash, rank}];
    part_->pid = static_cast<std::uint64_t>(std::max<std::int64_t>(pid, 0));
    part_->comm = hash;
    part_->rank = static_cast<std::uint32_t>(rank);
    return true;
  }

  void Kernel(const object& event, bool begins) {
    if (part_ == nullptr) return;
    const std::int64_t time = TimeOf(event);
    if (!begins) {
      op_.end_ns = std::max(op_.end_ns, time);
      return;
    }
    if (time > 0) op_.start_ns = op_.start_ns == 0 ? time : std::min(op_.start_ns, time);
    object args;
    if (event["args"].get(args) != simdjson::SUCCESS) return;
    const std::int64_t begin = IntegerIn(args, "StartGpuClk", 0);
    const std::int64_t end = IntegerIn(args, "StopGpuClk", 0);
    if (begin <= 0 || end < begin || end > kFarWallNs) return;  // not told, or lost
    op_.gpu_begin_ns = op_.gpu_begin_ns == 0 ? begin : std::min(op_.gpu_begin_ns, begin);
    op_.gpu_end_ns = std::max(op_.gpu_end_ns, end);
    op_.kernel_ns = op_.gpu_end_ns - op_.gpu_begin_ns;
  }

  bool End() {
    if (part_ == nullptr) return false;
    part_->ops.push_back(op_);
    part_ = nullptr;
    ++ops_;
    return true;
  }

  const std::uint64_t max_ops_;
  std::map<std::tuple<std::int64_t, std::string, std::int64_t>, CommPart> parts_;
  CommPart* part_ = nullptr;  // of the op that began last and has not ended
  OpRecord op_;
  std::uint64_t ops_ = 0;
};

}  // namespace

absl::StatusOr<FileRecord> ReadProfilerTrace(ByteSource source, std::uint64_t max_ops,
                                             std::size_t chunk_bytes) {
  Reader reader(max_ops);
  auto record = ReadObjects(
      source, chunk_bytes, max_ops, [&] { return reader.full(); },
      [&](const object& event) { return reader.Take(event); }, IsOfApi);
  if (record.ok()) record->parts = reader.TakeParts();
  return record;
}

}  // namespace fathom::collector::nccl
