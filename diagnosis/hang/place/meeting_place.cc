#include "diagnosis/hang/place/meeting_place.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

using Kind = MeetingPlace::Kind;
using Nodes = std::set<std::string>;

constexpr std::size_t kEnds = 2;

template <typename Set>
Set Common(const Set& a, const Set& b) {
  Set both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

struct Shared {
  Piece ranks;            // in every piece
  Nodes nodes;            // likewise; empty where a rank's is not known
  std::set<RankId> ends;  // of any piece
  bool all_cross = true;  // every piece lies on several nodes
  bool some_cross = false;
  bool all_pairs = true;  // every piece has two ends
};

Shared Compare(const JobView& view, const std::vector<Piece>& pieces) {
  Shared shared{pieces.front(), NodesOf(view, pieces.front()), {}, true, false, true};
  bool known = true;
  for (const Piece& piece : pieces) {
    const Nodes nodes = NodesOf(view, piece);
    shared.ranks = Common(shared.ranks, piece);
    shared.nodes = Common(shared.nodes, nodes);
    shared.ends.insert(piece.begin(), piece.end());
    shared.all_cross = shared.all_cross && nodes.size() > 1;
    shared.some_cross = shared.some_cross || nodes.size() > 1;
    shared.all_pairs = shared.all_pairs && piece.size() == kEnds;
    known = known && !nodes.contains("");
  }
  if (!known) shared.nodes.clear();
  return shared;
}

MeetingPlace OnNode(const JobView& view, const Shared& shared) {
  MeetingPlace place{Kind::kNode, {}, {*shared.nodes.begin()}};
  for (const RankId rank : shared.ends) {
    if (NodeOf(view, rank) == place.nodes.front()) place.ranks.push_back(rank);
  }
  return place;
}

}  // namespace

std::vector<Piece> PiecesOf(const TroubledPaths& found) {
  std::vector<Piece> pieces;
  for (const auto& [a, b] : found.paths) pieces.push_back({a, b});
  return pieces;
}

MeetingPlace WhereTheyMeet(const JobView& view, const std::vector<Piece>& pieces) {
  if (pieces.empty()) return {};
  const Shared shared = Compare(view, pieces);
  if (pieces.size() == 1) {
    return shared.all_pairs ? MeetingPlace{Kind::kLink, shared.ranks, {}} : MeetingPlace{};
  }
  if (shared.some_cross && shared.nodes.size() > 1) {
    if (!shared.all_pairs || shared.nodes.size() > kEnds) return {};
    return {Kind::kLink,
            {shared.ends.begin(), shared.ends.end()},
            {shared.nodes.begin(), shared.nodes.end()}};
  }
  if (shared.ranks.size() == 1) return {Kind::kRank, shared.ranks, {}};
  if (shared.ranks.empty() && shared.all_cross && shared.nodes.size() == 1) {
    return OnNode(view, shared);
  }
  return {};
}

MeetingPlace WherePathsMeet(const JobView& view, const TroubledPaths& found) {
  return found.deaf.empty() ? WhereTheyMeet(view, PiecesOf(found)) : MeetingPlace{};
}

std::string InWords(const MeetingPlace& place) {
  constexpr char kEither[] =
      "moves nothing; which of its two ends is at fault, one path does not show.";
  switch (place.kind) {
    case Kind::kNone:
      return "";
    case Kind::kLink:
      if (!place.nodes.empty()) {
        return absl::StrFormat(
            "All paths that move nothing lie between nodes %s and %s (ranks %s); which of the two "
            "is at fault they do not show.",
            place.nodes[0], place.nodes[1], RankList(place.ranks));
      }
      return absl::StrFormat("The path between ranks %d and %d %s", place.ranks[0].value,
                             place.ranks[1].value, kEither);
    case Kind::kRank:
      return absl::StrFormat("Every connection that is stuck ends at rank %d: its network is down.",
                             place.ranks[0].value);
    case Kind::kNode:
      return absl::StrFormat(
          "Every connection that is stuck ends at node %s (ranks %s) and at no other: its network "
          "is down.",
          place.nodes[0], RankList(place.ranks));
  }
  return "";
}

void NamePlace(const JobView& view, const MeetingPlace& place, Verdict& verdict) {
  Entity& entity = verdict.entity;
  entity = {};
  entity.ranks = place.ranks;
  std::erase_if(verdict.victims, [&](RankId rank) {
    return std::binary_search(place.ranks.begin(), place.ranks.end(), rank);
  });
  if (place.kind == Kind::kLink) {
    const auto end = [&](std::size_t i) {
      return place.nodes.empty() ? absl::StrCat("rank ", place.ranks[i].value) : place.nodes[i];
    };
    entity.type = EntityType::kLink;
    entity.link_src = end(0);
    entity.link_dst = end(1);
    verdict.would_change.push_back(
        "Another path of one of its ends that moves nothing: that end is then at fault.");
    AdviseOnConnections(verdict);
  } else {
    const bool rank = place.kind == Kind::kRank;
    entity.type = rank ? EntityType::kRank : EntityType::kHost;
    entity.node = rank ? NodeOf(view, place.ranks[0]) : place.nodes[0];
    verdict.would_change.push_back("A path that moves nothing and does not end there.");
    verdict.action_text =
        "Look at the network of this rank's node: its interfaces, its cable, its port, its "
        "firewall.";
    verdict.action_command = "ip -s link; ss -tinp state established";
    AdviseWhereToRun(entity.node, verdict);
  }
}

void AdviseOnConnections(Verdict& verdict) {
  verdict.action_text = "Look at the connections between these ranks: which one moves no bytes?";
  verdict.action_command = "ss -tinp state established";
}

}  // namespace fathom::diagnosis
