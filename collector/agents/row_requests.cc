#include "collector/agents/row_requests.h"

#include <algorithm>
#include <utility>

#include "collector/admission/limits.h"
#include "fathom/v1/row.pb.h"

namespace fathom::collector {
namespace {

// Cuts an ask into pieces whose answers fit one message.
std::vector<RowsAsk> Pieces(const RowsAsk& ask) {
  const std::size_t ops = std::max<std::size_t>(1, ask.ops);
  const std::size_t fit = std::max<std::size_t>(1, RowRequests::kRowsPerReply / ops);
  const std::size_t ranks = std::min({fit, RowRequests::kRanksPerRequest, ask.ranks.size()});
  const std::size_t iterations =
      std::clamp<std::size_t>(fit / ranks, 1, RowRequests::kIterationsPerRequest);
  const auto at = [](const auto& all, std::size_t n) {
    return all.begin() + static_cast<std::ptrdiff_t>(n);
  };
  std::vector<RowsAsk> pieces;
  for (std::size_t r = 0; r < ask.ranks.size(); r += ranks) {
    const std::size_t r_end = std::min(ask.ranks.size(), r + ranks);
    for (std::size_t i = 0; i < ask.own.size(); i += iterations) {
      const std::size_t i_end = std::min(ask.own.size(), i + iterations);
      pieces.push_back({ask.node,
                        {at(ask.ranks, r), at(ask.ranks, r_end)},
                        {at(ask.iterations, i), at(ask.iterations, i_end)},
                        {at(ask.own, i), at(ask.own, i_end)},
                        ask.whom,
                        ask.ops});
    }
  }
  return pieces;
}

}  // namespace

int RowRequests::Ask(const std::shared_ptr<JobState>& job, const std::vector<RowsAsk>& asks,
                     Nanos timeout) {
  const MonoNs deadline = clock_.Mono() + timeout;
  int sent = 0;
  for (const RowsAsk& ask : asks) {
    for (RowsAsk& piece : Pieces(ask)) sent += SendOne(job, std::move(piece), deadline);
  }
  return sent;
}

bool RowRequests::SendOne(const std::shared_ptr<JobState>& job, RowsAsk ask, MonoNs deadline) {
  const auto channel = registry_.ChannelOf(ask.node);
  if (channel == nullptr) return false;
  v1::RowsRequest request;
  request.set_job(job->name());
  for (const RankId rank : ask.ranks) request.add_ranks(rank.value);
  for (const std::int64_t own : ask.own) request.add_iterations(own);
  request.set_max_rows_per_rank(kMaxRowsPerRank);
  {
    const service::MutexLock lock(mutex_);
    if (open_.size() >= kMaxOpen) return false;
    request.set_request_id(next_id_++);
    open_[request.request_id()] = {job, std::move(ask), deadline};
  }
  // Sent outside of the lock: the answer may come on another thread at once.
  if (channel->Send(request)) {
    ++counters_.row_requests;
    return true;
  }
  const service::MutexLock lock(mutex_);
  open_.erase(request.request_id());
  return false;
}

int RowRequests::AskForPage(const std::shared_ptr<JobState>& job,
                            const diagnosis::RowsWanted& wanted, Nanos timeout) {
  const int open = Outstanding(job->name(), RowsFor::kPage);
  return open > 0 ? open : Ask(job, job->MissingRows(wanted, RowsFor::kPage), timeout);
}

Rejection RowRequests::OnReply(std::string_view node, const v1::RowsReply& reply) {
  Open open;
  {
    const service::MutexLock lock(mutex_);
    const auto at = open_.find(reply.request_id());
    if (at == open_.end() || at->second.ask.node != node) return RejectReason::kUnasked;
    open = std::move(at->second);
    open_.erase(at);
  }
  const auto job = open.job.lock();
  if (job == nullptr || job->name() != reply.job()) return RejectReason::kUnasked;
  counters_.op_rows += job->AddRows(reply, open.ask);
  return std::nullopt;
}

void RowRequests::OnDisconnect(std::string_view node) {
  const service::MutexLock lock(mutex_);
  std::erase_if(open_, [&](const auto& entry) { return entry.second.ask.node == node; });
}

int RowRequests::Outstanding(std::string_view job, RowsFor whom) {
  const service::MutexLock lock(mutex_);
  const MonoNs now = clock_.Mono();
  counters_.row_requests_expired +=
      std::erase_if(open_, [&](const auto& entry) { return entry.second.deadline <= now; });
  return static_cast<int>(std::count_if(open_.begin(), open_.end(), [&](const auto& entry) {
    const auto owner = entry.second.job.lock();
    return owner != nullptr && owner->name() == job && entry.second.ask.whom == whom;
  }));
}

}  // namespace fathom::collector
