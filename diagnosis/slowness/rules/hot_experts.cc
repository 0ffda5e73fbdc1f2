#include "diagnosis/slowness/rules/hot_experts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/stats/student_t.h"
#include "diagnosis/wording/command.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

// What a member received in one all-to-all, and computed from there to its next op.
struct Share {
  RankId rank;
  double bytes = 0;
  double seconds = 0;
};

struct Exchange {
  Iteration iteration{-1};
  std::vector<Share> shares;
};

struct Exchanges {
  std::map<GroupId, std::vector<Exchange>> of_group;
  bool sizes_unknown = false;  // there are all-to-alls, and of none a size is known
};

double WorkedBefore(const CommOp& op) {
  return (op.device_known() ? op.device_at_arrival : op.cpu_at_enter).Seconds();
}

using Place = std::tuple<GroupId, Iteration, std::size_t>;

void AddRank(RankId rank, const std::vector<CommOp>& ops, std::map<Place, Exchange>& found) {
  std::map<std::pair<GroupId, Iteration>, std::size_t> counted;
  for (std::size_t i = 0; i + 1 < ops.size(); ++i) {
    const CommOp& op = ops[i];
    if (op.kind != CollectiveKind::kAllToAll || op.iteration.value < 0) continue;
    const std::size_t number = counted[{op.group, op.iteration}]++;
    Exchange& exchange = found[{op.group, op.iteration, number}];
    exchange.iteration = op.iteration;
    exchange.shares.push_back(
        {rank, static_cast<double>(op.bytes), WorkedBefore(ops[i + 1]) - WorkedBefore(op)});
  }
}

double MeanOf(const Exchange& exchange, double Share::*part) {
  double sum = 0;
  for (const Share& share : exchange.shares) sum += share.*part;
  return sum / static_cast<double>(exchange.shares.size());
}

const Share& Most(const Exchange& exchange, double Share::*part) {
  return *std::max_element(exchange.shares.begin(), exchange.shares.end(),
                           [&](const Share& a, const Share& b) { return a.*part < b.*part; });
}

// Where a member's rows are missing, nobody knows what an even split would be.
bool IsWhole(const JobView& view, GroupId id, const Exchange& exchange) {
  const Group* group = FindGroup(view, id);
  const std::size_t size = group == nullptr ? 0 : group->members.size();
  return exchange.shares.size() >= std::max<std::size_t>(size, 2);
}

Exchanges ExchangesOf(const JobView& view) {
  std::map<Place, Exchange> found;
  for (const auto& [rank, rows] : view.rows) AddRank(rank, rows.ops, found);
  Exchanges out;
  bool sized = false;
  for (auto& [place, exchange] : found) {
    const bool known = MeanOf(exchange, &Share::bytes) > 0;
    sized = sized || known;
    const GroupId group = std::get<GroupId>(place);
    if (!known || MeanOf(exchange, &Share::seconds) <= 0) continue;
    if (IsWhole(view, group, exchange)) out.of_group[group].push_back(std::move(exchange));
  }
  out.sizes_unknown = !found.empty() && !sized;
  return out;
}

// From how many bytes on a member of the exchange is a loaded one.
double LoadFrom(const Exchange& exchange, const DiagnosisConfig& config) {
  return config.slow_worker_ratio * MeanOf(exchange, &Share::bytes);
}

// Of tokens with work, each as a share of the mean of the exchange.
double CorrelationOf(const std::vector<Exchange>& exchanges) {
  double both = 0, bytes = 0, seconds = 0;
  for (const Exchange& exchange : exchanges) {
    const double mean_bytes = MeanOf(exchange, &Share::bytes);
    const double mean_seconds = MeanOf(exchange, &Share::seconds);
    for (const Share& share : exchange.shares) {
      const double x = share.bytes / mean_bytes - 1;
      const double y = share.seconds / mean_seconds - 1;
      both += x * y;
      bytes += x * x;
      seconds += y * y;
    }
  }
  return bytes > 0 && seconds > 0 ? both / std::sqrt(bytes * seconds) : 0;
}

double MedianOfOthers(const Exchange& exchange, RankId rank, double Share::*part) {
  std::vector<double> others;
  for (const Share& share : exchange.shares) {
    if (share.rank != rank) others.push_back(share.*part);
  }
  return Median(std::move(others));
}

// No loaded rank works longer than in proportion to its tokens: then it is slow as well.
bool InProportion(const std::vector<Exchange>& exchanges, const DiagnosisConfig& config) {
  std::map<RankId, std::vector<double>> beyond;
  for (const Exchange& exchange : exchanges) {
    const double loaded = LoadFrom(exchange, config);
    for (const Share& share : exchange.shares) {
      if (share.bytes < loaded) continue;
      const double seconds = MedianOfOthers(exchange, share.rank, &Share::seconds);
      const double bytes = MedianOfOthers(exchange, share.rank, &Share::bytes);
      if (seconds > 0) beyond[share.rank].push_back(share.seconds * bytes / seconds / share.bytes);
    }
  }
  return std::all_of(beyond.begin(), beyond.end(), [&](const auto& of_rank) {
    return Median(of_rank.second) <= config.slow_worker_ratio;
  });
}

// What a group shows over its uneven exchanges.
struct HotGroup {
  GroupId group;
  std::vector<Exchange> uneven;
  std::set<Iteration> iterations;
  std::map<RankId, std::size_t> leads;  // exchanges in which it got most
  double correlation = 0;
  double lost_s = 0;  // in an iteration, against an even split
};

bool Explained(const HotGroup& hot, const DiagnosisConfig& config) {
  std::size_t pairs = 0, loaded = 0;
  for (const Exchange& exchange : hot.uneven) {
    pairs += exchange.shares.size();
    loaded += Most(exchange, &Share::seconds).bytes >= LoadFrom(exchange, config);
  }
  if (ChanceOfCorrelation(hot.correlation, pairs) >= config.sure_chance()) return false;
  if (hot.iterations.size() < static_cast<std::size_t>(std::max(1, config.min_irregular))) {
    return false;
  }
  const auto count = static_cast<double>(hot.uneven.size());
  return static_cast<double>(loaded) >= config.guilty_share() * count &&
         hot.correlation >= config.length_correlation && InProportion(hot.uneven, config);
}

HotGroup Sum(GroupId group, std::vector<Exchange> exchanges, const DiagnosisConfig& config) {
  HotGroup hot;
  hot.group = group;
  for (Exchange& exchange : exchanges) {
    const Share& most = Most(exchange, &Share::bytes);
    if (most.bytes < LoadFrom(exchange, config)) continue;
    ++hot.leads[most.rank];
    hot.iterations.insert(exchange.iteration);
    hot.lost_s += Most(exchange, &Share::seconds).seconds - MeanOf(exchange, &Share::seconds);
    hot.uneven.push_back(std::move(exchange));
  }
  if (!hot.iterations.empty()) hot.lost_s /= static_cast<double>(hot.iterations.size());
  hot.correlation = CorrelationOf(hot.uneven);
  return hot;
}

// Those that got most. A rank that does so in nearly all exchanges stands for itself.
std::vector<RankId> LoadedRanks(const HotGroup& hot, const DiagnosisConfig& config) {
  std::vector<RankId> ranks;
  for (const auto& [rank, times] : hot.leads) {
    ranks.push_back(rank);
    if (static_cast<double>(times) >=
        config.guilty_share() * static_cast<double>(hot.uneven.size())) {
      return {rank};
    }
  }
  return ranks;
}

double MedianRatio(const HotGroup& hot, double Share::*part) {
  std::vector<double> ratios;
  for (const Exchange& exchange : hot.uneven) {
    const Share& most = Most(exchange, &Share::bytes);
    ratios.push_back(most.*part / MeanOf(exchange, part));
  }
  return Median(std::move(ratios));
}

std::string Sentence(const Case& c, const HotGroup& hot, const std::vector<RankId>& ranks) {
  const double bytes = MedianRatio(hot, &Share::bytes);
  const double seconds = MedianRatio(hot, &Share::seconds);
  const std::string who = ranks.size() == 1
                              ? absl::StrFormat("The experts on %s get", RanksInWords(ranks))
                              : absl::StrFormat("Experts on %s in turn get", RanksInWords(ranks));
  return absl::StrFormat(
      "%s %.1f times as many tokens as the mean of %s, and compute %.1f times as long on them: the "
      "others wait %s in each iteration. That is how tokens are routed; no device needs to be slow "
      "for it.",
      who, bytes, GroupName(c.view, hot.group), seconds, Duration(hot.lost_s));
}

Verdict Name(const Case& c, const HotGroup& hot) {
  Verdict verdict;
  verdict.cause = Cause::kImbalance;
  const auto few = static_cast<std::size_t>(std::max(0, c.config.imbalance_iterations()));
  verdict.grade = hot.iterations.size() < few ? Grade::kHypothesis : Grade::kSupported;
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  verdict.entity.type = EntityType::kGroup;
  verdict.entity.ranks = LoadedRanks(hot, c.config);
  for (const Share& share : hot.uneven.front().shares) {
    if (!Contains(verdict.entity.ranks, share.rank)) verdict.victims.push_back(share.rank);
  }
  verdict.since_iteration = *hot.iterations.begin();
  verdict.cost = CostOfSteps(c.view, hot.iterations.size(), MedianDuration(c.view),
                             MedianDuration(c.view) - hot.lost_s);
  verdict.sentence = Sentence(c, hot, verdict.entity.ranks);
  verdict.evidence.push_back(
      {"Correlation of the bytes that a rank received with what it then computed.", hot.correlation,
       "", c.config.length_correlation, "communication_ops"});
  verdict.evidence.push_back({"Time lost in an iteration against an even split of the tokens.",
                              hot.lost_s, "s", 0, "communication_ops"});
  verdict.counter_evidence.push_back({"Iterations in which tokens were uneven, of those recorded.",
                                      static_cast<double>(hot.iterations.size()), "iterations",
                                      static_cast<double>(c.view.window.size()),
                                      "communication_ops"});
  verdict.would_change.push_back(
      "Iterations in which these ranks took as long with no more tokens than the others.");
  verdict.action_text =
      "Balance the routing (auxiliary loss, capacity factor), or spread or copy these experts.";
  verdict.action_command = RanksCommand(c.view);
  return verdict;
}

void Examine(const Case& c, Findings& out) {
  Exchanges exchanges = ExchangesOf(c.view);
  if (exchanges.sizes_unknown && c.suspicion.slow) {
    out.abstained.push_back({"whether experts get unequal numbers of tokens",
                             "what ranks receive in all-to-alls (record_shapes=True tells)"});
  }
  const double usual = MedianDuration(c.view);
  for (auto& [group, of_group] : exchanges.of_group) {
    if (group == GroupId()) continue;
    const HotGroup hot = Sum(group, std::move(of_group), c.config);
    const bool worth = hot.lost_s >= (c.config.delta - 1) * usual && hot.lost_s < usual;
    if (worth && Explained(hot, c.config)) out.verdicts.push_back(Name(c, hot));
  }
}

bool IsOfExperts(const Verdict& verdict) {
  return verdict.cause == Cause::kImbalance && verdict.entity.type == EntityType::kGroup;
}

}  // namespace

Rule HotExpertsRule() {
  return {"hot_experts",
          {"communication_ops"},
          "whether experts get unequal numbers of tokens",
          [](const Suspicion& s) { return !s.stalled; },
          Examine};
}

void SpareLoadedRanks(std::vector<Verdict>& verdicts, const DiagnosisConfig& config) {
  std::map<RankId, Iteration> loaded;  // since when
  for (const Verdict& verdict : verdicts) {
    if (!IsOfExperts(verdict)) continue;
    for (RankId rank : verdict.entity.ranks) loaded[rank] = verdict.since_iteration;
  }
  std::erase_if(verdicts, [&](const Verdict& verdict) {
    const auto& ranks = verdict.entity.ranks;
    const auto explained = [&](RankId rank) {
      const auto since = loaded.find(rank);
      return since != loaded.end() &&
             since->second.value + config.onset_slack() >= verdict.since_iteration.value;
    };
    return verdict.cause == Cause::kComputeSlow && !ranks.empty() &&
           std::all_of(ranks.begin(), ranks.end(), explained);
  });
}

}  // namespace fathom::diagnosis
