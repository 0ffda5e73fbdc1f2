#include "collector/job/orders/source_switches.h"

#include <set>
#include <tuple>
#include <utility>

#include "collector/job/orders/anchor_plan.h"
#include "fathom/v1/trace.pb.h"

namespace fathom::collector {
namespace {

// The ring's word for "these events"; the tracer takes from them what its NCCL speaks.
constexpr std::uint32_t kAllPluginEvents = 1u << 31 | 0xffff;

// What was switched on stays on where a version would by itself leave it off.
SwitchWords Changed(const RankHealthState& health, const SwitchWish& wish) {
  SwitchWords words{(health.sources_off | wish.off) & ~wish.on, health.plugin_mask};
  if ((wish.on & kNcclPlugin) != 0) words.plugin_mask = kAllPluginEvents;
  if ((wish.off & kNcclPlugin) != 0) words.plugin_mask = 0;
  return words;
}

absl::Status Check(const SwitchWish& wish) {
  if ((wish.off & wish.on) != 0) {
    return absl::InvalidArgumentError("a source is either switched off or on");
  }
  if (((wish.off | wish.on) & kNcclPlugin) != 0 && !wish.ranks.empty()) {
    return absl::InvalidArgumentError(
        "nccl_plugin is switched on all ranks: those without it would look late beside the others");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<SwitchAsk>> SourceSwitches::Plan(std::uint64_t id,
                                                            const SwitchWish& wish,
                                                            const RankTable& ranks,
                                                            const SummaryWindow& window,
                                                            Nanos iteration_time) {
  if (absl::Status status = Check(wish); !status.ok()) return status;
  if (iteration_time.count <= 0) {
    return absl::FailedPreconditionError(
        "no iteration is known of this job yet; sources are switched at one");
  }
  SourceSwitches fresh;
  fresh.id_ = id;
  const std::int64_t lead = LeadIterations(iteration_time);
  fresh.first_iteration_ = window.newest() + 1 + lead;
  fresh.patience_ = PatienceFor(lead, iteration_time);
  std::vector<SwitchAsk> asks = fresh.Asks(wish, ranks, window);
  if (asks.empty()) {
    return absl::FailedPreconditionError("none of these ranks is alive and has a known iteration");
  }
  *this = std::move(fresh);
  return asks;
}

std::vector<SwitchAsk> SourceSwitches::Asks(const SwitchWish& wish, const RankTable& ranks,
                                            const SummaryWindow& window) {
  const auto anchors = NewestAnchors(ranks, window);
  const std::set<RankId> wanted(wish.ranks.begin(), wish.ranks.end());
  for (const RankId rank : wanted) ranks_[rank] = {.state = "refused", .reason = "unknown_rank"};
  std::map<std::tuple<std::string, GroupId, SwitchWords>, SwitchAsk> asks;
  for (const auto& [rank, state] : ranks.ranks()) {
    if (!wanted.empty() && !wanted.contains(rank)) continue;
    RankSwitchState& told = ranks_[rank];
    const auto own = window.AnchorOf(rank);
    const bool known = own && anchors.at(own->group).step != 0;
    told = {.state = "refused", .reason = state.gone ? "process_gone" : "no_period"};
    if (state.gone || !known) continue;
    const SwitchWords words = Changed(state.health, wish);
    told = {.words = words};
    SwitchAsk& ask = asks[{ranks.NodeOf(state), own->group, words}];
    ask.node = ranks.NodeOf(state);
    ask.group = own->group;
    ask.at_sequence = SequenceAt(anchors.at(own->group), first_iteration_ - 1);
    ask.words = words;
    ask.ranks.push_back(rank);
  }
  std::vector<SwitchAsk> out;
  for (auto& [key, ask] : asks) out.push_back(std::move(ask));
  return out;
}

void SourceSwitches::Refuse(std::uint64_t id, const SwitchAsk& ask, const std::string& why) {
  if (id != id_) return;
  for (const RankId rank : ask.ranks) ranks_[rank] = {.state = "refused", .reason = why};
}

Rejection SourceSwitches::Take(const v1::TraceReply& reply, RankTable& ranks) {
  if (id_ == 0 || reply.request_id() != id_) return RejectReason::kUnasked;
  for (const auto& told : reply.ranks()) {
    const auto at = ranks_.find(RankId(told.rank()));
    if (at == ranks_.end()) return RejectReason::kUnasked;
    if (at->second.state == "done") continue;
    const SwitchWords words = at->second.words;
    at->second = {told.state(), told.reason(), told.at_sequence(), words};
    if (told.state() != "done") continue;
    RankHealthState& health = ranks.Find(at->first)->health;
    health.sources_off = words.sources_disabled;
    health.plugin_mask = words.plugin_mask;
  }
  return std::nullopt;
}

}  // namespace fathom::collector
