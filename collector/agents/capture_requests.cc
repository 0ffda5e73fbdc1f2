#include "collector/agents/capture_requests.h"

#include <utility>

#include "fathom/v1/capture.pb.h"

namespace fathom::collector {

absl::Status CaptureRequests::Ask(const JobState& job, const CaptureWish& wish) {
  const WallNs wall = clock_.Wall();
  const MonoNs mono = clock_.Mono();
  const service::MutexLock lock(mutex_);
  const std::uint64_t id = next_id_++;
  StackCaptures& captures = jobs_[job.name()];
  absl::StatusOr<std::vector<CaptureAsk>> asks;
  job.Read([&](const RankTable& ranks, const GroupTable&, const SummaryWindow& window) {
    asks = captures.Plan(id, wish, ranks, window, wall, mono);
  });
  if (!asks.ok()) return asks.status();
  for (const CaptureAsk& ask : *asks) {
    if (!Send(job, id, ask, wish)) captures.Refuse(ask, "its agent is out of reach");
  }
  return absl::OkStatus();
}

bool CaptureRequests::Send(const JobState& job, std::uint64_t id, const CaptureAsk& ask,
                           const CaptureWish& wish) const {
  const auto channel = registry_.ChannelOf(ask.node);
  if (channel == nullptr) return false;
  v1::CaptureRequest request;
  request.set_request_id(id);
  request.set_job(job.name());
  for (const RankId rank : ask.ranks) request.add_ranks(rank.value);
  request.set_seconds(wish.seconds);
  request.set_rate(wish.rate);
  request.set_patience_ns(ask.patience.count);
  request.set_native(wish.native);
  request.set_workers(wish.workers);
  for (const CaptureAsk::Cue& each : ask.cues) {
    v1::CaptureCue& cue = *request.add_cues();
    cue.set_rank(each.rank.value);
    cue.set_group(each.group.value);
    cue.set_open_sequence(each.open_sequence);
    cue.set_close_sequence(each.close_sequence);
  }
  return channel->SendCapture(request);
}

Rejection CaptureRequests::OnReply(std::string_view node, const v1::CaptureReply& reply) {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(reply.job());
  return at == jobs_.end() ? RejectReason::kUnasked : at->second.Take(reply, node);
}

bool CaptureRequests::UnderWay(const std::string& job) const {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  return at != jobs_.end() && at->second.UnderWay(clock_.Mono());
}

std::size_t CaptureRequests::BegunSince(const std::string& job, MonoNs since) const {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  return at == jobs_.end() ? 0 : at->second.BegunSince(since);
}

std::shared_ptr<const diagnosis::StackCapture> CaptureRequests::TakeFinished(
    const std::string& job) {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  return at == jobs_.end() ? nullptr : at->second.TakeFinished(clock_.Mono());
}

ShownCapture CaptureRequests::Shown(const std::string& job) const {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  return at == jobs_.end() ? ShownCapture() : at->second.Shown(clock_.Mono());
}

void CaptureRequests::Forget(const std::string& job) {
  const service::MutexLock lock(mutex_);
  jobs_.erase(job);
}

}  // namespace fathom::collector
