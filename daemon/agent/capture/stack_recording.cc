#include "daemon/agent/capture/stack_recording.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string_view>
#include <thread>

#include "absl/strings/str_cat.h"
#include "daemon/agent/capture/busy_threads.h"
#include "daemon/agent/capture/sampled_stacks.h"
#include "daemon/agent/capture/stack_patterns.h"
#include "daemon/agent/capture/thread_doing.h"
#include "daemon/agent/source/process/thread_sampler.h"
#include "daemon/agent/source/stack/stack_text.h"
#include "daemon/agent/source/stack/tool_process.h"

namespace fathom::agent {
namespace {

constexpr std::chrono::milliseconds kLookEvery{20};
constexpr std::chrono::milliseconds kStartUp{10'000};  // of py-spy, on a machine that is busy
constexpr std::size_t kMostRawBytes = 32 << 20;

absl::Status CheckWatched(const KernelRoots& roots, std::uint32_t pid) {
  const auto status = ReadSmallFile(absl::StrCat(roots.proc, "/", pid, "/status"));
  if (!status.ok()) return absl::NotFoundError("the process is gone");
  const std::uint64_t tracer = NumberAfter(*status, "TracerPid").value_or(0);
  if (tracer == 0) return absl::OkStatus();
  const auto name = ReadSmallFile(absl::StrCat(roots.proc, "/", tracer, "/comm"));
  const std::string_view known = name.ok() ? std::string_view(*name) : "";
  return absl::FailedPreconditionError(absl::StrCat(
      "another tool watches this process: ", CleanFrame(known.substr(0, known.find('\n'))),
      " (pid ", tracer, ")"));
}

ToolPlan ToolPlanOf(const RecordingPlan& plan, int seconds, std::uint32_t rate) {
  std::vector<std::string> command = {plan.program,
                                      "record",
                                      "--idle",
                                      "--threads",
                                      "--full-filenames",
                                      "--format",
                                      "speedscope",
                                      "--rate",
                                      std::to_string(rate),
                                      "--duration",
                                      std::to_string(seconds),
                                      "--output",
                                      "/dev/stdout",
                                      "--pid",
                                      std::to_string(plan.pid)};
  command.push_back(plan.native ? "--native" : "--nonblocking");
  if (plan.workers) command.push_back("--subprocesses");
  return {.command = std::move(command),
          .patience = std::chrono::seconds(seconds) + kStartUp,
          .most_bytes = kMostRawBytes,
          .every = kLookEvery};
}

// Until it is to begin.
absl::Status Await(const RecordingPlan& plan, const std::atomic<bool>& stop) {
  constexpr std::chrono::milliseconds kLook{2};
  if (plan.cue == nullptr) return absl::OkStatus();
  while (plan.cue->state == RecordingCue::kWait && !stop) std::this_thread::sleep_for(kLook);
  if (plan.cue->state == RecordingCue::kRecord) return absl::OkStatus();
  return absl::DeadlineExceededError("it did not come to these iterations in time");
}

absl::Status Explained(const absl::Status& status) {
  if (absl::IsNotFound(status)) {
    return absl::NotFoundError("py-spy is not on the agent's PATH (--stack-tool)");
  }
  if (!absl::IsInternal(status)) return status;
  return absl::InternalError(
      absl::StrCat("py-spy: ", ExplainStackError(std::string(status.message()))));
}

// How much of the time since it was made a thread has waited for a core.
class CoreWait {
 public:
  CoreWait(const KernelRoots& roots, const RecordingPlan& plan)
      : times_(roots, plan.pid), thread_(plan.thread), before_(times_.Read(thread_)) {}

  // 0: it has not, or nothing tells.
  double Share() {
    const std::optional<ThreadTimes> now = times_.Read(thread_);
    const std::chrono::duration<double, std::nano> lasted =
        std::chrono::steady_clock::now() - began_;
    if (!before_ || !now || lasted.count() <= 0) return 0;
    const auto waited = static_cast<double>(now->runqueue_ns - before_->runqueue_ns);
    return std::clamp(waited / lasted.count(), 0.0, 1.0);
  }

 private:
  ThreadSampler times_;
  const std::uint32_t thread_;
  const std::optional<ThreadTimes> before_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

absl::Status TellStacks(std::string_view text, std::uint32_t thread,
                        const std::set<std::uint32_t>& busy, v1::RankCapture& out) {
  const std::optional<SampledThreads> threads = ParseSampled(text, thread, busy);
  if (!threads) return absl::InternalError("what py-spy wrote cannot be read");
  const std::size_t for_workers = threads->workers.stacks.empty() ? 0 : kWorkerPatternBytes;
  const std::size_t for_beside = threads->beside.stacks.empty() ? 0 : kBesidePatternBytes;
  ReduceStacks(threads->training, kMaxPatternBytes - for_workers - for_beside, out);
  out.set_worker_samples(
      ReduceOthers(threads->workers, for_workers, out, *out.mutable_worker_stacks()));
  out.set_beside_samples(
      ReduceOthers(threads->beside, for_beside, out, *out.mutable_beside_stacks()));
  if (out.samples() == 0) return absl::InternalError("py-spy saw no Python frame of the thread");
  out.set_raw_bytes(text.size());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::RankCapture> RecordStacks(const RecordingPlan& plan, const KernelRoots& roots,
                                             const std::atomic<bool>& stop) {
  if (absl::Status watched = CheckWatched(roots, plan.pid); !watched.ok()) return watched;
  if (absl::Status begins = Await(plan, stop); !begins.ok()) return begins;
  const bool cued = plan.cue != nullptr;
  const double wanted =
      cued ? kMaxRecordingSeconds : std::clamp(plan.seconds, 1.0, kMaxRecordingSeconds);
  const auto seconds = static_cast<int>(std::ceil(wanted));
  v1::RankCapture out;
  ToolPlan tool = ToolPlanOf(plan, seconds, std::clamp(plan.rate, 1u, kMaxRecordingRate));
  tool.between = [&] {
    const auto doing = DoingNow(roots, plan.pid, plan.thread);
    if (doing) ++(*out.mutable_doing())[std::string(*doing)];
  };
  CoreWait core_wait(roots, plan);
  const BusyThreads busy(roots, plan.pid);
  const auto began = std::chrono::steady_clock::now();
  std::chrono::duration<double> lasted(seconds);
  if (cued) {
    tool.enough = [&] {
      lasted = std::chrono::steady_clock::now() - began;
      return plan.cue->state != RecordingCue::kRecord;
    };
  }
  const absl::StatusOr<std::string> text = RunTool(tool, stop);
  if (!text.ok()) return Explained(text.status());
  out.set_core_wait(core_wait.Share());
  if (absl::Status told = TellStacks(*text, plan.thread, busy.Take(plan.thread), out); !told.ok())
    return told;
  out.set_source("py-spy");
  out.set_seconds(std::min(lasted.count(), wanted));
  out.set_native(plan.native);
  return out;
}

}  // namespace fathom::agent
