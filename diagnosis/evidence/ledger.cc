#include "diagnosis/evidence/ledger.h"

#include <algorithm>

#include "diagnosis/evidence/parts.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

// Excess of each irregular iteration that has rows.
std::map<Iteration, double> ExcessOf(const Case& c) {
  std::map<Iteration, double> excess;
  for (const IrregularIteration& it : c.suspicion.irregular) {
    const double more = (it.duration - c.suspicion.expected).Seconds();
    if (more > 0) excess[it.index] = more;
  }
  std::map<Iteration, double> with_rows;
  for (Iteration it : c.graph.irregular()) {
    if (const auto found = excess.find(it); found != excess.end()) with_rows.insert(*found);
  }
  return with_rows;
}

double MedianPart(const std::vector<Excess>& all, double Excess::*part) {
  std::vector<double> values;
  for (const Excess& e : all) values.push_back(e.*part);
  return Median(std::move(values));
}

Excess Typical(const std::vector<Excess>& all) {
  Excess typical;
  for (double Excess::*part : {&Excess::total, &Excess::compute, &Excess::gc, &Excess::dataloader,
                               &Excess::runqueue, &Excess::host, &Excess::unsplit}) {
    typical.*part = MedianPart(all, part);
  }
  return typical;
}

RankAccount AccountOf(RankId rank, const std::vector<const RankCharge*>& charges,
                      const std::map<Iteration, double>& excess, const DiagnosisConfig& config) {
  RankAccount account;
  account.rank = rank;
  std::vector<Excess> own;
  std::vector<double> held_up;
  for (const RankCharge* charge : charges) {
    const double whole = excess.at(charge->iteration);
    const double needed = config.explains_share * whole;
    const double share = std::max(charge->own.total, charge->path.total);
    if (charge->unknown >= needed && share < needed) continue;
    own.push_back(charge->own);
    account.own.push_back(charge->own.total);
    account.path.push_back(charge->path.total);
    account.share.push_back(share / whole);
    if (share >= needed) ++account.shows;
    held_up.push_back(whole - charge->own.total);
  }
  account.judged = account.own.size();
  account.typical = Typical(own);
  account.path_typical = Median(account.path);
  account.held_up = Median(std::move(held_up));
  return account;
}

void AddBaseline(const Findings& findings, double threshold, RankAccount& account) {
  for (const RankCharge& charge : findings.rank_charges) {
    if (charge.irregular || charge.rank != account.rank) continue;
    if (charge.own.total >= threshold) ++account.baseline_shows;
  }
}

// What others waited for a rank: sum over groups in each iteration, irregular against baseline.
void AddCausedWaits(const Findings& findings, std::size_t irregular, std::size_t baseline,
                    RankAccount& account) {
  std::map<Iteration, double> in_irregular, in_baseline;
  for (const CausedWait& wait : findings.caused_waits) {
    if (wait.rank != account.rank) continue;
    auto& sum = wait.irregular ? in_irregular[wait.iteration] : in_baseline[wait.iteration];
    sum = std::max(sum, wait.seconds);
    if (wait.irregular) account.groups_waiting.insert(wait.group);
  }
  std::vector<double> now, before;
  for (const auto& [iteration, seconds] : in_irregular) now.push_back(seconds);
  for (const auto& [iteration, seconds] : in_baseline) before.push_back(seconds);
  now.resize(std::max(now.size(), irregular), 0.0);
  before.resize(std::max(before.size(), baseline), 0.0);
  account.waited_for = std::max(0.0, Median(std::move(now)) - Median(std::move(before)));
}

void AddGroups(const Findings& findings, const std::map<Iteration, double>& excess,
               const DiagnosisConfig& config, Ledger& ledger) {
  std::map<GroupId, GroupAccount> accounts;
  std::map<Iteration, double> of_all;
  for (const GroupCharge& charge : findings.group_charges) {
    const auto whole = excess.find(charge.iteration);
    if (whole == excess.end()) continue;
    GroupAccount& account = accounts[charge.group];
    account.group = charge.group;
    account.seconds.push_back(charge.seconds);
    of_all[charge.iteration] += charge.seconds;
    if (charge.seconds >= config.mostly_share * whole->second) ++account.shows;
  }
  for (const auto& [iteration, seconds] : of_all) {
    if (seconds >= config.mostly_share * excess.at(iteration)) ++ledger.groups_show;
  }
  for (auto& [id, account] : accounts) {
    account.seconds.resize(std::max(account.seconds.size(), ledger.iterations), 0.0);
    account.typical = Median(account.seconds);
    ledger.groups.push_back(std::move(account));
  }
}

}  // namespace

Ledger GatherEvidence(const Case& c, const Findings& findings) {
  Ledger ledger;
  const std::map<Iteration, double> excess = ExcessOf(c);
  ledger.iterations = excess.size();
  ledger.baseline_iterations = c.graph.baseline().size();
  ledger.expected = c.suspicion.expected.Seconds();
  std::vector<double> whole;
  for (const auto& [iteration, seconds] : excess) whole.push_back(seconds);
  ledger.excess = Median(std::move(whole));
  std::map<RankId, std::vector<const RankCharge*>> by_rank;
  for (const RankCharge& charge : findings.rank_charges) {
    if (!charge.irregular || !excess.contains(charge.iteration)) continue;
    by_rank[charge.rank].push_back(&charge);
  }
  for (const auto& [rank, charges] : by_rank) {
    RankAccount& account = ledger.ranks.emplace_back(AccountOf(rank, charges, excess, c.config));
    const double matters = c.config.explains_share * ledger.excess;
    const double total = account.typical.total;
    if (total >= matters) account.onset = FindOwnOnset(c, rank, total);
    const Iteration since = account.onset ? account.onset->iteration : c.suspicion.onset;
    account.typical = PartsOf(account.typical, SharesOf(c, rank, total, since));
    AddBaseline(findings, matters, account);
    AddCausedWaits(findings, ledger.iterations, c.graph.baseline().size(), account);
  }
  AddGroups(findings, excess, c.config, ledger);
  return ledger;
}

}  // namespace fathom::diagnosis
