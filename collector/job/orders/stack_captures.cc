#include "collector/job/orders/stack_captures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "collector/job/orders/anchor_plan.h"
#include "fathom/v1/capture.pb.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kMostBegun = 1000;
constexpr std::size_t kRecentIterations = 9;
constexpr double kMostSeconds = 30;  // that an agent records

std::vector<diagnosis::CapturedStack> PatternsOf(
    const google::protobuf::RepeatedPtrField<v1::StackPattern>& from) {
  std::vector<diagnosis::CapturedStack> stacks;
  for (const auto& pattern : from) {
    stacks.push_back({{pattern.frames().begin(), pattern.frames().end()}, pattern.count()});
  }
  return stacks;
}

std::vector<diagnosis::CapturedRun> RunsOf(
    const google::protobuf::RepeatedField<std::uint32_t>& pairs) {
  std::vector<diagnosis::CapturedRun> runs;
  for (int i = 0; i + 1 < pairs.size(); i += 2) runs.push_back({pairs[i], pairs[i + 1]});
  return runs;
}

// Where the ranks of a capture of iterations begin and end.
struct Cues {
  bool wanted = false;
  Nanos patience;
  std::map<RankId, CaptureAsk::Cue> of;
};

absl::StatusOr<Cues> CuesFor(const CaptureWish& wish, const RankTable& ranks,
                             const SummaryWindow& window, diagnosis::StackCapture& capture) {
  Cues cues;
  const Nanos each = window.RecentDuration(kRecentIterations);
  const bool known = each.count > 0;
  std::int64_t count = wish.iterations;
  if (count <= 0 && wish.aligned && known) {
    count = std::max<std::int64_t>(1, std::llround(wish.seconds / each.Seconds()));
  }
  if (count <= 0) return cues;
  if (!known) {
    return absl::FailedPreconditionError(
        "no iteration is known of this job yet; ask for seconds instead");
  }
  if (each.Seconds() * static_cast<double>(count) > kMostSeconds) {
    return absl::InvalidArgumentError("so many iterations take longer than 30 s; ask for fewer");
  }
  const std::int64_t lead = LeadIterations(each);
  capture.first_iteration = window.newest() + 1 + lead;
  capture.iterations = count;
  cues.wanted = true;
  cues.patience = PatienceFor(lead, each);
  const auto anchors = NewestAnchors(ranks, window);
  const std::int64_t before = capture.first_iteration - 1;
  for (const RankId rank : wish.ranks) {
    const auto own = window.AnchorOf(rank);
    if (!own || anchors.at(own->group).step == 0) continue;
    const SummaryWindow::Anchor& anchor = anchors.at(own->group);
    cues.of[rank] = {rank, own->group, SequenceAt(anchor, before) + 1,
                     SequenceAt(anchor, before + count)};
  }
  return cues;
}

// One a node. A rank without the cue that it needs is refused in `capture`.
std::vector<CaptureAsk> AsksOf(const CaptureWish& wish, const RankTable& ranks, const Cues& cues,
                               diagnosis::StackCapture& capture) {
  std::map<std::string, CaptureAsk> asks;
  for (const RankId rank : wish.ranks) {
    const auto at = ranks.ranks().find(rank);
    if (at == ranks.ranks().end() || at->second.gone) continue;
    const auto cue = cues.of.find(rank);
    if (cues.wanted && cue == cues.of.end()) {
      capture.ranks[rank].refused = "its iterations are not known";
      continue;
    }
    CaptureAsk& ask = asks[ranks.NodeOf(at->second)];
    ask.node = ranks.NodeOf(at->second);
    ask.patience = cues.patience;
    ask.ranks.push_back(rank);
    if (cues.wanted) ask.cues.push_back(cue->second);
  }
  std::vector<CaptureAsk> out;
  for (auto& [node, ask] : asks) out.push_back(std::move(ask));
  return out;
}

std::string NoAnswerFrom(const std::string& node) { return "no answer came from node " + node; }

}  // namespace

diagnosis::RankStacks StacksOf(const v1::RankCapture& from) {
  diagnosis::RankStacks stacks;
  if (from.state() != "done") {
    stacks.refused = from.reason().empty() ? "refused" : from.reason();
    return stacks;
  }
  stacks.source = from.source();
  stacks.lasted = Nanos::FromSeconds(from.seconds());
  stacks.samples = from.samples();
  stacks.left_out = from.left_out();
  stacks.raw_bytes = from.raw_bytes();
  stacks.worker_samples = from.worker_samples();
  for (const auto& frame : from.frames()) {
    stacks.frames.push_back({frame.function(), frame.file(), frame.line(), frame.internal()});
  }
  stacks.stacks = PatternsOf(from.stacks());
  stacks.worker_stacks = PatternsOf(from.worker_stacks());
  stacks.beside_samples = from.beside_samples();
  stacks.beside_stacks = PatternsOf(from.beside_stacks());
  stacks.order = RunsOf(from.order());
  stacks.core_wait = std::clamp(from.core_wait(), 0.0, 1.0);
  for (const auto& [name, looks] : from.doing()) stacks.doing[name] = looks;
  return stacks;
}

absl::StatusOr<std::vector<CaptureAsk>> StackCaptures::Plan(std::uint64_t id,
                                                            const CaptureWish& wish,
                                                            const RankTable& ranks,
                                                            const SummaryWindow& window,
                                                            WallNs wall, MonoNs mono) {
  if (UnderWay(mono)) {
    return absl::FailedPreconditionError("a capture is under way; ask again when it is over");
  }
  if (wish.ranks.size() > kMostRanks) return absl::InvalidArgumentError("name at most 64 ranks");
  auto capture = std::make_shared<diagnosis::StackCapture>();
  const absl::StatusOr<Cues> cues = CuesFor(wish, ranks, window, *capture);
  if (!cues.ok()) return cues.status();
  std::vector<CaptureAsk> asks = AsksOf(wish, ranks, *cues, *capture);
  if (asks.empty()) return absl::FailedPreconditionError("none of these ranks is alive");
  id_ = id;
  taken_ = false;
  capture->at = wall;
  capture->accused = wish.accused;
  capture->native = wish.native;
  capture->iteration = window.RecentDuration(kRecentIterations);
  capture_ = std::move(capture);
  Await(asks, wish, mono);
  begun_.push_back(mono);
  if (begun_.size() > kMostBegun) begun_.pop_front();
  return asks;
}

void StackCaptures::Await(const std::vector<CaptureAsk>& asks, const CaptureWish& wish,
                          MonoNs mono) {
  awaited_.clear();
  Nanos longest = Nanos::FromSeconds(wish.seconds);
  for (const CaptureAsk& ask : asks) {
    for (const RankId rank : ask.ranks) awaited_[rank] = ask.node;
    // Patience is to begin: what has begun goes on.
    const Nanos cued = ask.cues.empty() ? Nanos(0) : Nanos::FromSeconds(kMostSeconds);
    longest = std::max(longest, ask.patience + cued);
  }
  over_at_ = mono + longest + kSlack;
}

void StackCaptures::Refuse(const CaptureAsk& ask, const std::string& why) {
  for (const RankId rank : ask.ranks) {
    if (awaited_.erase(rank) > 0) capture_->ranks[rank].refused = why;
  }
}

Rejection StackCaptures::Take(const v1::CaptureReply& reply, std::string_view node) {
  if (id_ != reply.request_id() || capture_ == nullptr || taken_) return RejectReason::kUnasked;
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
  if (capture_ == nullptr || taken_ || UnderWay(now)) return nullptr;
  for (const auto& [rank, node] : awaited_) capture_->ranks[rank].refused = NoAnswerFrom(node);
  awaited_.clear();
  taken_ = true;
  return capture_;
}

ShownCapture StackCaptures::Shown(MonoNs now) const {
  ShownCapture shown;
  if (capture_ == nullptr) return shown;
  shown.id = id_;
  shown.over = !UnderWay(now);
  shown.capture = *capture_;
  for (const auto& [rank, node] : awaited_) {
    if (shown.over) {
      shown.capture.ranks[rank].refused = NoAnswerFrom(node);
    } else {
      shown.awaited.push_back(rank);
    }
  }
  return shown;
}

}  // namespace fathom::collector
