#include "diagnosis/hang/place/wait_chain.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {
namespace {

// Steps that are told; what lies further behind says no more about the culprit.
constexpr std::size_t kStepsTold = 12;

using Likeness = std::pair<std::string, CollectiveKind>;

std::string DescriptionOf(const JobView& view, GroupId id) {
  const Group* group = FindGroup(view, id);
  return group == nullptr ? "" : group->description;
}

std::string NumberOf(const JobView& view, GroupId id) {
  const Group* group = FindGroup(view, id);
  return group == nullptr || group->name.empty() ? "" : "group " + group->name;
}

std::vector<RankId> Among(const std::vector<RankId>& ranks, const std::set<RankId>& set, bool in) {
  std::vector<RankId> out;
  for (const RankId rank : ranks) {
    if (set.contains(rank) == in) out.push_back(rank);
  }
  return out;
}

void Merge(std::vector<RankId>& into, const std::vector<RankId>& more) {
  into.insert(into.end(), more.begin(), more.end());
  std::sort(into.begin(), into.end());
  into.erase(std::unique(into.begin(), into.end()), into.end());
}

struct Draft {
  WaitStep step;
  std::set<GroupId> groups;
};

void Extend(const Wait& wait, const std::vector<RankId>& waiting,
            const std::vector<RankId>& for_ranks, Draft& draft) {
  WaitStep& step = draft.step;
  const bool same = draft.groups.empty() || step.number == wait.number;
  step.number = same ? wait.number : kNoWaitNumber;
  draft.groups.insert(wait.group);
  step.groups = static_cast<int>(draft.groups.size());
  step.kind = wait.kind;
  step.waited = std::max(step.waited, wait.waited);
  Merge(step.waiting, waiting);
  Merge(step.for_ranks, for_ranks);
}

// The steps of one hop; takes the waits that it tells out of `open`.
std::vector<WaitStep> Hop(const JobView& view, int hop, const std::set<RankId>& reached,
                          std::vector<const Wait*>& open) {
  std::map<Likeness, Draft> drafts;
  std::erase_if(open, [&](const Wait* wait) {
    const std::vector<RankId> for_ranks = Among(wait->held_by, reached, true);
    if (for_ranks.empty()) return false;
    const std::vector<RankId> waiting = Among(wait->inside, reached, false);
    if (waiting.empty()) return true;
    const std::string description = DescriptionOf(view, wait->group);
    Draft& draft = drafts[{description, wait->kind}];
    draft.step.hop = hop;
    Extend(*wait, waiting, for_ranks, draft);
    draft.step.group =
        draft.step.groups > 1 || !description.empty() ? description : NumberOf(view, wait->group);
    return true;
  });
  std::vector<WaitStep> out;
  for (auto& [likeness, draft] : drafts) out.push_back(std::move(draft.step));
  std::stable_sort(out.begin(), out.end(), [](const WaitStep& a, const WaitStep& b) {
    if (a.waiting.size() != b.waiting.size()) return a.waiting.size() > b.waiting.size();
    return a.for_ranks.size() > b.for_ranks.size();
  });
  std::set<RankId> told;
  std::erase_if(out, [&told](const WaitStep& step) {
    const bool tells = !Among(step.waiting, told, false).empty();
    told.insert(step.waiting.begin(), step.waiting.end());
    return !tells;
  });
  return out;
}

}  // namespace

std::vector<WaitStep> ChainBehind(const JobView& view, const std::vector<RankId>& culprits,
                                  const std::vector<Wait>& waits) {
  std::vector<const Wait*> open;
  for (const Wait& wait : waits) open.push_back(&wait);
  std::set<RankId> reached(culprits.begin(), culprits.end());
  std::vector<WaitStep> chain;
  for (int hop = 1; chain.size() < kStepsTold; ++hop) {
    const std::vector<WaitStep> steps = Hop(view, hop, reached, open);
    if (steps.empty()) break;
    for (const WaitStep& step : steps) reached.insert(step.waiting.begin(), step.waiting.end());
    chain.insert(chain.end(), steps.begin(), steps.end());
  }
  chain.resize(std::min(chain.size(), kStepsTold));
  return chain;
}

}  // namespace fathom::diagnosis
