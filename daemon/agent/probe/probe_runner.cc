#include "daemon/agent/probe/probe_runner.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/agent/source/stack/tool_process.h"
#include "proto/types/probe_time.h"

namespace fathom::agent {
namespace {

constexpr std::size_t kMostBytes = 256 << 10;

std::string ProgramPath(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = self.parent_path() / program;
  return !error && std::filesystem::exists(beside, error) ? beside.string() : program;
}

ToolPlan PlanOf(const std::string& program, const v1::ProbeOrder& order, double most_seconds,
                std::uint32_t memory_mib) {
  const double seconds = std::min(most_seconds, ProbeSeconds(order.full(), order.seconds()));
  const std::uint32_t memory = order.memory_mib() > 0 ? order.memory_mib() : memory_mib;
  ToolPlan plan;
  // Nothing is wrong with the program where it found something.
  plan.command = {ProgramPath(program), "--with-parent", "--exit-zero"};
  if (memory > 0) {
    plan.command.insert(plan.command.end(), {"--memory-mib", absl::StrCat(memory)});
  }
  if (order.full()) plan.command.push_back("--full");
  if (order.seconds() > 0) {
    plan.command.insert(plan.command.end(), {"--seconds", absl::StrCat(seconds)});
  }
  if (!order.probes().empty()) {
    plan.command.insert(plan.command.end(), {"--probes", order.probes()});
  }
  const double patience_s = ProbeProgramSeconds(seconds);
  plan.patience = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * patience_s));
  plan.most_bytes = kMostBytes;
  return plan;
}

}  // namespace

ProbeRunner::~ProbeRunner() {
  Stop("the agent ends");
  End();
}

void ProbeRunner::End() {
  if (thread_.joinable()) thread_.join();
}

bool ProbeRunner::busy() const {
  const service::MutexLock lock(mutex_);
  return running_ || done_.has_value();
}

void ProbeRunner::Begin(const v1::ProbeOrder& order, std::int64_t now_wall_ns) {
  End();
  {
    const service::MutexLock lock(mutex_);
    running_ = true;
    stopped_because_.clear();
  }
  stop_.store(false);
  thread_ = std::thread([this, order, now_wall_ns] { Run(order, now_wall_ns); });
}

void ProbeRunner::Stop(const std::string& why) {
  const service::MutexLock lock(mutex_);
  if (!running_ || stop_.exchange(true)) return;
  stopped_because_ = why;
}

void ProbeRunner::Run(const v1::ProbeOrder& order, std::int64_t began_wall_ns) {
  const absl::StatusOr<std::string> lines = tool_(order, stop_);
  v1::ProbeAnswer answer;
  answer.set_request_id(order.request_id());
  answer.set_began_wall_ns(began_wall_ns);
  const service::MutexLock lock(mutex_);
  if (!stopped_because_.empty()) {
    answer.set_refused(stopped_because_);
  } else if (lines.ok()) {
    answer.set_lines(*lines);
  } else {
    answer.set_refused(absl::StrCat("fathom-probe: ", lines.status().message()));
  }
  done_ = std::move(answer);
  running_ = false;
}

std::optional<v1::ProbeAnswer> ProbeRunner::Take() {
  const service::MutexLock lock(mutex_);
  return std::exchange(done_, std::nullopt);
}

ProbeRunner::Tool ProbeToolOf(const std::string& program, double most_seconds,
                              std::uint32_t memory_mib) {
  return [=](const v1::ProbeOrder& order, const std::atomic<bool>& stop) {
    return RunTool(PlanOf(program, order, most_seconds, memory_mib), stop);
  };
}

}  // namespace fathom::agent
