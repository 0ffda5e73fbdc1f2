#include "tests/collector/import/kineto/gpu_job.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace fathom::collector::kineto {
namespace {

constexpr int kHost = 4242;
constexpr int kComputeStream = 7;
constexpr int kNcclStream = 20;
constexpr int kBuckets = 4;

struct Reduction {
  double ready = 0;  // on the device
  double launched = 0;
  int correlation = 0;
  int external_id = 0;
  int sequence = 0;
};

struct Rank {
  int number = 0;
  double host = 1000;
  double device = 0;
  double nccl = 0;
  double apart = 0;  // of its clock
  double step_begin = 0;
  int ids = 100;
  int launches = 100;  // where these count by themselves
  int sequence = 0;
  std::vector<Reduction> reductions;
  std::vector<std::string> events;
};

class Player {
 public:
  explicit Player(const GpuJob& job) : job_(job), random_(job.seed) {
    for (int i = 0; i < job.ranks; ++i) {
      ranks_.emplace_back();
      ranks_.back().number = i;
      ranks_.back().apart = std::uniform_real_distribution<double>(0, 5000)(random_);
    }
  }

  std::vector<std::string> Play() {
    for (int step = 0; step < job_.steps; ++step) {
      for (Rank& rank : ranks_) Forward(rank, step);
      Reduce(step);
      for (Rank& rank : ranks_) Finish(rank, step);
    }
    std::vector<std::string> texts;
    for (const Rank& rank : ranks_) texts.push_back(TextOf(rank));
    return texts;
  }

 private:
  bool Old() const { return job_.style == TraceStyle::kOldest; }

  bool LaunchIds() const {
    return job_.style == TraceStyle::kLaunchIds || job_.style == TraceStyle::kRocm;
  }

  int NextLaunch(Rank& rank) const { return LaunchIds() ? ++rank.launches : ++rank.ids; }

  // What a launch and its work have in common, beside the id of the op.
  std::string Ids(int correlation, int op) const {
    const std::string external = absl::StrCat(R"("External id": )", LaunchIds() ? correlation : op);
    if (job_.style == TraceStyle::kRocm) return external;
    return absl::StrCat(external, R"(, "correlation": )", correlation);
  }

  bool IsSick(int step) const { return step >= job_.from_step && step < job_.until_step; }

  bool Faulty(const Rank& rank, int step, GpuFault fault) const {
    return job_.fault == fault && IsSick(step) && rank.number == job_.faulty_rank;
  }

  double Noise() { return std::uniform_real_distribution<double>(0.98, 1.02)(random_); }

  void Add(Rank& rank, const char* category, const std::string& name, int thread, double begin,
           double duration, const std::string& args) {
    const double base = Old() ? 1.6e15 : 0;
    rank.events.push_back(absl::StrFormat(
        R"({"ph": "X", "cat": "%s", "name": "%s", "pid": %d, "tid": %d, "ts": %.3f, "dur": %.3f, "args": {%s}})",
        category, name, thread == kHost ? kHost : rank.number, thread, base + begin + rank.apart,
        duration, args));
  }

  const char* KernelCategory() const { return Old() ? "Kernel" : "kernel"; }
  const char* RuntimeCategory() const { return Old() ? "Runtime" : "cuda_runtime"; }
  const char* OpCategory() const { return Old() ? "Operator" : "cpu_op"; }

  int Launch(Rank& rank, const char* name = "cudaLaunchKernel") {
    const int correlation = NextLaunch(rank);
    Add(rank, RuntimeCategory(), name, kHost, rank.host, 5,
        absl::StrCat(Ids(correlation, 1), R"(, "cbid": 211)"));
    rank.host += 5;
    return correlation;
  }

  std::string OnDevice(const Rank& rank, int stream, int correlation, int external_id) const {
    return absl::StrFormat(
        R"(%s, "queued": 0, "device": %d, "context": 1, "stream": %d, "grid": [128, 1, 1], "block": [256, 1, 1])",
        Ids(correlation, external_id), rank.number, stream);
  }

  void Compute(Rank& rank, int step, const char* kernel, double duration) {
    const int external_id = ++rank.ids;
    const double begin = rank.host;
    rank.host += 4;
    const int correlation = Launch(rank);
    const double launched = rank.host;
    rank.host += 3;
    Add(rank, OpCategory(), "aten::mm", kHost, begin, rank.host - begin,
        absl::StrCat(R"("External id": )", external_id));
    const double slower = Faulty(rank, step, GpuFault::kSlowGpu) ? 1.5 : 1;
    const double start = std::max(rank.device + 1, launched + 4);
    const double length = duration * slower * Noise();
    Add(rank, KernelCategory(), kernel, kComputeStream, start, length,
        OnDevice(rank, kComputeStream, correlation, external_id));
    rank.device = start + length;
  }

  void Copy(Rank& rank, const char* kind, double start, double length, int bytes, int correlation) {
    Add(rank, Old() ? "Memcpy" : "gpu_memcpy", kind, kComputeStream, start, length,
        absl::StrCat(OnDevice(rank, kComputeStream, correlation, 1), R"(, "bytes": )", bytes));
    rank.device = start + length;
  }

  void OnHost(Rank& rank, const char* category, const char* name, double length) {
    Add(rank, category, name, kHost, rank.host, length, "");
    rank.host += length;
  }

  void Forward(Rank& rank, int step) {
    rank.step_begin = rank.host;
    rank.reductions.clear();
    OnHost(rank, "user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
           Faulty(rank, step, GpuFault::kDataLoader) ? 60'000 : 200);
    if (Faulty(rank, step, GpuFault::kSlowHost)) {
      OnHost(rank, "python_function", "train.py(88): log_metrics", 60'000);
    }
    if (Faulty(rank, step, GpuFault::kCollector)) {
      OnHost(rank, "python_function", "<built-in function collect>", 60'000);
    }
    const int correlation = Launch(rank, "cudaMemcpyAsync");
    Copy(rank, "Memcpy HtoD (Pinned -> Device)", std::max(rank.device + 1, rank.host + 3), 50,
         600'000, correlation);
    for (int i = 0; i < 24; ++i) Compute(rank, step, "ampere_sgemm_128x64_nn", 500);
    for (int bucket = 0; bucket < kBuckets; ++bucket) {
      for (int i = 0; i < 12; ++i) Compute(rank, step, "ampere_sgemm_128x64_nt", 500);
      CallReduction(rank);
    }
  }

  std::string Metadata(int sequence) const {
    if (Old()) return "";
    std::vector<int> members;
    for (int i = 0; i < job_.ranks; ++i) members.push_back(i);
    std::string text = absl::StrCat(
        R"(, "Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576, )",
        R"("Group size": )", job_.ranks,
        R"(, "dtype": "Float", "Process Group Name": "0", "Process Group Description": )",
        R"("default_pg", "Process Group Ranks": "[)", absl::StrJoin(members, ", "), R"(]")");
    if (job_.style == TraceStyle::kNewest) absl::StrAppend(&text, R"(, "Seq": )", sequence);
    return text;
  }

  void CallReduction(Rank& rank) {
    Reduction one;
    one.sequence = ++rank.sequence;
    one.external_id = ++rank.ids;
    const double begin = rank.host;
    rank.host += 6;
    one.correlation = Launch(rank);
    one.launched = rank.host;
    one.ready = rank.device;
    rank.host += 3;
    Add(rank, OpCategory(), Old() ? "nccl:all_reduce" : "record_param_comms", kHost, begin,
        rank.host - begin,
        absl::StrCat(R"("External id": )", one.external_id, Metadata(one.sequence)));
    rank.reductions.push_back(one);
  }

  void Reduce(int step) {
    const bool slow = job_.fault == GpuFault::kSlowCommunication && IsSick(step);
    for (int bucket = 0; bucket < kBuckets; ++bucket) {
      std::vector<double> start;
      for (const Rank& rank : ranks_) {
        const Reduction& one = rank.reductions[static_cast<std::size_t>(bucket)];
        start.push_back(std::max({rank.nccl + 2, one.ready + 3, one.launched + 4}));
      }
      const double end =
          *std::max_element(start.begin(), start.end()) + 2000 * Noise() * (slow ? 6 : 1);
      for (std::size_t i = 0; i < ranks_.size(); ++i) {
        Rank& rank = ranks_[i];
        const Reduction& one = rank.reductions[static_cast<std::size_t>(bucket)];
        Add(rank, KernelCategory(),
            Old() ? "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)"
                  : "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            kNcclStream, start[i], end - start[i],
            OnDevice(rank, kNcclStream, one.correlation, one.external_id) +
                (LaunchIds() ? "" : Metadata(one.sequence)));
        rank.nccl = end;
      }
    }
  }

  void Finish(Rank& rank, int step) {
    rank.device = std::max(rank.device, rank.nccl);
    for (int i = 0; i < 4; ++i) Compute(rank, step, "multi_tensor_apply_kernel", 200);
    if (job_.host_waits) {
      const int correlation = NextLaunch(rank);
      const double begin = rank.host;
      const double end = std::max(rank.host + 10, rank.device + 20);
      Copy(rank, "Memcpy DtoH (Device -> Pageable)", end - 6, 2, 4, correlation);
      Add(rank, RuntimeCategory(), "cudaMemcpyAsync", kHost, begin, end - begin,
          Ids(correlation, 1));
      rank.host = end;
    }
    rank.host += 20;
    Add(rank, "user_annotation", absl::StrCat("ProfilerStep#", step), kHost, rank.step_begin,
        rank.host - rank.step_begin, "");
    if (!Old()) {
      Add(rank, "gpu_user_annotation", absl::StrCat("ProfilerStep#", step), kComputeStream,
          rank.step_begin + 50, rank.device - rank.step_begin, "");
    }
  }

  std::string TextOf(const Rank& rank) const {
    std::vector<int> members;
    for (int i = 0; i < job_.ranks; ++i) members.push_back(i);
    std::string header = absl::StrCat(
        R"({"schemaVersion": 1, "deviceProperties": [], "distributedInfo": {"backend": "nccl", )",
        R"("rank": )", rank.number, R"(, "world_size": )", job_.ranks);
    if (!Old()) {
      absl::StrAppend(&header, R"(, "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", )",
                      R"("pg_size": )", job_.ranks, R"(, "ranks": [)", absl::StrJoin(members, ", "),
                      "]}]");
    }
    absl::StrAppend(&header, "}, ");
    if (!Old()) absl::StrAppend(&header, R"("baseTimeNanoseconds": 1790857026000000000, )");
    return absl::StrCat(header, "\"traceEvents\": [\n", absl::StrJoin(rank.events, ",\n"), "\n]}");
  }

  GpuJob job_;
  std::mt19937 random_;
  std::vector<Rank> ranks_;
};

}  // namespace

std::vector<std::string> TracesOf(const GpuJob& job) { return Player(job).Play(); }

}  // namespace fathom::collector::kineto
