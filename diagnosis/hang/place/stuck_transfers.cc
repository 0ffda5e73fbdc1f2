#include "diagnosis/hang/place/stuck_transfers.h"

#include <algorithm>
#include <tuple>

namespace fathom::diagnosis {
namespace {

using OpId = std::pair<GroupId, Sequence>;

// One end of an edge, as that rank tells it.
struct End {
  OpId op;
  RankId sender, receiver;
  const Transfer* transfer;

  auto key() const { return std::tuple(op, sender, receiver, transfer->channel); }
};

// Both ends; null where one is not told, or not in one way.
struct Edge {
  OpId op;
  RankId sender, receiver;
  const Transfer* send = nullptr;
  const Transfer* receive = nullptr;
};

std::vector<End> EndsOf(const JobView& view) {
  std::vector<End> ends;
  for (const RankFacts& facts : view.ranks) {
    if (!facts.agent_reachable) continue;
    for (const Transfer& t : facts.transfers) {
      ends.push_back({{t.group, t.sequence},
                      t.sends ? facts.rank : t.peer,
                      t.sends ? t.peer : facts.rank,
                      &t});
    }
  }
  std::stable_sort(ends.begin(), ends.end(),
                   [](const End& a, const End& b) { return a.key() < b.key(); });
  return ends;
}

// The one transfer of that side among the ends of an edge.
const Transfer* Only(const std::vector<End>& ends, std::size_t first, std::size_t last,
                     bool sends) {
  const Transfer* only = nullptr;
  for (std::size_t i = first; i < last; ++i) {
    if (ends[i].transfer->sends != sends) continue;
    if (only != nullptr) return nullptr;
    only = ends[i].transfer;
  }
  return only;
}

std::vector<Edge> EdgesOf(const JobView& view) {
  const std::vector<End> ends = EndsOf(view);
  std::vector<Edge> edges;
  for (std::size_t first = 0, last = 0; first < ends.size(); first = last) {
    while (last < ends.size() && ends[last].key() == ends[first].key()) ++last;
    const End& end = ends[first];
    edges.push_back({end.op, end.sender, end.receiver, Only(ends, first, last, true),
                     Only(ends, first, last, false)});
  }
  return edges;
}

bool IsWhole(const Edge& edge) {
  return edge.send != nullptr && edge.receive != nullptr && edge.send->steps == edge.receive->steps;
}

// Receivers, each in a group, with a transfer of which not both ends are known.
std::set<std::pair<GroupId, RankId>> HalfBlind(const std::vector<Edge>& edges) {
  std::set<std::pair<GroupId, RankId>> blind;
  for (const Edge& edge : edges) {
    const bool arrived = edge.receive != nullptr && edge.receive->moved >= edge.receive->steps;
    if (!IsWhole(edge) && !arrived) blind.emplace(edge.op.first, edge.receiver);
  }
  return blind;
}

bool IsLostOnItsWay(const Edge& edge) {
  return edge.send->moved > edge.receive->moved && edge.receive->posted > edge.receive->moved;
}

}  // namespace

MovingOps FindMovingOps(const JobView& view, const DiagnosisConfig& config) {
  MovingOps moving;
  for (const RankFacts& facts : view.ranks) {
    if (!facts.agent_reachable) continue;
    for (const Transfer& t : facts.transfers) {
      if (t.still_for < config.transfer_still) moving.emplace(t.group, t.sequence);
    }
  }
  return moving;
}

std::vector<StuckTransfer> FindStuckTransfers(const JobView& view, const DiagnosisConfig& config) {
  const std::vector<Edge> edges = EdgesOf(view);
  const MovingOps moving = FindMovingOps(view, config);
  const auto blind = HalfBlind(edges);
  std::vector<StuckTransfer> stuck;
  for (const Edge& edge : edges) {
    if (!IsWhole(edge) || !IsLostOnItsWay(edge) || moving.contains(edge.op)) continue;
    if (blind.contains({edge.op.first, edge.receiver})) continue;
    stuck.push_back({edge.sender, edge.receiver, edge.send->channel, edge.send->moved,
                     edge.receive->moved, edge.send->steps,
                     std::min(edge.send->still_for, edge.receive->still_for)});
  }
  return stuck;
}

}  // namespace fathom::diagnosis
