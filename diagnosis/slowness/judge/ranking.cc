#include "diagnosis/slowness/judge/ranking.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr double kMostLog = 200;

// Evidence that others share: without the prior of the device.
double LogEvidence(const DiagnosisConfig& config, const Ledger& ledger,
                   const RankAccount& account) {
  const double chance = ChanceToShow(ledger, account, config);
  return std::log(PosteriorOdds(1, account.shows, account.judged, chance, config.guilty_share()));
}

double Odds(double prior, double log_evidence) {
  return prior * std::exp(std::clamp(log_evidence, -kMostLog, kMostLog));
}

bool Shows(const DiagnosisConfig& config, const RankAccount& account) {
  return static_cast<double>(account.shows) >=
         config.consistent_share * static_cast<double>(std::max<std::size_t>(1, account.judged));
}

struct Node {
  std::vector<RankId> users;
  std::size_t shows = 0;
  double log_evidence = 0;
  double share = 0;
};

void AddRanks(const JobView& view, const Ledger& ledger, const DiagnosisConfig& config,
              std::map<std::string, Node>& nodes, std::vector<RankedDevice>& out) {
  for (const RankAccount& account : ledger.ranks) {
    const std::string node = NodeOf(view, account.rank);
    const double evidence = LogEvidence(config, ledger, account), share = Median(account.share);
    out.push_back(
        {EntityType::kRank, {account.rank}, node, Odds(config.prior_rank, evidence), share});
    if (node.empty()) continue;
    Node& of = nodes[node];
    of.users.push_back(account.rank);
    of.shows += Shows(config, account);
    of.log_evidence += evidence;
    of.share = std::max(of.share, share);
  }
}

void AddNodes(const DiagnosisConfig& config, const std::map<std::string, Node>& nodes,
              std::vector<RankedDevice>& out) {
  for (const auto& [name, node] : nodes) {
    if (node.shows < 2) continue;
    const auto users = static_cast<double>(node.users.size());
    const double evidence = node.log_evidence / users * std::sqrt(users);
    out.push_back(
        {EntityType::kHost, node.users, name, Odds(config.prior_shared(), evidence), node.share});
  }
}

void AddGroups(const JobView& view, const Ledger& ledger, const DiagnosisConfig& config,
               std::vector<RankedDevice>& out) {
  for (const GroupAccount& account : ledger.groups) {
    const Group* group = FindGroup(view, account.group);
    if (group == nullptr) continue;
    const double odds = PosteriorOdds(config.prior_shared(), account.shows, ledger.iterations,
                                      config.chance_share(), config.guilty_share());
    out.push_back({EntityType::kGroup, group->members, "", odds, account.typical / ledger.excess});
  }
}

bool MoreSuspicious(const RankedDevice& a, const RankedDevice& b) {
  if (a.posterior_odds != b.posterior_odds) return a.posterior_odds > b.posterior_odds;
  return a.share > b.share;
}

}  // namespace

std::vector<RankedDevice> RankDevices(const JobView& view, const Ledger& ledger,
                                      const DiagnosisConfig& config) {
  std::vector<RankedDevice> all;
  if (ledger.iterations == 0 || ledger.excess <= 0) return all;
  std::map<std::string, Node> nodes;
  AddRanks(view, ledger, config, nodes, all);
  AddNodes(config, nodes, all);
  AddGroups(view, ledger, config, all);
  std::erase_if(all, [](const RankedDevice& device) { return device.posterior_odds <= 1; });
  std::stable_sort(all.begin(), all.end(), MoreSuspicious);
  return all;
}

std::string DeviceInWords(const RankedDevice& device) {
  if (device.type == EntityType::kHost) return absl::StrCat("node ", device.node);
  if (device.type == EntityType::kGroup) {
    return absl::StrCat("the communicator of ranks ", RankList(device.ranks));
  }
  return absl::StrCat("rank ", device.ranks.front().value,
                      device.node.empty() ? "" : absl::StrCat(" on ", device.node));
}

}  // namespace fathom::diagnosis
