#include "diagnosis/ledger/channels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "diagnosis/graph/group_shape.h"
#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {
namespace {

// A communicator, and the two ends of its messages; both kNoRank of a collective.
using ChannelKey = std::tuple<GroupId, RankId, RankId>;
using Carried = std::map<std::pair<CollectiveKind, std::uint64_t>, std::size_t>;
using Family = std::tuple<std::string, std::vector<std::uint32_t>, std::vector<std::size_t>,
                          std::size_t, Carried>;

std::vector<RankId> MembersOf(const LaneGraph& graph, const Join& join) {
  std::vector<RankId> members;
  for (const std::size_t lane : join.lanes) members.push_back(graph.lanes[lane].rank);
  std::sort(members.begin(), members.end());
  return members;
}

class Collector {
 public:
  Collector(const JobView& view, std::size_t iterations) : view_(view), iterations_(iterations) {}

  void Add(const LaneGraph& graph, std::size_t stretch, std::size_t first_iteration) {
    for (std::size_t j = 0; j < graph.joins.size(); ++j) {
      const Join& join = graph.joins[j];
      if (!join.complete || join.lanes.size() < 2 || !join.comparable) continue;
      const std::size_t channel = ChannelOf(graph, join);
      double& sum = out_.seconds[channel][first_iteration + join.iteration];
      sum = (std::isnan(sum) ? 0 : sum) + join.transfer;
      ++carried_[channel][{join.kind, join.bytes}];
      out_.joins[channel].emplace_back(stretch, j);
    }
  }

  Channels Take() {
    std::map<Family, std::size_t> families;
    for (std::size_t c = 0; c < out_.groups.size(); ++c) {
      const Group& group = out_.groups[c];
      const Family family{group.description, DistancesIn(group.members),
                          SpreadOf(view_, group.members), group.members.size(), carried_[c]};
      out_.family.push_back(families.try_emplace(family, families.size()).first->second);
    }
    return std::move(out_);
  }

 private:
  std::size_t ChannelOf(const LaneGraph& graph, const Join& join) {
    const bool pair = IsPointToPoint(join.kind) && !join.of_group;
    const Group* const whole = join.of_group ? FindGroup(view_, join.group) : nullptr;
    const std::vector<RankId> members = whole ? whole->members : MembersOf(graph, join);
    const ChannelKey key = pair ? ChannelKey{join.group, members.front(), members.back()}
                                : ChannelKey{join.group, kNoRank, kNoRank};
    const auto [at, fresh] = known_.try_emplace(key, out_.groups.size());
    if (!fresh) return at->second;
    Group group;
    if (const Group* known = FindGroup(view_, join.group); known != nullptr) group = *known;
    group.members = members;
    group.size = static_cast<std::uint32_t>(members.size());
    out_.groups.push_back(std::move(group));
    out_.pair.push_back(pair);
    out_.seconds.emplace_back(iterations_, std::numeric_limits<double>::quiet_NaN());
    out_.joins.emplace_back();
    carried_.emplace_back();
    return at->second;
  }

  const JobView& view_;
  const std::size_t iterations_;
  std::map<ChannelKey, std::size_t> known_;
  std::vector<Carried> carried_;
  Channels out_;
};

}  // namespace

Channels ChannelsOf(const JobView& view, const std::vector<LaneGraph>& stretches) {
  std::size_t iterations = 0;
  for (const LaneGraph& graph : stretches) iterations += graph.iterations.size();
  Collector collector(view, iterations);
  std::size_t first = 0;
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    collector.Add(stretches[s], s, first);
    first += stretches[s].iterations.size();
  }
  return collector.Take();
}

}  // namespace fathom::diagnosis
