#include "diagnosis/graph/group_families.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {
namespace {

// How often each kind and size ran.
using Ops = std::map<std::pair<CollectiveKind, std::uint64_t>, std::size_t>;

struct InIteration {
  Ops ops;
  double seconds = 0;
  bool whole = true;
};

using OfGroup = std::map<Iteration, InIteration>;
using Shape = std::tuple<std::string, std::vector<std::uint32_t>, std::vector<std::size_t>>;

std::vector<std::uint32_t> DistancesIn(const std::vector<RankId>& members) {
  std::vector<std::uint32_t> distances;
  for (std::size_t i = 1; i < members.size(); ++i) {
    distances.push_back(members[i].value - members[i - 1].value);
  }
  return distances;
}

// How many members lie on each node; empty where a node is not known.
std::vector<std::size_t> SpreadOf(const JobView& view, const std::vector<RankId>& members) {
  std::map<std::string, std::size_t> on_node;
  for (const RankId rank : members) {
    const std::string node = NodeOf(view, rank);
    if (node.empty()) return {};
    ++on_node[node];
  }
  std::vector<std::size_t> spread;
  for (const auto& [node, count] : on_node) spread.push_back(count);
  std::sort(spread.begin(), spread.end());
  return spread;
}

std::unordered_map<GroupId, OfGroup> TimesOf(const Instances& instances) {
  std::unordered_map<GroupId, OfGroup> times;
  for (const Instance& instance : instances.all()) {
    if (!IsSynchronising(instance.kind) || instance.iteration.value < 0) continue;
    InIteration& in = times[instance.group][instance.iteration];
    ++in.ops[{instance.kind, instance.bytes}];
    in.seconds += instances.TransferSeconds(instance);
    in.whole = in.whole && instance.complete && instances.AllDone(instance);
  }
  return times;
}

double LowerMedian(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Adds an entry to each of those that did the same in an iteration.
void Compare(const std::vector<std::pair<FamilyMember*, double>>& alike) {
  if (alike.size() < 2) return;
  std::vector<double> all;
  for (const auto& [member, seconds] : alike) all.push_back(seconds);
  const double usual = LowerMedian(std::move(all));
  for (const auto& [member, seconds] : alike) {
    member->mine.push_back(seconds);
    member->usual.push_back(usual);
  }
}

void FillTimes(const std::unordered_map<GroupId, OfGroup>& times, GroupFamily& family) {
  std::map<Iteration, std::map<Ops, std::vector<std::pair<FamilyMember*, double>>>> same;
  for (FamilyMember& member : family.members) {
    for (const auto& [iteration, in] : times.at(member.group->id)) {
      if (in.whole) same[iteration][in.ops].emplace_back(&member, in.seconds);
    }
  }
  for (const auto& [iteration, by_ops] : same) {
    for (const auto& [ops, alike] : by_ops) Compare(alike);
  }
}

}  // namespace

std::vector<GroupFamily> FamiliesOf(const JobView& view, const Instances& instances) {
  const auto times = TimesOf(instances);
  std::map<Shape, GroupFamily> by_shape;
  for (const Group& group : view.groups) {
    if (group.guessed || group.members.size() < 2 || !times.contains(group.id)) continue;
    const auto spread = SpreadOf(view, group.members);
    GroupFamily& family = by_shape[{group.description, DistancesIn(group.members), spread}];
    family.nodes_known = !spread.empty();
    family.members.push_back({&group, {}, {}});
  }
  std::vector<GroupFamily> families;
  for (auto& [shape, family] : by_shape) {
    if (family.members.size() < 2) continue;
    FillTimes(times, family);
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace fathom::diagnosis
