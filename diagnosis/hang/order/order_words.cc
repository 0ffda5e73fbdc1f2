#include "diagnosis/hang/order/order_words.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kStepsShown = 4;
constexpr std::size_t kRanksShown = 8;

std::string LastSteps(const JobView& view, const std::vector<OpStep>& steps) {
  std::vector<std::string> words;
  for (std::size_t i = steps.size() - std::min(kStepsShown, steps.size()); i < steps.size(); ++i) {
    words.push_back(InWords(view, steps[i]));
  }
  return absl::StrJoin(words, ", then ");
}

}  // namespace

Orders OrdersOf(const JobView& view) {
  Orders orders;
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) {
      orders[rank].push_back({op.group, op.kind, op.bytes, op.peer});
    }
  }
  return orders;
}

std::string InWords(const JobView& view, const OpStep& step) {
  const std::string kind(CollectiveKindName(step.kind));
  if (!IsPointToPoint(step.kind)) return absl::StrCat(kind, " of ", GroupName(view, step.group));
  const bool sends = step.kind == CollectiveKind::kSend;
  const std::string peer =
      step.peer == kNoRank ? std::string("any rank") : absl::StrCat("rank ", step.peer.value);
  return absl::StrCat(kind, sends ? " to " : " from ", peer);
}

void AddOrders(const JobView& view, const Orders& orders, const std::vector<RankId>& ranks,
               const std::string& source, Verdict& verdict) {
  std::size_t shown = 0;
  for (const RankId rank : ranks) {
    const auto at = orders.find(rank);
    if (at == orders.end() || at->second.empty()) continue;
    if (++shown > kRanksShown) return;
    verdict.evidence.push_back(
        {absl::StrCat("Rank ", rank.value, " entered last: ", LastSteps(view, at->second), "."),
         static_cast<double>(std::min(kStepsShown, at->second.size())), "ops", 0, source});
  }
}

}  // namespace fathom::diagnosis
