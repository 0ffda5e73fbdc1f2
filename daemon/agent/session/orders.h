// Carries out what the centre orders of ranks of this node: windows of detail, sources switched off
// and on, stacks, captures of stacks.
//
// Owned by Agent. Model: a request names a job and ranks; whatever is known at once to be
// impossible is answered at once, the rest as it happens: Report is called for each session a few
// times a second, and once more when its process is gone.
//
// Units: CLOCK_MONOTONIC ns. Thread-safety: the poll loop's. Ownership: refers to the outbox; owns
// the sampler of stacks, made with the first request for one, and what runs captures.
// Errors: go up as answers, in words. Cost: nothing while nothing is ordered.
#ifndef FATHOM_DAEMON_AGENT_SESSION_ORDERS_H_
#define FATHOM_DAEMON_AGENT_SESSION_ORDERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/agent/capture/capture_runner.h"
#include "daemon/agent/session/capture_cues.h"
#include "daemon/agent/session/rank_session.h"
#include "daemon/agent/source/stack/stack_sampler.h"
#include "daemon/agent/uplink/outbox.h"
#include "fathom/v1/capture.pb.h"
#include "fathom/v1/trace.pb.h"
#include "fathom/v1/window.pb.h"

namespace fathom::agent {

class Orders {
 public:
  // The newest session of a rank; null: none on this node.
  using Find = std::function<RankSession*(const std::string& job, std::uint32_t rank)>;

  // Is shown what goes up; may be empty.
  using Keep = std::function<void(const v1::AgentMessage& message)>;

  Orders(Find find, Outbox& outbox) : find_(std::move(find)), outbox_(outbox) {}
  // Without it stacks are not read here.
  void ReadStacksWith(StackSampler::Tool tool) { stack_tool_ = std::move(tool); }

  // Likewise captures; `program`: py-spy.
  void CaptureWith(std::string program, CaptureRunner::Tool tool);

  // What a capture of so many processes may sample a second, of what was asked.
  using CaptureRate = std::function<std::uint32_t(std::size_t processes, double seconds,
                                                  std::uint32_t asked, std::int64_t now_ns)>;
  void LimitCaptures(CaptureRate rate) { capture_rate_ = std::move(rate); }

  void OpenWindow(const v1::WindowRequest& request, std::int64_t now_ns);
  void Switch(const v1::TraceOrder& order, std::int64_t now_ns);
  void ReadStacks(const v1::StackRequest& request, std::int64_t now_ns);
  void Capture(const v1::CaptureRequest& request, std::int64_t now_ns);

  void Report(RankSession& session, std::int64_t now_ns);
  // Stacks that have been read meanwhile.
  void ReportStacks(std::int64_t now_ns);
  // Likewise captures, where each is handed to `keep` before; begins and ends those that wait for
  // their iterations.
  void ReportCaptures(std::int64_t now_ns, const Keep& keep);

 private:
  struct AwaitedStack {
    std::uint64_t request_id = 0;
    std::string job;
    std::uint32_t rank = 0;
    std::string key;  // in the sampler
    std::int64_t deadline_ns = 0;
  };

  void SendWindow(const std::string& job, std::uint64_t request_id, v1::RankWindow window);
  void SendTrace(const std::string& job, std::uint32_t rank, const SwitchOutcome& outcome);
  void SendStack(const AwaitedStack& of, v1::RankStack stack);
  // Why this rank is not captured; empty: it is, by `plan`.
  std::string PlanOf(const v1::CaptureRequest& request, std::uint32_t rank, std::int64_t now_ns,
                     RecordingPlan& plan);
  void LimitRate(double seconds, std::int64_t now_ns,
                 std::vector<CaptureRunner::Task>& tasks) const;
  void SendCapture(v1::RankCapture capture, const Keep& keep);
  bool Answer(const AwaitedStack& awaited, std::int64_t now_ns);

  const Find find_;
  Outbox& outbox_;
  StackSampler::Tool stack_tool_;
  std::unique_ptr<StackSampler> sampler_;
  std::vector<AwaitedStack> awaited_;
  std::string capture_program_;
  CaptureRate capture_rate_;
  CaptureCues cues_;
  std::unique_ptr<CaptureRunner> captures_;
  v1::CaptureReply capture_head_;  // of the answers to the one under way
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_ORDERS_H_
