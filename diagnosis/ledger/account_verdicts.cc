#include "diagnosis/ledger/account_verdicts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr double kWorthSaying = 0.1;  // share of an excess
constexpr char kSource[] = "ledger";

bool OnDevice(const JobView& view, RankId rank) {
  for (const IterationSummary& it : view.window) {
    const RankIteration* mine = RankIn(it, rank);
    if (mine != nullptr && mine->device.count > 0) return true;
  }
  return false;
}

std::string Subject(const JobView& view, const Accused& accused) {
  const Entity& entity = accused.share.entity;
  switch (entity.type) {
    case EntityType::kRank:
    case EntityType::kGpu:
      return accused.share.cause == Cause::kComputeSlow ? RankAndGpuName(view, entity.ranks.front())
                                                        : RankName(view, entity.ranks.front());
    case EntityType::kHost:
      return absl::StrCat("Node ", entity.node, " (", RanksInWords(entity.ranks), ")");
    default:
      return RanksAtStart(entity.ranks);
  }
}

// Of a live job whose first iterations are known it is said that it was so since it began.
std::string Since(const JobView& view, const AccountShare& share) {
  if (!share.from_start) return SinceInWords(share.since);
  const bool live = view.iterations_seen > 0;
  if (live && share.since.value <= 1) return "since the job began";
  return live ? "in all iterations that are known" : "from the first recorded iteration on";
}

// "second", "third", "4th".
std::string Ordinal(std::int64_t n) {
  return n == 2 ? "second" : n == 3 ? "third" : absl::StrCat(n, "th");
}

std::string When(const JobView& view, const AccountShare& share, const Outlier& outlier) {
  const std::string since = Since(view, share);
  if (share.every > 1)
    return absl::StrFormat("in every %s iteration, %s", Ordinal(share.every), since);
  if (outlier.lasting) return since;
  return absl::StrFormat("in %d of %d iterations, %s", outlier.shows, outlier.iterations, since);
}

// Rows are of few of the iterations in which it was looked for: of those in which it shows.
bool InPart(const Account& account, const Accused& accused) {
  return account.iterations < static_cast<std::int64_t>(accused.outlier.in.size()) &&
         !accused.outlier.lasting;
}

std::string Gain(const Account& account, const Accused& accused) {
  const double whole = account.replayed_s / static_cast<double>(account.iterations);
  const double without = whole * (1 - accused.loss_share);
  return absl::StrFormat("%s iteration takes %s, and would take %s without it (%.2fx)",
                         InPart(account, accused) ? "such an" : "an", Duration(whole),
                         Duration(without), whole / std::max(without, 1e-9));
}

std::string PeersInWords(const Outlier& outlier) {
  if (outlier.peers == 1) return "the other rank";
  return absl::StrFormat("%d %s", outlier.peers,
                         outlier.host_time ? "others" : "peers that do the same work");
}

std::string SentenceOnRank(const JobView& view, const Account& account, const Accused& accused) {
  const Outlier& outlier = accused.outlier;
  const bool all = accused.share.entity.type == EntityType::kHost;
  return absl::StrFormat(
      "%s %s the job back, %s: %s more %s than %s (%s against %s); %s.", Subject(view, accused),
      all ? "hold" : "holds", When(view, accused.share, outlier), Duration(outlier.excess),
      CauseInWords(accused.share.cause), PeersInWords(outlier),
      Duration(outlier.usual + outlier.excess), Duration(outlier.usual), Gain(account, accused));
}

const char* InWords(WorkKind kind) {
  switch (kind) {
    case WorkKind::kBlocks:
      return "blocks of its kernels";
    case WorkKind::kElements:
      return "elements of its batches";
    case WorkKind::kBytes:
      return "bytes of its communication";
    case WorkKind::kProducts:
      return "FLOP of its products of matrices";
  }
  return "";
}

std::string SentenceOnImbalance(const JobView& view, const Account& account,
                                const Accused& accused) {
  const Outlier& outlier = accused.outlier;
  const bool several = accused.share.entity.ranks.size() > 1;
  return absl::StrFormat(
      "%s %s %.2f times the work of %d peers (%s), and %s %.2f times as long by itself, %s: "
      "unequal work, not a slow device; %s.",
      Subject(view, accused), several ? "have" : "has", accused.work_ratio, outlier.peers,
      InWords(accused.work), several ? "take" : "takes",
      (outlier.usual + outlier.excess) / std::max(outlier.usual, 1e-9),
      When(view, accused.share, outlier), Gain(account, accused));
}

std::string SentenceOnChannel(const JobView& view, const Account& account, const Accused& accused) {
  const Outlier& outlier = accused.outlier;
  return absl::StrFormat(
      "Communication %s is slow, %s: %.1f times as long as in %d channels like it with all ranks "
      "there (%s in each iteration against %s); %s.",
      accused.where, When(view, accused.share, outlier),
      (outlier.usual + outlier.excess) / std::max(outlier.usual, 1e-9), outlier.peers,
      Duration(outlier.usual + outlier.excess), Duration(outlier.usual), Gain(account, accused));
}

bool OfChannels(const Accused& accused) { return !accused.where.empty(); }

// What a second of the played iterations is worth in the mean of all that were looked at: of those
// in which it shows, rows of some are at hand.
double MeanOfPlayed(const Account& account, const Accused& accused) {
  if (!InPart(account, accused)) return 1 / static_cast<double>(account.iterations);
  const auto played = static_cast<double>(std::max<std::size_t>(accused.shows_played, 1));
  const auto looked = static_cast<double>(accused.outlier.in.size());
  return static_cast<double>(accused.outlier.shows) / played / looked;
}

Cost CostOf(const JobView& view, const Account& account, const Accused& accused) {
  const bool part = InPart(account, accused);
  const double mean = MeanOfPlayed(account, accused);
  Cost cost;
  cost.seconds_per_iteration = accused.loss_share * account.replayed_s * mean;
  const double with = part ? MedianDuration(view) + cost.seconds_per_iteration
                           : account.replayed_s / static_cast<double>(account.iterations);
  cost.slowdown = with / std::max(with - cost.seconds_per_iteration, 1e-9);
  const std::int64_t looked =
      part ? static_cast<std::int64_t>(accused.outlier.in.size()) : account.iterations;
  const std::int64_t all =
      accused.share.from_start ? std::max(looked, view.iterations_seen) : looked;
  cost.gpu_hours = accused.share.lost_gpu_s * mean * static_cast<double>(all) / 3600;
  return cost;
}

// What shows in a few iterations of many must be worth a look among all of them.
bool IsWorthALook(const JobView& view, const Account& account, const Accused& accused,
                  const AccountLimits& limits) {
  const double least = accused.outlier.host_time ? limits.alone_cost : limits.least_cost;
  if (accused.loss_share < least) return false;
  return CostOf(view, account, accused).slowdown - 1 >= limits.least_mean;
}

Grade GradeOf(const Accused& accused, const AccountLimits& limits) {
  const Outlier& outlier = accused.outlier;
  if (accused.share.cause == Cause::kUnknown) return Grade::kHypothesis;
  const bool apart = outlier.excess >= limits.sure_contrast * outlier.next;
  // Of two, one may have such a duty by design, unless it is garbage or the wait for a batch.
  const bool marked =
      accused.share.cause == Cause::kGc || accused.share.cause == Cause::kDataLoader;
  if (outlier.peers == 1 && outlier.host_time && !marked) return Grade::kSupported;
  return apart && outlier.shows >= 2 ? Grade::kEstablished : Grade::kSupported;
}

void AddEvidence(const JobView& view, const Accused& accused, Verdict& verdict) {
  const Outlier& outlier = accused.outlier;
  const bool channels = OfChannels(accused);
  verdict.evidence.push_back(
      {absl::StrFormat("%s in an iteration, against %s in the same iterations; it shows in %d of "
                       "%d.",
                       channels ? "Its transfers" : "Its own time",
                       !channels && outlier.peers == 1
                           ? "that of the other rank"
                           : absl::StrFormat("the median of %d that do the same", outlier.peers),
                       outlier.shows, outlier.iterations),
       outlier.usual + outlier.excess, "s", outlier.usual, kSource});
  verdict.evidence.push_back(
      {"What an iteration would gain if it took what its peers take, by a "
       "replay of the recorded iterations.",
       accused.share.gain_s_per_iteration, "s", 0, kSource});
  if (channels) return;
  const bool device = OnDevice(view, verdict.entity.ranks.front());
  const std::pair<const char*, double> parts[] = {
      {device ? "in kernels and copies" : "computing", accused.compute},
      {"garbage collection", accused.gc},
      {"data loader", accused.dataloader}};
  for (const auto& [what, seconds] : parts) {
    if (seconds < kWorthSaying * outlier.excess) continue;
    verdict.evidence.push_back(
        {absl::StrCat("Of that, ", what, "."), seconds, "s", outlier.excess, kSource});
  }
  if (accused.share.cause == Cause::kImbalance) {
    verdict.evidence.push_back(
        {absl::StrCat("Its work against its peers', in ", InWords(accused.work), "."),
         accused.work_ratio, "", 1, kSource});
  }
}

void AddCounter(const Accused& accused, Verdict& verdict) {
  const Outlier& outlier = accused.outlier;
  AddMoreProducts(accused.flop_ratio, "its peers'", kSource, verdict);
  verdict.counter_evidence.push_back({"The next of those that do the same, beyond its peers.",
                                      outlier.next, "s", outlier.excess, kSource});
  if (accused.share.from_start) {
    verdict.counter_evidence.push_back(
        {"Iterations before it began: none is known, so it may always have been so.", 0,
         "iterations", static_cast<double>(outlier.iterations), kSource});
  }
}

void Advise(const JobView& view, const Accused& accused, Verdict& verdict) {
  if (OfChannels(accused)) {
    verdict.action_text = "Look at the paths between these ranks: errors, speed, width, load.";
    verdict.action_command = "ss -ti; ip -s link";
    verdict.would_change.push_back(
        "Paths that are longer by design, such as through another "
        "switch.");
    AdviseWhereToRun(verdict.entity.node, verdict);
  } else if (accused.share.cause == Cause::kImbalance) {
    verdict.action_text = "Look at how the work is divided between the ranks.";
    verdict.would_change.push_back("The same work in as little time as its peers take.");
  } else {
    AdviseOnRank(view, verdict.entity.ranks.front(), verdict);
    verdict.would_change.push_back("More work for this rank by design.");
  }
}

WallNs BeginOf(const JobView& view, Iteration iteration) {
  for (const IterationSummary& it : view.window) {
    if (it.index == iteration) return it.begin;
  }
  return {};
}

Verdict VerdictOn(const JobView& view, const Account& account, const Accused& accused,
                  const AccountLimits& limits) {
  Verdict verdict;
  verdict.entity = accused.share.entity;
  verdict.cause = accused.share.cause;
  verdict.grade = GradeOf(accused, limits);
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  verdict.since_iteration = accused.share.since;
  verdict.since_time = BeginOf(view, accused.share.since);
  verdict.from_start = accused.share.from_start;
  verdict.every = accused.share.every;
  verdict.cost = CostOf(view, account, accused);
  verdict.victims = accused.victims;
  if (!OfChannels(accused)) {
    const std::vector<RankId> others = RanksBeside(view, verdict.entity.ranks);
    verdict.victims.insert(verdict.victims.end(), others.begin(), others.end());
  }
  verdict.sentence = OfChannels(accused) ? SentenceOnChannel(view, account, accused)
                     : verdict.cause == Cause::kImbalance
                         ? SentenceOnImbalance(view, account, accused)
                         : SentenceOnRank(view, account, accused);
  AddEvidence(view, accused, verdict);
  AddCounter(accused, verdict);
  Advise(view, accused, verdict);
  return verdict;
}

// A job that loses far more than those who stand out explain is slow by something else.
bool ExplainsTheLoss(const Accounting& accounting, const AccountLimits& limits) {
  double explained = 0;
  for (const Accused& accused : accounting.accused) explained += accused.share.lost_gpu_s;
  return explained >= limits.explains * accounting.account.lost_gpu_s;
}

// Ranks that take longer and seem to cost nothing, as nobody is known to wait for them.
std::vector<Abstention> AbstainedOnMessages(const Accounting& accounting) {
  std::vector<RankId> longer;
  for (const Accused& accused : accounting.accused) {
    if (!accused.share.hidden || accused.once || OfChannels(accused)) continue;
    const auto& ranks = accused.share.entity.ranks;
    longer.insert(longer.end(), ranks.begin(), ranks.end());
  }
  if (!accounting.partners_unknown || longer.empty()) return {};
  std::sort(longer.begin(), longer.end());
  return {{absl::StrCat("what ", RanksInWords(longer),
                        longer.size() == 1 ? " costs, which takes longer by itself"
                                           : " cost, which take longer by themselves"),
           "the other end of each message: record_shapes=True of PyTorch's profiler"}};
}

}  // namespace

std::vector<Verdict> VerdictsOn(const JobView& view, const Accounting& accounting,
                                const AccountLimits& limits) {
  std::vector<Verdict> verdicts;
  if (!accounting.replayed_well || !ExplainsTheLoss(accounting, limits)) return verdicts;
  for (const Accused& accused : accounting.accused) {
    if (accused.share.hidden || accused.common || accused.once) continue;
    if (!IsWorthALook(view, accounting.account, accused, limits)) continue;
    verdicts.push_back(VerdictOn(view, accounting.account, accused, limits));
  }
  return verdicts;
}

std::vector<Abstention> AbstainedOn(const Accounting& accounting) {
  std::vector<Abstention> out = AbstainedOnMessages(accounting);
  std::vector<RankId> together;
  for (const Accused& accused : accounting.accused) {
    if (!accused.common || accused.share.hidden) continue;
    const auto& ranks = accused.share.entity.ranks;
    together.insert(together.end(), ranks.begin(), ranks.end());
  }
  if (!together.empty()) {
    std::sort(together.begin(), together.end());
    out.push_back({"who is slow of ranks that take longer alike",
                   absl::StrCat("what ", RanksInWords(together),
                                ", which work together, have in common: more work for all of them, "
                                "or something they share")});
  }
  if (!accounting.replayed_well && !accounting.accused.empty()) {
    out.push_back({"what mending a rank would win back",
                   "when messages could begin: a replay of the iterations does not take what they "
                   "took"});
  }
  for (const auto& [a, b] : accounting.differ) {
    out.push_back({absl::StrFormat("which of ranks %d and %d is wrong, that alone do the same work "
                                   "and take different time by themselves",
                                   a.value, b.value),
                   "a third rank that does the same work, or a time before"});
  }
  return out;
}

}  // namespace fathom::diagnosis
