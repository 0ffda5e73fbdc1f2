#include "tests/diagnosis/overlap/charges.h"

#include <optional>

#include "diagnosis/ledger/account_verdicts.h"
#include "diagnosis/ledger/running/iteration_account.h"
#include "diagnosis/model/config.h"

namespace fathom::diagnosis::testing {
namespace {

bool Meant(const OverlappedJob& job, const Entity& entity) {
  if (job.slow_pair_ms > 0) return entity.type == EntityType::kGroup;
  return entity.type == EntityType::kRank && entity.ranks == std::vector<RankId>{RankId(job.rank)};
}

std::string NameOf(const Verdict& verdict) {
  std::string name(ToString(verdict.cause));
  for (const RankId rank : verdict.entity.ranks) name += " " + std::to_string(rank.value);
  return name;
}

void ChargeByRows(const OverlappedJob& job, const JobView& view, Charges& out) {
  const DiagnosisConfig config;
  const ExecutionGraph graph(view, {}, Iteration(-1), config);
  const std::optional<Accounting> accounting = AccountFor(view, graph);
  if (!accounting) return;
  for (const Verdict& verdict : VerdictsOn(view, *accounting)) {
    out.verdicts += (out.verdicts.empty() ? "" : ", ") + NameOf(verdict);
  }
  const Account& account = accounting->account;
  const double each =
      1e3 / static_cast<double>(account.iterations) / static_cast<double>(view.rows.size());
  for (const AccountShare& share : account.shares) {
    out.all_by_rows_ms += share.lost_gpu_s * each;
    if (Meant(job, share.entity)) out.by_rows_ms += share.lost_gpu_s * each;
  }
}

void ChargeBySummaries(const OverlappedJob& job, const JobView& view, Charges& out) {
  IterationAccountant accountant;
  const double each = 1e3 / static_cast<double>(view.window.size());
  for (const IterationSummary& iteration : view.window) {
    for (const Charge& charge : accountant.Account(iteration, view.groups, 0).charges) {
      out.all_by_summaries_ms += charge.seconds * each;
      const bool meant = job.slow_pair_ms > 0
                             ? charge.group.value != 0
                             : charge.group.value == 0 && charge.rank == RankId(job.rank);
      if (meant) out.by_summaries_ms += charge.seconds * each;
    }
  }
}

}  // namespace

Charges ChargesOf(const OverlappedJob& job) {
  OverlappedJob healthy = job;
  healthy.slower = healthy.pause_ms = healthy.slow_pair_ms = 0;
  const JobView view = PlayOverlapped(job);
  Charges out;
  out.iteration_ms = IterationMs(view);
  out.healthy_ms = IterationMs(PlayOverlapped(healthy));
  ChargeByRows(job, view, out);
  ChargeBySummaries(job, view, out);
  return out;
}

}  // namespace fathom::diagnosis::testing
