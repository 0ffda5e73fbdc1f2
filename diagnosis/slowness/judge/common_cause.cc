#include "diagnosis/slowness/judge/common_cause.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>

#include "diagnosis/model/lookup.h"
#include "diagnosis/peers/account_limits.h"

namespace fathom::diagnosis {
namespace {

bool Alike(const Accounts& accounts, double ratio) {
  const auto [least, most] = std::minmax_element(accounts.begin(), accounts.end(),
                                                 [](const RankAccount* a, const RankAccount* b) {
                                                   return a->typical.total < b->typical.total;
                                                 });
  return (*most)->typical.total <= ratio * (*least)->typical.total;
}

// Where the members of the group stand among the accounts.
std::vector<std::size_t> PlacesOf(const Accounts& accounts, const Group& group) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const RankId rank = accounts[i]->rank;
    if (std::find(group.members.begin(), group.members.end(), rank) != group.members.end()) {
      places.push_back(i);
    }
  }
  return places;
}

}  // namespace

bool Contains(const Accounts& accounts, RankId rank) {
  return std::any_of(accounts.begin(), accounts.end(),
                     [&](const RankAccount* account) { return account->rank == rank; });
}

std::vector<RankId> RanksOf(const Accounts& accounts) {
  std::vector<RankId> ranks;
  for (const RankAccount* account : accounts) ranks.push_back(account->rank);
  return ranks;
}

std::size_t NodesOf(const JobView& view, const Accounts& accounts) {
  std::set<std::string> nodes;
  for (const RankAccount* account : accounts) {
    const std::string node = NodeOf(view, account->rank);
    if (!node.empty()) nodes.insert(node);
  }
  return nodes.size();
}

std::string NodeOfAll(const JobView& view, const Ledger& ledger, const Accounts& accounts) {
  std::set<std::string> accused, cleared;
  for (const RankAccount& account : ledger.ranks) {
    const std::string node = NodeOf(view, account.rank);
    if (node.empty()) return "";
    (Contains(accounts, account.rank) ? accused : cleared).insert(node);
  }
  if (accused.size() != 1 || cleared.empty() || cleared.contains(*accused.begin())) return "";
  return *accused.begin();
}

bool OnManyNodes(const Case& c, const Accounts& accounts) {
  const std::size_t nodes = NodesOf(c.view, accounts);
  if (nodes > static_cast<std::size_t>(c.config.most_culprit_nodes)) return true;
  return nodes > 1 && accounts.size() >= 2 * nodes;
}

bool WorkTogether(const Case& c, const Accounts& accounts) {
  if (accounts.size() < 2 || !Alike(accounts, AccountLimits().alike_ratio)) return false;
  std::vector<std::size_t> block(accounts.size());
  std::iota(block.begin(), block.end(), std::size_t{0});
  for (const Group& group : c.view.groups) {
    if (group.members.size() >= c.view.world_size) continue;
    const std::vector<std::size_t> inside = PlacesOf(accounts, group);
    if (inside.size() < 2 || 2 * inside.size() <= group.members.size()) continue;
    const std::size_t into = block[inside.front()];
    for (const std::size_t place : inside) {
      std::replace(block.begin(), block.end(), std::size_t{block[place]}, into);
    }
  }
  return std::all_of(block.begin(), block.end(), [&](std::size_t b) { return b == block.front(); });
}

}  // namespace fathom::diagnosis
