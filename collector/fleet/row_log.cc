#include "collector/fleet/row_log.h"

#include <set>

#include "collector/fleet/agent_messages.h"

namespace fathom::simulate {

RowLog::RowLog(const Scenario& scenario, const Rehearsal& rehearsal)
    : rehearsal_(rehearsal), player_(scenario), observer_(scenario, player_) {
  std::map<std::int64_t, std::vector<std::uint32_t>> wanted;
  for (const auto& [rank, iteration] : rehearsal.fetched) {
    wanted[iteration.value].push_back(rank.value);
  }
  for (const auto& [iteration, ranks] : wanted) Make(iteration, ranks);
}

Nanos RowLog::BusyBefore(std::int64_t iteration, std::uint32_t rank) const {
  Nanos busy;
  for (std::int64_t i = 0; i < iteration; ++i) {
    busy += rehearsal_.iterations[static_cast<std::size_t>(i)].ranks[rank].cpu;
  }
  return busy;
}

void RowLog::Make(std::int64_t iteration, const std::vector<std::uint32_t>& ranks) {
  const double begin = rehearsal_.outcome.begin_s[static_cast<std::size_t>(iteration)];
  player_.Play(iteration, begin, ranks);
  for (std::uint32_t rank : ranks) {
    observer_.AddRows(iteration, rank, begin, BusyBefore(iteration, rank),
                      rows_[{iteration, rank}]);
  }
}

bool RowLog::Played(std::int64_t iteration) const {
  const auto played = static_cast<std::int64_t>(rehearsal_.outcome.begin_s.size());
  return iteration >= 0 && iteration < played;
}

std::vector<std::uint32_t> RowLog::RanksOf(const v1::RowsRequest& request) const {
  std::set<std::uint32_t> ranks;
  for (std::uint32_t rank : request.ranks()) {
    if (rank < player_.layout().world()) ranks.insert(rank);
  }
  return {ranks.begin(), ranks.end()};
}

void RowLog::Prepare(const std::vector<v1::RowsRequest>& requests) {
  std::map<std::int64_t, std::set<std::uint32_t>> missing;
  for (const v1::RowsRequest& request : requests) {
    const std::vector<std::uint32_t> ranks = RanksOf(request);
    for (std::int64_t iteration : request.iterations()) {
      if (!Played(iteration)) continue;
      for (std::uint32_t rank : ranks) {
        if (!rows_.contains({iteration, rank})) missing[iteration].insert(rank);
      }
    }
  }
  for (const auto& [iteration, ranks] : missing) Make(iteration, {ranks.begin(), ranks.end()});
  made_late_ += static_cast<int>(missing.size());
}

v1::RowsReply RowLog::Answer(const v1::RowsRequest& request) {
  Prepare({request});
  v1::RowsReply reply;
  reply.set_request_id(request.request_id());
  reply.set_job(request.job());
  for (std::uint32_t rank : RanksOf(request)) reply.add_ranks()->set_rank(rank);
  for (std::int64_t iteration : request.iterations()) {
    if (!Played(iteration)) continue;
    for (v1::RankRows& to : *reply.mutable_ranks()) {
      const diagnosis::RankRows& from = rows_.at({iteration, to.rank()});
      for (const diagnosis::CommOp& op : from.ops) AddOp(op, to);
      for (const diagnosis::Mark& mark : from.marks) AddMark(mark, to);
    }
  }
  return reply;
}

}  // namespace fathom::simulate
