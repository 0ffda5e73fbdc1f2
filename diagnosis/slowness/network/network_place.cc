#include "diagnosis/slowness/network/network_place.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/slowness/network/network_channels.h"
#include "diagnosis/slowness/network/wiring.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

// Smaller devices first.
struct Candidate {
  enum class Kind : std::uint8_t { kNic, kNvlink, kPath, kNode, kLeaf, kSpine };
  Kind kind = Kind::kNic;
  std::uint32_t one = 0;    // rank, node or leaf
  std::uint32_t other = 0;  // of a path: the other node

  friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

struct Fit {
  Candidate candidate;
  std::size_t explained = 0, users_well = 0, others_well = 0;
  double error = 0;  // shares of slow ones not explained, and of users that are well
};

bool OnPath(const Candidate& candidate, const Reach& path) {
  const bool within = path.nodes.size() == 1;
  switch (candidate.kind) {
    case Candidate::Kind::kNic:
      return !within && path.HasRank(RankId(candidate.one));
    case Candidate::Kind::kNvlink:
      return within && path.HasRank(RankId(candidate.one));
    case Candidate::Kind::kPath:
      return path.HasNode(candidate.one) && path.HasNode(candidate.other);
    case Candidate::Kind::kNode:
      return !within && path.HasNode(candidate.one);
    case Candidate::Kind::kLeaf:
      return !within && path.HasLeaf(candidate.one);
    case Candidate::Kind::kSpine:
      return !within && path.HasSpine(candidate.one);
  }
  return false;
}

struct Channel {
  const NetworkChannel* seen = nullptr;
  std::vector<Reach> paths;

  bool Uses(const Candidate& candidate) const {
    return std::all_of(paths.begin(), paths.end(),
                       [&](const Reach& path) { return OnPath(candidate, path); });
  }
};

using Channels = std::vector<Channel>;

// A path between two places of one leaf need not leave it.
bool MayStayBelow(const Candidate& candidate, const Channel& channel) {
  return candidate.kind == Candidate::Kind::kSpine &&
         std::any_of(channel.paths.begin(), channel.paths.end(),
                     [](const Reach& path) { return path.leaves.size() == 1; });
}

std::set<Candidate> EndsOf(const Channel& channel) {
  std::set<Candidate> ends;
  for (const Reach& path : channel.paths) {
    for (const RankId rank : *path.ranks) {
      ends.insert({Candidate::Kind::kNic, rank.value, 0});
      ends.insert({Candidate::Kind::kNvlink, rank.value, 0});
    }
    for (const std::uint32_t node : path.nodes) ends.insert({Candidate::Kind::kNode, node, 0});
    for (const std::uint32_t leaf : path.leaves) ends.insert({Candidate::Kind::kLeaf, leaf, 0});
    for (const std::uint32_t spine : path.spines) ends.insert({Candidate::Kind::kSpine, spine, 0});
    if (path.nodes.size() != 2) continue;
    ends.insert({Candidate::Kind::kPath, path.nodes.front(), path.nodes.back()});
  }
  return ends;
}

std::size_t SlowOf(const Channels& channels) {
  return static_cast<std::size_t>(
      std::count_if(channels.begin(), channels.end(), [](const auto& c) { return c.seen->slow; }));
}

// Those that as many slow channels have in common as a true cause must explain. A path is an end of
// pairs only, and is kept by how many of these it has.
std::vector<Candidate> CandidatesOf(const Channels& channels, double share, bool on_devices) {
  std::map<Candidate, std::size_t> counts;
  std::size_t pairs = 0;
  for (const Channel& channel : channels) {
    if (!channel.seen->slow) continue;
    pairs += channel.paths.front().nodes.size() == 2;
    for (const Candidate& end : EndsOf(channel)) ++counts[end];
  }
  const auto slow = static_cast<double>(SlowOf(channels));
  std::vector<Candidate> out;
  for (const auto& [candidate, count] : counts) {
    if (candidate.kind == Candidate::Kind::kNvlink && !on_devices) continue;
    const bool path = candidate.kind == Candidate::Kind::kPath;
    if (static_cast<double>(count) >= share * (path ? static_cast<double>(pairs) : slow)) {
      out.push_back(candidate);
    }
  }
  return out;
}

// What is slow on one leaf alone is no matter of what joins the leaves.
bool OnOneLeaf(const Channels& channels) {
  std::set<std::uint32_t> leaves;
  for (const Channel& channel : channels) {
    if (!channel.seen->slow) continue;
    for (const Reach& path : channel.paths) leaves.insert(path.leaves.begin(), path.leaves.end());
  }
  return leaves.size() == 1;
}

Fit FitOf(const Candidate& candidate, const Channels& channels) {
  Fit fit;
  fit.candidate = candidate;
  std::size_t slow = 0;
  for (const Channel& channel : channels) {
    const bool uses = channel.Uses(candidate);
    slow += channel.seen->slow;
    fit.explained += channel.seen->slow && uses;
    if (uses && channel.seen->well && MayStayBelow(candidate, channel)) continue;
    if (channel.seen->well) ++(uses ? fit.users_well : fit.others_well);
  }
  const auto explained = static_cast<double>(fit.explained);
  const auto well = static_cast<double>(fit.users_well);
  fit.error = 1 - explained / static_cast<double>(slow);
  if (explained + well > 0) fit.error += well / (explained + well);
  return fit;
}

// The one that errs least, the smaller of equal ones; null where two of a kind are equal.
std::optional<Fit> BestOf(const Channels& channels, double share, bool on_devices) {
  std::optional<Fit> best;
  bool alone = true;
  const bool one_leaf = OnOneLeaf(channels);
  for (const Candidate& candidate : CandidatesOf(channels, share, on_devices)) {
    if (one_leaf && candidate.kind == Candidate::Kind::kSpine) continue;
    const Fit fit = FitOf(candidate, channels);
    if (fit.error > 1 - share || fit.others_well == 0) continue;
    if (!best || fit.error < best->error) {
      best = fit;
      alone = true;
    } else if (fit.error == best->error && candidate.kind == best->candidate.kind) {
      alone = false;
    }
  }
  return alone ? best : std::nullopt;
}

// Ranks of a node reach one another over NVLink only where devices carry the ops out.
bool OnDevices(const JobView& view) {
  return std::any_of(view.rows.begin(), view.rows.end(), [](const auto& rank) {
    return std::any_of(rank.second.ops.begin(), rank.second.ops.end(),
                       [](const CommOp& op) { return op.on_device; });
  });
}

// What the slowest channel of each kind costs more.
double LostIn(const Channels& channels) {
  std::array<double, 3> most{};
  for (const Channel& channel : channels) {
    if (!channel.seen->slow) continue;
    double& of_kind = most[static_cast<std::size_t>(channel.seen->kind)];
    of_kind = std::max(of_kind, channel.seen->lost);
  }
  return most[0] + most[1] + most[2];
}

void NameDevice(const JobView& view, const Wiring& wiring, const Candidate& candidate,
                NetworkPlace& place) {
  Entity& entity = place.entity;
  switch (candidate.kind) {
    case Candidate::Kind::kNic:
      entity = {EntityType::kNic, {RankId(candidate.one)}, "", "", "", ""};
      entity.node = wiring.NodeName(wiring.NodeOf(RankId(candidate.one)));
      place.where = absl::StrCat("through the NIC of ", RankName(view, RankId(candidate.one)));
      return;
    case Candidate::Kind::kNvlink:
      entity = {EntityType::kLink, {RankId(candidate.one)}, "", "", "", ""};
      entity.node = wiring.NodeName(wiring.NodeOf(RankId(candidate.one)));
      entity.link_src = absl::StrCat("rank ", candidate.one);
      entity.link_dst = absl::StrCat("NVLink of ", entity.node);
      place.where = absl::StrCat("through the NVLink of ", RankName(view, RankId(candidate.one)));
      return;
    case Candidate::Kind::kPath:
      entity = {EntityType::kLink, wiring.OnNode(candidate.one), "", "", "", ""};
      for (const RankId rank : wiring.OnNode(candidate.other)) entity.ranks.push_back(rank);
      entity.link_src = wiring.NodeName(candidate.one);
      entity.link_dst = wiring.NodeName(candidate.other);
      place.where = absl::StrFormat("between nodes %s and %s", entity.link_src, entity.link_dst);
      return;
    case Candidate::Kind::kNode:
      entity = {EntityType::kHost, wiring.OnNode(candidate.one), "", "", "", ""};
      entity.node = wiring.NodeName(candidate.one);
      place.where = absl::StrCat("to and from node ", entity.node);
      return;
    case Candidate::Kind::kLeaf:
      entity = {EntityType::kSwitch, wiring.OnLeaf(candidate.one), "", "", "", ""};
      entity.link_src = wiring.LeafName(candidate.one);
      place.where = absl::StrFormat("through %s%s (ranks %s)", wiring.told() ? "leaf switch " : "",
                                    entity.link_src, RankList(entity.ranks));
      place.guessed = !wiring.told();
      return;
    case Candidate::Kind::kSpine:
      entity = {EntityType::kSwitch, wiring.BelowSpine(candidate.one), "", "", "", ""};
      entity.link_src = wiring.SpineName(candidate.one);
      place.where = wiring.told() ? absl::StrCat("through switch ", entity.link_src)
                                  : "between nodes, all of them alike,";
      return;
  }
}

NetworkPlace Describe(const JobView& view, const Wiring& wiring, const Channels& channels,
                      const Fit& fit) {
  NetworkPlace place;
  NameDevice(view, wiring, fit.candidate, place);
  place.slow = fit.explained;
  place.slow_in_all = SlowOf(channels);
  place.users_well = fit.users_well;
  place.others_well = fit.others_well;
  std::vector<double> growth;
  std::set<RankId> victims;
  for (const Channel& channel : channels) {
    if (!channel.seen->slow) continue;
    growth.push_back(channel.seen->growth);
    for (const Reach& path : channel.paths) victims.insert(path.ranks->begin(), path.ranks->end());
  }
  for (const RankId rank : place.entity.ranks) victims.erase(rank);
  place.victims.assign(victims.begin(), victims.end());
  place.growth = Median(std::move(growth));
  place.lost_s = LostIn(channels);
  return place;
}

}  // namespace

std::optional<NetworkPlace> FindNetworkPlace(const Case& c, double excess) {
  const std::vector<NetworkChannel> seen = NetworkChannels(c);
  const std::optional<Wiring> wiring = Wiring::Of(c.view, c.topology);
  if (!wiring) return std::nullopt;
  Channels channels;
  for (const NetworkChannel& each : seen) {
    if (!each.slow && !each.well) continue;
    Channel channel{&each, {}};
    for (const auto& path : each.paths) channel.paths.push_back(wiring->ReachOf(path));
    if (!channel.paths.empty()) channels.push_back(std::move(channel));
  }
  if (SlowOf(channels) == 0 || 2 * LostIn(channels) < c.config.explains_share * excess) {
    return std::nullopt;
  }
  const std::optional<Fit> best = BestOf(channels, c.config.guilty_share(), OnDevices(c.view));
  if (!best) return std::nullopt;
  return Describe(c.view, *wiring, channels, *best);
}

}  // namespace fathom::diagnosis
