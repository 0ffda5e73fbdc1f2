#include "collector/job/orders/detail_windows.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "collector/job/orders/anchor_plan.h"
#include "fathom/v1/window.pb.h"

namespace fathom::collector {
namespace {

constexpr Nanos kSlack{5'000'000'000};  // of the answers on their way

std::shared_ptr<const diagnosis::DeviceWindow> WindowOf(const v1::RankWindow& from, Iteration first,
                                                        std::int64_t count) {
  auto window = std::make_shared<diagnosis::DeviceWindow>();
  window->first = first;
  window->iterations = count;
  window->lasted = Nanos(from.closed_ns() - from.opened_ns());
  window->busy = Nanos(from.busy_ns());
  window->lost = from.lost();
  for (const auto& sum : from.sums()) {
    window->sums.push_back({sum.kind(), sum.name(), sum.count(), Nanos(sum.total_ns()),
                            Nanos(sum.longest_ns()), sum.bytes()});
  }
  return window;
}

}  // namespace

absl::StatusOr<std::vector<WindowAsk>> DetailWindows::Plan(std::uint64_t id, const WindowWish& wish,
                                                           const RankTable& ranks,
                                                           const SummaryWindow& window,
                                                           Nanos iteration_time, MonoNs now) {
  if (UnderWay(now)) {
    return absl::FailedPreconditionError("a window is under way; ask again when it is over");
  }
  if (iteration_time.count <= 0) {
    return absl::FailedPreconditionError(
        "no iteration is known of this job yet; a window opens at one");
  }
  DetailWindows fresh;
  fresh.id_ = id;
  fresh.Schedule(wish, iteration_time, window.newest(), now);
  std::vector<WindowAsk> asks = fresh.Asks(wish, ranks, window);
  if (asks.empty()) {
    return absl::FailedPreconditionError("none of these ranks is alive and has a known iteration");
  }
  *this = std::move(fresh);
  return asks;
}

void DetailWindows::Schedule(const WindowWish& wish, Nanos iteration_time, std::int64_t newest,
                             MonoNs now) {
  const double per = iteration_time.Seconds();
  const std::int64_t so_many = std::llround(wish.seconds / per);
  count_ = std::max<std::int64_t>(1, wish.iterations > 0 ? wish.iterations : so_many);
  const std::int64_t lead = LeadIterations(iteration_time);
  first_ = newest + 1 + lead;
  patience_ = PatienceFor(lead + count_, iteration_time);
  over_at_ = now + patience_ + kSlack;
}

std::vector<WindowAsk> DetailWindows::Asks(const WindowWish& wish, const RankTable& ranks,
                                           const SummaryWindow& window) {
  const auto anchors = NewestAnchors(ranks, window);
  const std::set<RankId> wanted(wish.ranks.begin(), wish.ranks.end());
  std::map<std::pair<std::string, GroupId>, WindowAsk> asks;
  for (const auto& [rank, state] : ranks.ranks()) {
    if (state.gone || (!wanted.empty() && !wanted.contains(rank))) continue;
    RankWindowState& told = ranks_[rank];
    const auto own = window.AnchorOf(rank);
    if (!own || anchors.at(own->group).step == 0) {
      told = {.state = "refused", .reason = "no_period"};
      continue;
    }
    const SummaryWindow::Anchor& anchor = anchors.at(own->group);
    WindowAsk& ask = asks[{ranks.NodeOf(state), own->group}];
    ask.node = ranks.NodeOf(state);
    ask.group = own->group;
    ask.open_sequence = SequenceAt(anchor, first_ - 1) + 1;
    ask.close_sequence = SequenceAt(anchor, first_ - 1 + count_);
    ask.ranks.push_back(rank);
  }
  std::vector<WindowAsk> out;
  for (auto& [key, ask] : asks) out.push_back(std::move(ask));
  return out;
}

void DetailWindows::Refuse(std::uint64_t id, const WindowAsk& ask, const std::string& why) {
  if (id != id_) return;
  for (const RankId rank : ask.ranks) ranks_[rank] = {.state = "refused", .reason = why};
}

Rejection DetailWindows::Take(const v1::WindowReply& reply) {
  if (id_ == 0 || reply.request_id() != id_) return RejectReason::kUnasked;
  for (const auto& window : reply.ranks()) {
    const auto at = ranks_.find(RankId(window.rank()));
    if (at == ranks_.end()) return RejectReason::kUnasked;
    if (at->second.state == "closed") continue;
    at->second = {.state = "refused", .reason = window.reason(), .records = window.records()};
    if (window.state() != "closed") continue;
    at->second.state = "closed";
    at->second.window = WindowOf(window, Iteration(first_), count_);
  }
  return std::nullopt;
}

bool DetailWindows::UnderWay(MonoNs now) const {
  const bool waiting = std::any_of(ranks_.begin(), ranks_.end(),
                                   [](const auto& entry) { return entry.second.state == "asked"; });
  return waiting && now < over_at_;
}

std::map<RankId, std::shared_ptr<const diagnosis::DeviceWindow>> DetailWindows::View() const {
  std::map<RankId, std::shared_ptr<const diagnosis::DeviceWindow>> out;
  for (const auto& [rank, state] : ranks_) {
    const bool cut_short = !state.reason.empty();  // not comparable
    if (state.window != nullptr && !cut_short) out[rank] = state.window;
  }
  return out;
}

}  // namespace fathom::collector
