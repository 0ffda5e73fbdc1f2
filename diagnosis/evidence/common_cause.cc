#include "diagnosis/evidence/common_cause.h"

#include <algorithm>
#include <set>

#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {
namespace {

bool Contains(const Accounts& accounts, RankId rank) {
  return std::any_of(accounts.begin(), accounts.end(),
                     [&](const RankAccount* account) { return account->rank == rank; });
}

bool Alike(const Accounts& accounts, double ratio) {
  const auto [least, most] = std::minmax_element(
      accounts.begin(), accounts.end(), [](const RankAccount* a, const RankAccount* b) {
        return a->typical.total < b->typical.total;
      });
  return (*most)->typical.total <= ratio * (*least)->typical.total;
}

}  // namespace

std::size_t NodesOf(const JobView& view, const Accounts& accounts) {
  std::set<std::string> nodes;
  for (const RankAccount* account : accounts) {
    const RankFacts* facts = FactsOf(view, account->rank);
    if (facts != nullptr && !facts->node.empty()) nodes.insert(facts->node);
  }
  return nodes.size();
}

std::string NodeOfAll(const JobView& view, const Ledger& ledger, const Accounts& accounts) {
  std::set<std::string> accused, cleared;
  for (const RankAccount& account : ledger.ranks) {
    const RankFacts* facts = FactsOf(view, account.rank);
    if (facts == nullptr || facts->node.empty()) return "";
    (Contains(accounts, account.rank) ? accused : cleared).insert(facts->node);
  }
  if (accused.size() != 1 || cleared.empty() || cleared.contains(*accused.begin())) return "";
  return *accused.begin();
}

bool OnManyNodes(const Case& c, const Accounts& accounts) {
  const std::size_t nodes = NodesOf(c.view, accounts);
  if (nodes > static_cast<std::size_t>(c.config.most_culprit_nodes)) return true;
  return nodes > 1 && accounts.size() >= 2 * nodes;
}

const Group* CommunicatorOfAll(const Case& c, const Accounts& accounts) {
  if (accounts.size() < 2 || !Alike(accounts, c.config.alike_ratio)) return nullptr;
  for (const Group& group : c.view.groups) {
    const std::size_t size = group.members.size();
    if (size >= c.view.world_size || size > 2 * accounts.size()) continue;
    const auto inside = std::count_if(group.members.begin(), group.members.end(),
                                      [&](RankId rank) { return Contains(accounts, rank); });
    if (static_cast<std::size_t>(inside) == accounts.size()) return &group;
  }
  return nullptr;
}

}  // namespace fathom::diagnosis
