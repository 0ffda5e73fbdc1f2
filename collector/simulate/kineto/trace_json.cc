#include "collector/simulate/kineto/trace_json.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fathom::simulate::kineto {
namespace {

constexpr std::uint32_t kHostThread = 4242;
constexpr double kBytesPerValue = 2;  // bf16
constexpr std::array<std::string_view, kDimensions> kDescriptions = {
    "TENSOR_MODEL_PARALLEL_GROUP", "CONTEXT_PARALLEL_GROUP",        "EXPERT_MODEL_PARALLEL_GROUP",
    "DATA_PARALLEL_GROUP",         "PIPELINE_MODEL_PARALLEL_GROUP", "default_pg"};

struct Named {
  std::string_view collective;  // as torch.distributed has it
  std::string_view kernel;
};

Named NamesOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllGather:
      return {"_allgather_base", "AllGather_RING_LL"};
    case CollectiveKind::kReduceScatter:
      return {"_reduce_scatter_base", "ReduceScatter_Sum_bf16_RING_LL"};
    case CollectiveKind::kAllToAll:
      return {"all_to_allv", "SendRecv"};
    case CollectiveKind::kSend:
      return {"send", "SendRecv"};
    case CollectiveKind::kRecv:
      return {"recv", "SendRecv"};
    default:
      return {"allreduce", "AllReduce_Sum_bf16_RING_LL"};
  }
}

std::string RanksText(const std::vector<std::uint32_t>& ranks) {
  std::string text = "[";
  for (const std::uint32_t rank : ranks) absl::StrAppend(&text, text.size() > 1 ? ", " : "", rank);
  return text + "]";
}

class Writer {
 public:
  Writer(const JobPlay& job, std::uint32_t rank, double shift_us, std::uint32_t gpus_per_node)
      : job_(job), rank_(rank), shift_us_(shift_us), device_(rank % gpus_per_node) {}

  std::string Write() {
    out_ = absl::StrFormat(
        R"({"schemaVersion": 1, "deviceProperties": [], "distributedInfo": {"backend": "nccl", )"
        R"("rank": %d, "world_size": %d, "pg_config": [%s]}, "host_name": "%s", )"
        R"("baseTimeNanoseconds": 1790857026000000000, "traceEvents": [)",
        rank_, job_.layout().world(), Groups(), NodeName(job_.layout().NodeOf(rank_)));
    std::vector<const Event*> events;
    for (const Event& event : job_.rank(rank_).events()) events.push_back(&event);
    std::stable_sort(events.begin(), events.end(),
                     [](const Event* a, const Event* b) { return a->begin_us < b->begin_us; });
    for (const Event* event : events) Put(*event);
    absl::StrAppend(&out_, "\n]}\n");
    return std::move(out_);
  }

 private:
  // Groups are named by one number through all dimensions, the group of all ranks first.
  std::uint32_t NumberOf(Dimension dimension, std::uint32_t group) const {
    if (dimension == Dimension::kWorld) return 0;
    std::uint32_t number = 1 + group;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d) {
      const auto before = static_cast<Dimension>(d);
      if (job_.layout().InUse(before)) number += job_.layout().GroupCount(before);
    }
    return number;
  }

  std::string Groups() const {
    std::string text;
    for (std::size_t d = 0; d < kDimensions; ++d) {
      const auto dimension = static_cast<Dimension>(d);
      if (dimension != Dimension::kWorld && !job_.layout().InUse(dimension)) continue;
      const std::uint32_t group = job_.layout().GroupOf(dimension, rank_);
      const auto members = job_.layout().Members(dimension, group);
      absl::StrAppendFormat(&text,
                            R"(%s{"pg_name": "%d", "pg_desc": "%s", "pg_size": %d, )"
                            R"("ranks": %s})",
                            text.empty() ? "" : ", ", NumberOf(dimension, group), kDescriptions[d],
                            members.size(), RanksText(members));
    }
    return text;
  }

  std::string Metadata(const Event& event) {
    const Op& op = *event.op;
    const auto members = job_.layout().Members(op.dimension, op.group);
    const double size = event.peer >= 0 ? 1 : static_cast<double>(op.size);
    const double values = static_cast<double>(op.bytes) / kBytesPerValue;
    const bool gathers = event.kind == CollectiveKind::kAllGather;
    const bool scatters = event.kind == CollectiveKind::kReduceScatter;
    std::string text = absl::StrFormat(
        R"("Collective name": "%s", "In msg nelems": %.0f, "Out msg nelems": %.0f, )"
        R"("Group size": %d, "dtype": "BFloat16", "Process Group Name": "%d", )"
        R"("Process Group Description": "%s", "Process Group Ranks": "%s")",
        NamesOf(event.kind).collective, gathers ? values / size : values,
        scatters ? values / size : values, members.size(), NumberOf(op.dimension, op.group),
        kDescriptions[static_cast<std::size_t>(op.dimension)], RanksText(members));
    if (event.peer >= 0) {
      const bool sends = event.kind == CollectiveKind::kSend;
      absl::StrAppendFormat(&text, R"(, "Src Rank": %d, "Dst Rank": %d)",
                            sends ? rank_ : event.peer, sends ? event.peer : rank_);
    }
    return text;
  }

  void Begin(std::string_view category, std::string_view name, std::uint32_t process,
             std::uint32_t thread, const Event& event, double us) {
    absl::StrAppendFormat(
        &out_,
        R"(%s{"ph": "X", "cat": "%s", "name": "%s", "pid": %d, "tid": %d, "ts": %.3f, "dur": %.3f, )"
        R"("args": {)",
        first_ ? "\n" : ",\n", category, name, process, thread, event.begin_us + shift_us_, us);
    first_ = false;
  }

  void OnDevice(std::string_view category, std::string_view name, const Event& event, double us,
                const std::string& more) {
    Begin(category, name, device_, event.stream, event, us);
    absl::StrAppendFormat(&out_,
                          R"("device": %d, "context": 1, "stream": %d, "correlation": %d%s}})",
                          device_, event.stream, event.correlation, more);
  }

  void OnHost(std::string_view category, std::string_view name, const Event& event,
              const std::string& more) {
    Begin(category, name, kHostThread, kHostThread, event, event.us);
    absl::StrAppend(&out_, more, "}}");
  }

  void Put(const Event& event) {
    switch (event.what) {
      case Event::What::kRuntime:
        return OnHost("cuda_runtime", event.name, event,
                      absl::StrCat(R"("cbid": 211, "correlation": )", event.correlation));
      case Event::What::kOperator:
        return OnHost("cpu_op", event.name, event, "");
      case Event::What::kHost:
        return OnHost("user_annotation", event.name, event, "");
      case Event::What::kStep:
        return OnHost("user_annotation", absl::StrCat("ProfilerStep#", event.correlation), event,
                      "");
      case Event::What::kKernel:
        return OnDevice("kernel", event.name, event, event.us,
                        absl::StrFormat(R"(, "grid": [%d, 1, 1], "block": [256, 1, 1], )"
                                        R"("registers per thread": 64)",
                                        event.blocks));
      case Event::What::kCopy:
        return OnDevice("gpu_memcpy", event.name, event, event.us,
                        absl::StrCat(R"(, "bytes": )", event.blocks));
      case Event::What::kParams: {
        std::string given = Metadata(event);
        if (event.peer < 0) {
          const auto group = NumberOf(event.op->dimension, event.op->group);
          absl::StrAppendFormat(&given, R"(, "Seq": %d)", ++sequence_[group]);
        }
        return OnHost("cpu_op", "record_param_comms", event, given);
      }
      case Event::What::kOp:
        return OnDevice(
            "kernel",
            absl::StrCat("ncclDevKernel_", std::string(NamesOf(event.kind).kernel),
                         "(ncclDevKernelArgsStorage<4096ul>)"),
            event, event.op->end_us - event.begin_us,
            absl::StrCat(R"(, "grid": [16, 1, 1], "block": [544, 1, 1], )", Metadata(event)));
    }
  }

  const JobPlay& job_;
  const std::uint32_t rank_;
  const double shift_us_;
  const std::uint32_t device_;
  std::map<std::uint32_t, std::uint64_t> sequence_;  // by group
  bool first_ = true;
  std::string out_;
};

}  // namespace

std::string TraceJson(const JobPlay& job, std::uint32_t rank, double shift_us,
                      std::uint32_t gpus_per_node) {
  return Writer(job, rank, shift_us, gpus_per_node).Write();
}

}  // namespace fathom::simulate::kineto
