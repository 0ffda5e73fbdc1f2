#include "daemon/agent/session/orders.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/agent/session/rank_messages.h"

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxPatienceNs = 600'000'000'000;
constexpr std::int64_t kStackPatienceNs = 15'000'000'000;
constexpr std::size_t kMaxAwaitedStacks = 1024;
constexpr char kNotHere[] = "not on this node";

std::int64_t DeadlineOf(std::int64_t patience_ns, std::int64_t now_ns) {
  return now_ns + std::clamp<std::int64_t>(patience_ns, 0, kMaxPatienceNs);
}

}  // namespace

void Orders::OpenWindow(const v1::WindowRequest& request, std::int64_t now_ns) {
  WindowOrder order;
  order.open_sequence = request.open_sequence();
  order.close_sequence = request.close_sequence();
  order.deadline_ns = DeadlineOf(request.patience_ns(), now_ns);
  order.sources = abi::kSourceCupti;
  for (const std::uint32_t rank : request.ranks()) {
    RankSession* session = find_(request.job(), rank);
    const absl::Status asked =
        session == nullptr
            ? absl::NotFoundError(kNotHere)
            : session->AskWindow(request.request_id(), GroupId(request.group()), order);
    if (asked.ok()) continue;
    v1::RankWindow refused;
    refused.set_rank(rank);
    refused.set_state("refused");
    refused.set_reason(std::string(asked.message()));
    SendWindow(request.job(), request.request_id(), std::move(refused));
  }
}

void Orders::Switch(const v1::TraceOrder& order, std::int64_t now_ns) {
  SwitchWords words;
  words.at_sequence = order.at_sequence();
  words.sources_disabled = order.sources_disabled() & abi::kSwitchableSources;
  words.plugin_mask = order.plugin_mask();
  const std::int64_t deadline_ns = DeadlineOf(order.patience_ns(), now_ns);
  for (const std::uint32_t rank : order.ranks()) {
    RankSession* session = find_(order.job(), rank);
    const absl::Status asked =
        session == nullptr
            ? absl::NotFoundError(kNotHere)
            : session->AskSwitch(order.request_id(), GroupId(order.group()), words, deadline_ns);
    if (asked.ok()) continue;
    SendTrace(order.job(), rank, {order.request_id(), "refused", std::string(asked.message()), 0});
  }
}

void Orders::Report(RankSession& session, std::int64_t now_ns) {
  const std::optional<WindowOutcome> window = session.TakeWindow(now_ns);
  const std::vector<SwitchOutcome> switches = session.TakeSwitches(now_ns);
  if (!session.rank_known()) return;
  const std::string& job = session.identity().job;
  if (window) SendWindow(job, window->request_id, RankWindowOf(session, *window));
  for (const SwitchOutcome& outcome : switches) SendTrace(job, session.identity().rank, outcome);
}

void Orders::ReadStacks(const v1::StackRequest& request, std::int64_t now_ns) {
  if (stack_tool_ != nullptr && sampler_ == nullptr) {
    sampler_ = std::make_unique<StackSampler>(stack_tool_);
  }
  for (const std::uint32_t rank : request.ranks()) {
    const RankSession* session = find_(request.job(), rank);
    AwaitedStack awaited{request.request_id(), request.job(), rank, "", now_ns + kStackPatienceNs};
    v1::RankStack refused;
    if (sampler_ == nullptr) refused.set_error("this agent reads no stacks");
    if (session == nullptr || session->retired()) refused.set_error(kNotHere);
    if (session != nullptr && session->unseen()) refused.set_error("its process cannot be seen");
    if (awaited_.size() >= kMaxAwaitedStacks) refused.set_error("too many are waiting");
    if (!refused.error().empty()) {
      SendStack(awaited, std::move(refused));
      continue;
    }
    awaited.key = absl::StrCat(request.request_id(), "/", session->name());
    sampler_->Want(awaited.key, session->identity().pid, {1}, now_ns);
    awaited_.push_back(std::move(awaited));
  }
}

void Orders::CaptureWith(std::string program, CaptureRunner::Tool tool) {
  capture_program_ = std::move(program);
  captures_ = std::make_unique<CaptureRunner>(std::move(tool));
}

std::string Orders::PlanOf(const v1::CaptureRequest& request, std::uint32_t rank,
                           std::int64_t now_ns, RecordingPlan& plan) {
  const RankSession* session = find_(request.job(), rank);
  if (session == nullptr || session->retired()) return kNotHere;
  if (session->unseen()) return "its process cannot be seen";
  plan = {.program = capture_program_,
          .pid = session->identity().pid,
          .thread = session->training_thread(),
          .seconds = request.seconds(),
          .rate = request.rate(),
          .native = request.native(),
          .workers = request.workers()};
  if (request.cues().empty()) return "";
  const auto cue = std::find_if(request.cues().begin(), request.cues().end(),
                                [&](const v1::CaptureCue& each) { return each.rank() == rank; });
  if (cue == request.cues().end()) return "no iterations were named to it";
  const CueOrder order{request.job(),         rank,
                       GroupId(cue->group()), cue->open_sequence(),
                       cue->close_sequence(), DeadlineOf(request.patience_ns(), now_ns)};
  if (!session->NewestSequence(order.group)) return "it is not in the group that was named";
  plan.cue = cues_.Add(order);
  return "";
}

void Orders::LimitRate(double seconds, std::int64_t now_ns,
                       std::vector<CaptureRunner::Task>& tasks) const {
  const std::uint32_t rate = capture_rate_(tasks.size(), seconds, tasks.front().plan.rate, now_ns);
  for (CaptureRunner::Task& task : tasks) task.plan.rate = rate;
}

void Orders::Capture(const v1::CaptureRequest& request, std::int64_t now_ns) {
  const bool busy = captures_ != nullptr && captures_->busy();
  std::vector<CaptureRunner::Task> tasks;
  v1::CaptureReply refused;
  for (const std::uint32_t rank : request.ranks()) {
    CaptureRunner::Task task{rank, {}};
    std::string why;
    if (captures_ == nullptr) why = "this agent reads no stacks";
    if (busy) why = "another capture is under way on this node";
    if (tasks.size() >= CaptureRunner::kMostProcesses) why = "too many processes at once";
    if (why.empty()) why = PlanOf(request, rank, now_ns, task.plan);
    if (why.empty()) {
      tasks.push_back(std::move(task));
      continue;
    }
    v1::RankCapture& told = *refused.add_ranks();
    told.set_rank(rank);
    told.set_state("refused");
    told.set_reason(why);
  }
  refused.set_request_id(request.request_id());
  refused.set_job(request.job());
  if (!busy) {
    capture_head_.set_request_id(request.request_id());
    capture_head_.set_job(request.job());
    if (!tasks.empty()) {
      if (capture_rate_) LimitRate(request.seconds(), now_ns, tasks);
      captures_->Begin(std::move(tasks));
    }
  }
  if (refused.ranks_size() == 0) return;
  v1::AgentMessage message;
  *message.mutable_capture() = std::move(refused);
  outbox_.PutDurable(std::move(message));
}

void Orders::ReportCaptures(std::int64_t now_ns, const Keep& keep) {
  if (captures_ == nullptr) return;
  cues_.Look(now_ns, [this](const CueOrder& order) {
    const RankSession* session = find_(order.job, order.rank);
    return session == nullptr ? std::nullopt : session->NewestSequence(order.group);
  });
  for (v1::RankCapture& capture : captures_->Take()) SendCapture(std::move(capture), keep);
}

void Orders::SendCapture(v1::RankCapture capture, const Keep& keep) {
  v1::AgentMessage message;
  *message.mutable_capture() = capture_head_;
  *message.mutable_capture()->add_ranks() = std::move(capture);
  if (keep) keep(message);
  outbox_.PutDurable(std::move(message));
}

void Orders::ReportStacks(std::int64_t now_ns) {
  std::erase_if(awaited_, [&](const AwaitedStack& awaited) { return Answer(awaited, now_ns); });
}

bool Orders::Answer(const AwaitedStack& awaited, std::int64_t now_ns) {
  const std::optional<StackView> seen = sampler_->Latest(awaited.key);
  if (!seen && now_ns <= awaited.deadline_ns) return false;
  v1::RankStack stack;
  stack.set_error(seen ? seen->error : "no stack could be read in time");
  if (seen && seen->samples > 0) *stack.mutable_stack() = StackSampleOf(*seen);
  SendStack(awaited, std::move(stack));
  sampler_->Forget(awaited.key);
  return true;
}

void Orders::SendWindow(const std::string& job, std::uint64_t request_id, v1::RankWindow window) {
  v1::AgentMessage message;
  message.mutable_window()->set_request_id(request_id);
  message.mutable_window()->set_job(job);
  *message.mutable_window()->add_ranks() = std::move(window);
  outbox_.PutDurable(std::move(message));
}

void Orders::SendTrace(const std::string& job, std::uint32_t rank, const SwitchOutcome& outcome) {
  v1::AgentMessage message;
  message.mutable_trace()->set_request_id(outcome.request_id);
  message.mutable_trace()->set_job(job);
  v1::RankTrace& told = *message.mutable_trace()->add_ranks();
  told.set_rank(rank);
  told.set_state(outcome.state);
  told.set_reason(outcome.reason);
  told.set_at_sequence(outcome.at_sequence);
  outbox_.PutDurable(std::move(message));
}

void Orders::SendStack(const AwaitedStack& of, v1::RankStack stack) {
  v1::AgentMessage message;
  message.mutable_stacks()->set_request_id(of.request_id);
  message.mutable_stacks()->set_job(of.job);
  stack.set_rank(of.rank);
  *message.mutable_stacks()->add_ranks() = std::move(stack);
  outbox_.PutDurable(std::move(message));
}

}  // namespace fathom::agent
