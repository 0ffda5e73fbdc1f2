#include "diagnosis/peers/peers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/types/span.h"
#include "diagnosis/graph/rings.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/model/rank_times.h"
#include "diagnosis/stats/interval_set.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

// Size and description of a communicator, kind of op, direction of a message: how often in all.
using Deed = std::tuple<std::size_t, std::string, CollectiveKind, int>;
using Deeds = std::map<Deed, std::size_t>;

Deed DeedOf(const JobView& view, GroupId id, CollectiveKind kind, int direction) {
  const Group* group = FindGroup(view, id);
  if (group == nullptr) return {0, "", kind, direction};
  return {SizeOf(*group), group->description, kind, direction};
}

Deeds DeedsOfRows(const JobView& view, const std::set<GroupId>& rings, RankId rank,
                  const RankRows& rows, const std::vector<Iteration>& iterations) {
  Deeds deeds;
  for (const CommOp& op : rows.ops) {
    if (!std::binary_search(iterations.begin(), iterations.end(), op.iteration)) continue;
    const bool message = IsPointToPoint(op.kind) && op.peer != kNoRank;
    const bool directed = message && !rings.contains(op.group);
    const int direction = !directed ? 0 : op.peer < rank ? -1 : 1;
    ++deeds[DeedOf(view, op.group, op.kind, direction)];
  }
  return deeds;
}

using Window = absl::Span<const IterationSummary>;

// Those of which all ranks were recorded: elsewhere who is missing would seem to do less.
std::vector<Iteration> SharedOf(const JobView& view, const Window& window,
                                const std::set<RankId>& ranks) {
  std::vector<Iteration> all, shared;
  for (const IterationSummary& it : window) {
    all.push_back(it.index);
    if (it.ranks.size() == ranks.size()) shared.push_back(it.index);
  }
  const bool told = std::any_of(ranks.begin(), ranks.end(), [&](RankId rank) {
    const auto& ops = view.rows.at(rank).ops;
    return std::any_of(ops.begin(), ops.end(), [&](const CommOp& op) {
      return std::binary_search(shared.begin(), shared.end(), op.iteration);
    });
  });
  return told ? shared : all;
}

// The newest iteration that all have told of; null: there is none.
const IterationSummary* NewestWhole(const Window& window, std::size_t ranks) {
  const auto whole = std::find_if(window.rbegin(), window.rend(),
                                  [&](const auto& each) { return each.ranks.size() == ranks; });
  return whole == window.rend() ? nullptr : &*whole;
}

// In that; where there is none, in the newest that it has told of.
const RankIteration* ToldOf(const Window& window, const IterationSummary* whole, RankId rank) {
  if (whole != nullptr) return RankIn(*whole, rank);
  for (auto it = window.rbegin(); it != window.rend(); ++it) {
    if (const RankIteration* mine = RankIn(*it, rank)) return mine;
  }
  return nullptr;
}

Deeds DeedsOfSummaries(const JobView& view, const Window& window, const IterationSummary* whole,
                       RankId rank) {
  Deeds deeds;
  const RankIteration* mine = ToldOf(window, whole, rank);
  if (mine == nullptr) return deeds;
  for (const GroupIteration& group : mine->groups) {
    deeds[DeedOf(view, group.group, CollectiveKind::kUnknown, 0)] += group.count;
  }
  return deeds;
}

Window NewestOf(const JobView& view, std::size_t most) {
  const Window all(view.window);
  return all.subspan(all.size() - std::min(all.size(), most));
}

// What the rows of one iteration add up to.
struct RowSums {
  double bytes = 0;
  Nanos device_wait;                                 // of the host, for its device
  std::vector<std::pair<MonoNs, MonoNs>> on_device;  // what a device carried out, no more known
};

std::map<Iteration, RowSums> SumsOf(const RankRows& rows) {
  std::map<Iteration, RowSums> sums;
  for (const CommOp& op : rows.ops) {
    RowSums& sum = sums[op.iteration];
    sum.bytes += static_cast<double>(op.bytes);
    sum.device_wait = sum.device_wait + op.device_wait;
    if (op.in_device_time() && !op.device_known() && op.done()) {
      sum.on_device.emplace_back(op.exec_start, op.end);
    }
  }
  return sums;
}

// The part of the iteration in which its device was in a communication. Summaries of agents before
// 2026-11-26 have their hosts' waits in its place, and recordings of them are still read.
Nanos Covered(const RankIteration& rank, const std::vector<std::pair<MonoNs, MonoNs>>& spans) {
  IntervalSet set;
  for (const auto& [begin, until] : spans) set.Add(begin.ns, until.ns);
  set.Seal();
  return Nanos(set.Covered(rank.begin.ns, (rank.begin + rank.duration).ns));
}

OwnPieces PiecesOf(const RankIteration& rank, const RowSums& sums) {
  const bool unseen = !sums.on_device.empty() && rank.device.count == 0;
  const bool covered = unseen && !rank.settled;
  const Nanos blocked = covered ? Covered(rank, sums.on_device) : rank.blocked;
  OwnPieces pieces;
  pieces.own = std::max(0.0, (rank.duration - blocked - CoreWaitOf(rank)).Seconds());
  pieces.wall = std::max(0.0, (rank.duration - blocked).Seconds());
  pieces.compute = BusyOf(rank).Seconds();
  if (unseen) {
    pieces.compute = std::max(0.0, pieces.own - (rank.duration - sums.device_wait).Seconds());
  }
  pieces.gc = rank.gc.Seconds();
  pieces.dataloader = LoadingOf(rank).Seconds();
  pieces.stage_work = StageWorkOf(rank).Seconds();
  pieces.work = {static_cast<double>(rank.blocks), static_cast<double>(rank.batch_elements),
                 sums.bytes, 1e6 * rank.mega_flop};
  pieces.known = rank.duration.count > 0;
  return pieces;
}

void AddRank(const JobView& view, const Window& window, RankId rank, Peers& peers) {
  const auto rows = view.rows.find(rank);
  const std::map<Iteration, RowSums> sums =
      rows == view.rows.end() ? std::map<Iteration, RowSums>() : SumsOf(rows->second);
  std::vector<OwnPieces>& pieces = peers.pieces.emplace_back();
  for (const IterationSummary& it : window) {
    const RankIteration* mine = RankIn(it, rank);
    const auto sum = sums.find(it.index);
    pieces.push_back(mine == nullptr
                         ? OwnPieces()
                         : PiecesOf(*mine, sum == sums.end() ? RowSums() : sum->second));
    if (mine != nullptr && mine->device.count > 0) peers.on_device = true;
    if (mine != nullptr && mine->settled) peers.beside = true;
  }
  peers.ranks.push_back(rank);
}

}  // namespace

Nanos StageWorkOf(const RankIteration& rank) {
  if (rank.device.count > 0 || rank.device_wait.count > 0) return BusyOf(rank);
  const Nanos own = OwnTimeOf(rank);
  if (rank.cpu.count <= 0) return std::max(Nanos(), own - rank.gc - LoadingOf(rank));
  const Nanos idle = std::max(Nanos(), own - rank.cpu);
  const Nanos preparing = std::max(Nanos(), LoadingOf(rank) - idle);
  return std::max(Nanos(), rank.cpu - rank.gc - preparing);
}

Peers PeersOf(const JobView& view, std::size_t most) {
  Peers peers;
  const Window window = NewestOf(view, most);
  std::set<RankId> seen;
  for (const IterationSummary& it : window) {
    peers.iterations.push_back(it.index);
    for (const RankIteration& rank : it.ranks) seen.insert(rank.rank);
  }
  const bool rows =
      std::all_of(seen.begin(), seen.end(), [&](RankId rank) { return view.rows.contains(rank); });
  const IterationSummary* whole = rows ? nullptr : NewestWhole(window, seen.size());
  const std::set<GroupId> rings = rows ? RingsOf(view) : std::set<GroupId>();
  const std::vector<Iteration> shared =
      rows ? SharedOf(view, window, seen) : std::vector<Iteration>();
  std::map<Deeds, std::size_t> roles;
  for (const RankId rank : seen) {
    const Deeds deeds = rows ? DeedsOfRows(view, rings, rank, view.rows.at(rank), shared)
                             : DeedsOfSummaries(view, window, whole, rank);
    peers.role.push_back(roles.try_emplace(deeds, roles.size()).first->second);
    AddRank(view, window, rank, peers);
  }
  peers.roles = roles.size();
  return peers;
}

OutlierTable OwnTimesOf(const Peers& peers, double iteration_s) {
  OutlierTable table;
  table.role = peers.role;
  table.iteration_s = iteration_s;
  for (const auto& pieces : peers.pieces) {
    std::vector<double>& row = table.seconds.emplace_back();
    for (const OwnPieces& each : pieces) row.push_back(each.known ? each.own : std::nan(""));
  }
  return table;
}

double MedianIterationOf(const JobView& view, std::size_t most) {
  std::vector<double> seconds;
  for (const IterationSummary& it : NewestOf(view, most)) {
    std::vector<double> of_ranks;
    for (const RankIteration& rank : it.ranks) of_ranks.push_back(rank.duration.Seconds());
    seconds.push_back(Median(std::move(of_ranks)));
  }
  return Median(std::move(seconds));
}

}  // namespace fathom::diagnosis
