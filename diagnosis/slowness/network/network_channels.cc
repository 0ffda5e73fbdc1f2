#include "diagnosis/slowness/network/network_channels.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "diagnosis/graph/message_groups.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

constexpr double kBytesPerMegabyte = 1e6;

// Of one channel: the shortest op, and all of its ops, in each iteration.
struct Times {
  std::vector<double> shortest, whole;
};

struct Least {
  double shortest = 0, whole = 0;
  bool known = false;
};

void Lower(const GroupIteration& group, Least& least) {
  const double shortest = group.shortest.Seconds(), whole = group.elapsed.Seconds();
  if (shortest <= 0) return;
  least.shortest = least.known ? std::min(least.shortest, shortest) : shortest;
  least.whole = least.known ? std::min(least.whole, whole) : whole;
  least.known = true;
}

void Append(const Least& least, Times& to) {
  if (!least.known) return;
  to.shortest.push_back(least.shortest);
  to.whole.push_back(least.whole);
}

using OfGroups = std::unordered_map<GroupId, Times>;
using OfRanks = std::map<RankId, Times>;

struct Seen {
  OfGroups collectives;
  OfRanks messages;
};

Seen SeenIn(const JobView& view, const std::set<GroupId>& messages,
            const std::vector<Iteration>& wanted) {
  Seen seen;
  for (const IterationSummary& iteration : view.window) {
    if (!std::binary_search(wanted.begin(), wanted.end(), iteration.index)) continue;
    std::unordered_map<GroupId, Least> groups;
    for (const RankIteration& rank : iteration.ranks) {
      Least sent;
      for (const GroupIteration& group : rank.groups) {
        const bool carries = messages.contains(group.group);
        Lower(group, carries ? sent : groups[group.group]);
        if (carries) sent.whole = sent.shortest * group.count;
      }
      Append(sent, seen.messages[rank.rank]);
    }
    for (const auto& [id, least] : groups) Append(least, seen.collectives[id]);
  }
  return seen;
}

// Growth and loss; false where either time is not known.
bool Compare(const Times& before, const Times& now, NetworkChannel& channel) {
  if (before.shortest.empty() || now.shortest.empty()) return false;
  const double usual = Median(before.shortest);
  if (usual <= 0) return false;
  channel.growth = Median(now.shortest) / usual;
  channel.lost = Median(now.whole) - Median(before.whole);
  return true;
}

void Judge(const DiagnosisConfig& config, NetworkChannel& channel) {
  channel.slow = channel.growth >= config.link_factor;
  channel.well = channel.growth < config.link_contrast();
}

std::vector<RankId> Sorted(std::vector<RankId> ranks) {
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// With whom each rank exchanges messages: as rows tell, else its neighbours in the group.
using Partners = std::map<RankId, std::set<RankId>>;

Partners PartnersOf(const JobView& view, const std::set<GroupId>& messages) {
  Partners partners;
  for (const Group& group : view.groups) {
    if (!messages.contains(group.id)) continue;
    for (std::size_t i = 0; i + 1 < group.members.size(); ++i) {
      partners[group.members[i]].insert(group.members[i + 1]);
      partners[group.members[i + 1]].insert(group.members[i]);
    }
  }
  for (const auto& [rank, rows] : view.rows) {
    std::set<RankId> told;
    for (const CommOp& op : rows.ops) {
      if (IsPointToPoint(op.kind) && op.peer != kNoRank) told.insert(op.peer);
    }
    if (!told.empty()) partners[rank] = std::move(told);
  }
  return partners;
}

void AddCollectives(const Case& c, const Seen& before, const Seen& now,
                    std::vector<NetworkChannel>& out) {
  for (const Group& group : c.view.groups) {
    const bool of_all = group.members.size() >= c.view.world_size;
    const auto then = before.collectives.find(group.id), since = now.collectives.find(group.id);
    if (of_all || group.members.size() < 2) continue;
    if (then == before.collectives.end() || since == now.collectives.end()) continue;
    NetworkChannel channel;
    if (!Compare(then->second, since->second, channel)) continue;
    channel.paths = {Sorted(group.members)};
    out.push_back(std::move(channel));
  }
}

void AddMessages(const Case& c, const std::set<GroupId>& messages, const Seen& before,
                 const Seen& now, std::vector<NetworkChannel>& out) {
  for (const auto& [rank, partners] : PartnersOf(c.view, messages)) {
    const auto then = before.messages.find(rank), since = now.messages.find(rank);
    if (then == before.messages.end() || since == now.messages.end()) continue;
    NetworkChannel channel;
    channel.kind = NetworkChannel::Kind::kMessages;
    if (!Compare(then->second, since->second, channel)) continue;
    for (const RankId partner : partners) channel.paths.push_back(Sorted({rank, partner}));
    out.push_back(std::move(channel));
  }
}

void AddFlows(const Case& c, std::vector<NetworkChannel>& out) {
  const double least = c.config.link_megabytes * kBytesPerMegabyte;
  for (const RankFacts& facts : c.view.ranks) {
    for (const PathFlow& flow : facts.flows) {
      const auto before = static_cast<double>(flow.bytes_before);
      const auto since = static_cast<double>(flow.bytes_since);
      if (std::min(before, since) < least || flow.busy_before.count <= 0) continue;
      NetworkChannel channel;
      channel.kind = NetworkChannel::Kind::kFlow;
      channel.paths = {Sorted({facts.rank, flow.peer})};
      channel.growth = flow.busy_since.Seconds() / since * before / flow.busy_before.Seconds();
      out.push_back(std::move(channel));
    }
  }
}

}  // namespace

std::vector<NetworkChannel> NetworkChannels(const Case& c) {
  const std::set<GroupId> messages = MessageGroups(c.view);
  const Seen before = SeenIn(c.view, messages, c.graph.baseline());
  const Seen now = SeenIn(c.view, messages, c.graph.irregular());
  std::vector<NetworkChannel> channels;
  AddCollectives(c, before, now, channels);
  AddMessages(c, messages, before, now, channels);
  AddFlows(c, channels);
  for (NetworkChannel& channel : channels) Judge(c.config, channel);
  return channels;
}

}  // namespace fathom::diagnosis
