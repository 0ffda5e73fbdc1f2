#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "diagnosis/graph/record_graph.h"
#include "diagnosis/hang/place/odd_one_out.h"
#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis::records {
namespace {

// Groups of one role on different ranks: TENSOR of size 2 here and there.
using Role = std::pair<std::string, std::size_t>;
using Counts = std::map<Role, std::uint64_t>;

Counts CountsOf(const JobView& view, const RankFacts& facts) {
  Counts counts;
  std::set<Role> twice;
  for (const GroupProgress& progress : facts.groups) {
    const Group* group = FindGroup(view, progress.group);
    if (group == nullptr || group->members.size() < 2) continue;
    const Role role{group->description, group->members.size()};
    if (!counts.emplace(role, progress.entered).second) twice.insert(role);
  }
  for (const Role& role : twice) counts.erase(role);  // which is which cannot be told
  return counts;
}

bool SameWork(const Counts& a, const Counts& b, std::uint64_t slack) {
  if (a.size() != b.size()) return false;
  return std::equal(a.begin(), a.end(), b.begin(), [&](const auto& x, const auto& y) {
    const std::uint64_t apart = x.second > y.second ? x.second - y.second : y.second - x.second;
    return x.first == y.first && apart <= slack;
  });
}

bool BehindAndAhead(const Counts& a, const Counts& b) {
  bool behind = false;
  bool ahead = false;
  for (const auto& [role, count] : a) {
    behind |= count < b.at(role);
    ahead |= count > b.at(role);
  }
  return behind && ahead;
}

using Contradictions = std::map<RankId, std::set<RankId>>;

Contradictions Compare(const std::map<RankId, Counts>& counts, std::uint64_t slack) {
  Contradictions found;
  for (auto a = counts.begin(); a != counts.end(); ++a) {
    for (auto b = std::next(a); b != counts.end(); ++b) {
      if (!SameWork(a->second, b->second, slack) || !BehindAndAhead(a->second, b->second)) continue;
      found[a->first].insert(b->first);
      found[b->first].insert(a->first);
    }
  }
  return found;
}

Skipped Explain(RankId rank, const std::set<RankId>& peers,
                const std::map<RankId, Counts>& counts) {
  Skipped skipped;
  skipped.rank = rank;
  skipped.contradicts = static_cast<std::uint32_t>(peers.size());
  for (const auto& own : counts.at(rank)) {
    const auto is_ahead = [&](RankId peer) { return counts.at(peer).at(own.first) > own.second; };
    if (std::all_of(peers.begin(), peers.end(), is_ahead)) {
      skipped.behind.push_back(own.first.first);
    }
    if (std::none_of(peers.begin(), peers.end(), is_ahead)) {
      skipped.ahead.push_back(own.first.first);
    }
  }
  return skipped;
}

}  // namespace

std::vector<Skipped> FindSkipped(const JobView& view, const std::vector<RankId>& ring,
                                 std::uint64_t same_work_ops) {
  std::map<RankId, Counts> counts;
  for (const RankFacts& facts : view.ranks) {
    if (!facts.groups.empty()) counts.emplace(facts.rank, CountsOf(view, facts));
  }
  Contradictions left = Compare(counts, same_work_ops);
  std::vector<Skipped> odd;
  while (!left.empty()) {
    const auto most = std::max_element(left.begin(), left.end(), [](const auto& a, const auto& b) {
      return a.second.size() < b.second.size();
    });
    const auto ties = std::count_if(left.begin(), left.end(), [&](const auto& entry) {
      return entry.second.size() == most->second.size();
    });
    if (ties > 1) return {};  // no majority: each contradicts the other
    const RankId rank = most->first;
    if (std::find(ring.begin(), ring.end(), rank) == ring.end()) return {};
    odd.push_back(Explain(rank, most->second, counts));
    for (const RankId peer : most->second) {
      left[peer].erase(rank);
      if (left[peer].empty()) left.erase(peer);
    }
    left.erase(rank);
  }
  return odd;
}

}  // namespace fathom::diagnosis::records
