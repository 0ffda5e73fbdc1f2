#include "collector/job/orders/stack_captures.h"

#include <algorithm>
#include <map>
#include <utility>

#include "fathom/v1/capture.pb.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kMostBegun = 1000;

diagnosis::RankStacks StacksOf(const v1::RankCapture& from) {
  diagnosis::RankStacks stacks;
  if (from.state() != "done") {
    stacks.refused = from.reason().empty() ? "refused" : from.reason();
    return stacks;
  }
  stacks.source = from.source();
  stacks.lasted = Nanos::FromSeconds(from.seconds());
  stacks.samples = from.samples();
  for (const auto& frame : from.frames()) {
    stacks.frames.push_back({frame.function(), frame.file(), frame.line(), frame.internal()});
  }
  for (const auto& pattern : from.stacks()) {
    stacks.stacks.push_back({{pattern.frames().begin(), pattern.frames().end()}, pattern.count()});
  }
  for (const auto& [name, looks] : from.doing()) stacks.doing[name] = looks;
  return stacks;
}

}  // namespace

absl::StatusOr<std::vector<CaptureAsk>> StackCaptures::Plan(std::uint64_t id,
                                                            const CaptureWish& wish,
                                                            const RankTable& ranks, WallNs wall,
                                                            MonoNs mono) {
  if (UnderWay(mono)) {
    return absl::FailedPreconditionError("a capture is under way; ask again when it is over");
  }
  if (wish.ranks.size() > kMostRanks) return absl::InvalidArgumentError("name at most 64 ranks");
  std::map<std::string, CaptureAsk> asks;
  std::map<RankId, std::string> awaited;
  for (const RankId rank : wish.ranks) {
    const auto at = ranks.ranks().find(rank);
    if (at == ranks.ranks().end() || at->second.gone) continue;
    CaptureAsk& ask = asks[ranks.NodeOf(at->second)];
    ask.node = ranks.NodeOf(at->second);
    ask.ranks.push_back(rank);
    awaited[rank] = ask.node;
  }
  if (asks.empty()) return absl::FailedPreconditionError("none of these ranks is alive");
  id_ = id;
  awaited_ = std::move(awaited);
  over_at_ = mono + Nanos::FromSeconds(wish.seconds) + kSlack;
  capture_ = std::make_shared<diagnosis::StackCapture>();
  capture_->at = wall;
  capture_->accused = wish.accused;
  begun_.push_back(mono);
  if (begun_.size() > kMostBegun) begun_.pop_front();
  std::vector<CaptureAsk> out;
  for (auto& [node, ask] : asks) out.push_back(std::move(ask));
  return out;
}

void StackCaptures::Refuse(const CaptureAsk& ask, const std::string& why) {
  for (const RankId rank : ask.ranks) {
    if (awaited_.erase(rank) > 0) capture_->ranks[rank].refused = why;
  }
}

Rejection StackCaptures::Take(const v1::CaptureReply& reply, std::string_view node) {
  if (id_ != reply.request_id() || capture_ == nullptr) return RejectReason::kUnasked;
  for (const auto& told : reply.ranks()) {
    const auto at = awaited_.find(RankId(told.rank()));
    if (at == awaited_.end() || at->second != node) return RejectReason::kUnasked;
    capture_->ranks[at->first] = StacksOf(told);
    awaited_.erase(at);
  }
  return std::nullopt;
}

bool StackCaptures::UnderWay(MonoNs now) const { return !awaited_.empty() && now < over_at_; }

std::size_t StackCaptures::BegunSince(MonoNs since) const {
  return static_cast<std::size_t>(
      std::count_if(begun_.begin(), begun_.end(), [&](MonoNs at) { return at >= since; }));
}

std::shared_ptr<const diagnosis::StackCapture> StackCaptures::TakeFinished(MonoNs now) {
  if (capture_ == nullptr || UnderWay(now)) return nullptr;
  for (const auto& [rank, node] : awaited_) {
    capture_->ranks[rank].refused = "no answer came from node " + node;
  }
  awaited_.clear();
  return std::exchange(capture_, nullptr);
}

}  // namespace fathom::collector
