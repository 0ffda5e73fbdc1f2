#include "collector/job/orders/asked_stacks.h"

#include <set>
#include <utility>

#include "fathom/v1/trace.pb.h"

namespace fathom::collector {

absl::StatusOr<std::vector<StackAsk>> AskedStacks::Plan(std::uint64_t id,
                                                        const std::vector<RankId>& wanted,
                                                        const RankTable& ranks) {
  std::set<RankId> chosen(wanted.begin(), wanted.end());
  for (const auto& [rank, state] : ranks.ranks()) {
    if (wanted.empty() && !state.gone) chosen.insert(rank);
  }
  if (chosen.size() > kMaxStacks) {
    return absl::InvalidArgumentError("name at most 64 ranks");
  }
  std::map<std::string, StackAsk> asks;
  std::map<RankId, AskedStack> told;
  for (const RankId rank : chosen) {
    const auto at = ranks.ranks().find(rank);
    if (at == ranks.ranks().end() || at->second.gone) {
      const bool known = at != ranks.ranks().end();
      told[rank] = {.state = "refused", .reason = known ? "process_gone" : "unknown_rank"};
      continue;
    }
    told[rank] = {};
    StackAsk& ask = asks[ranks.NodeOf(at->second)];
    ask.node = ranks.NodeOf(at->second);
    ask.ranks.push_back(rank);
  }
  if (asks.empty()) return absl::FailedPreconditionError("none of these ranks is alive");
  id_ = id;
  ranks_ = std::move(told);
  std::vector<StackAsk> out;
  for (auto& [node, ask] : asks) out.push_back(std::move(ask));
  return out;
}

void AskedStacks::Refuse(std::uint64_t id, const StackAsk& ask, const std::string& why) {
  if (id != id_) return;
  for (const RankId rank : ask.ranks) ranks_[rank] = {.state = "refused", .reason = why};
}

Rejection AskedStacks::Take(const v1::StackReply& reply) {
  if (id_ == 0 || reply.request_id() != id_) return RejectReason::kUnasked;
  for (const auto& told : reply.ranks()) {
    const auto at = ranks_.find(RankId(told.rank()));
    if (at == ranks_.end()) return RejectReason::kUnasked;
    const auto& frames = told.stack().frames();
    const bool read = !frames.empty();
    at->second = {.state = read ? "read" : "refused",
                  .reason = told.error(),
                  .frames = {frames.begin(), frames.end()},
                  .source = told.stack().source()};
  }
  return std::nullopt;
}

}  // namespace fathom::collector
