#include "diagnosis/wording/phrase.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/evidence/work_growth.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/wording/command.h"
#include "diagnosis/wording/function.h"
#include "diagnosis/wording/kernel.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kListed = 8;
constexpr double kWorthSaying = 0.1;  // share of an excess

std::string Evidently(const Verdict& verdict) {
  switch (verdict.grade) {
    case Grade::kEstablished:
      return "has held";
    case Grade::kSupported:
      return "very likely holds";
    default:
      return "may hold";
  }
}

void AddEvidence(Verdict& verdict, std::string statement, double value, std::string unit,
                 double reference, std::string source) {
  verdict.evidence.push_back(
      {std::move(statement), value, std::move(unit), reference, std::move(source)});
}

void AddCounter(Verdict& verdict, std::string statement, double value, std::string unit,
                double reference, std::string source) {
  verdict.counter_evidence.push_back(
      {std::move(statement), value, std::move(unit), reference, std::move(source)});
}

// The largest own excess among the ranks that are not accused here.
const RankAccount* NextLargest(const Ledger& ledger, const RankAccount& account) {
  const RankAccount* next = nullptr;
  for (const RankAccount& other : ledger.ranks) {
    if (other.rank == account.rank) continue;
    if (next == nullptr || other.typical.total > next->typical.total) next = &other;
  }
  return next;
}

// Whether what the rank did was seen on its device, not on its host.
bool SeenOnDevice(const JobView& view, RankId rank) {
  for (const IterationSummary& iteration : view.window) {
    for (const RankIteration& one : iteration.ranks) {
      if (one.rank == rank && one.device.count > 0) return true;
    }
  }
  return false;
}

// A window that disturbed what it shows.
std::string Doubt(const SlowKernel& kernel) {
  if (kernel.profiler < kWorthSaying) return "";
  return absl::StrFormat(" Recording it took %.0f %% of the time.", 100 * kernel.profiler);
}

// Which kernel, or that it was the launches, where that was recorded.
void AddDeviceEvidence(const Case& c, const RankAccount& account, Verdict& verdict) {
  const double excess = account.typical.total;
  if (verdict.cause == Cause::kComputeSlow) {
    const auto kernel = SlowKernelOf(c, account.rank, excess);
    if (!kernel) return;
    AddEvidence(verdict,
                absl::StrFormat("Kernel %s takes %.1f times as long as on %d peers that launch it "
                                "as often (%.0f times an iteration).%s",
                                kernel->name, kernel->seconds / std::max(kernel->peers, 1e-9),
                                kernel->compared, kernel->launches, Doubt(*kernel)),
                kernel->seconds, "s", kernel->peers, "GPU window");
  } else if (verdict.cause == Cause::kHostSlow) {
    const auto launches = SlowLaunchesOf(c, account.rank, excess);
    if (!launches) return;
    AddEvidence(verdict,
                absl::StrFormat("Its host spends that much longer launching: %.0f kernels an "
                                "iteration (%.0f before), %s each.",
                                launches->launches, launches->launches_before,
                                Duration(launches->seconds / launches->launches)),
                launches->seconds, "s", launches->before, "CUDA calls");
  }
}

// Why it waits for cores longer than before and is at fault all the same.
void AddCrowding(const Excess& own, Verdict& verdict) {
  if (verdict.cause != Cause::kComputeSlow || own.crowding < kWorthSaying * own.total) return;
  AddEvidence(
      verdict,
      "Of that waiting, what the additional computing brings along: on its node a second of "
      "computing waits as long anyway.",
      own.crowding, "s", own.runqueue, "run queue");
}

void AddSlowEvidence(const Case& c, const Ledger& ledger, const RankAccount& account,
                     Verdict& verdict) {
  AddEvidence(verdict,
              absl::StrFormat("In %d of %d slow iterations that were looked at, rank %d spent more "
                              "time of its own than usual, enough to explain the delay.",
                              account.shows, account.judged, account.rank.value),
              static_cast<double>(account.shows), "iterations", static_cast<double>(account.judged),
              "walk_back");
  AddEvidence(verdict, "Its own time beyond the usual, against what the iteration lost.",
              account.typical.total, "s", ledger.excess, "walk_back");
  const bool device = SeenOnDevice(c.view, account.rank);
  const std::pair<const char*, double> parts[] = {
      {device ? "in kernels and copies" : "computing", account.typical.compute},
      {"garbage collection", account.typical.gc},
      {"data loader", account.typical.dataloader},
      {"waiting for a core", account.typical.runqueue},
      {device ? "its device idle, for want of work from its host"
              : "off the CPU, not waiting for others",
       account.typical.host}};
  // A host that waits for a slow device is in some function too.
  const bool hosts = !device || verdict.cause != Cause::kComputeSlow;
  const std::string function =
      hosts ? FunctionOf(c, account.rank, account.typical.total) : std::string();
  if (!function.empty()) {
    AddEvidence(verdict, absl::StrCat("Most of it lies in ", function, "."), account.typical.total,
                "s", 0, "Python stacks");
  }
  for (const auto& [what, seconds] : parts) {
    if (seconds < kWorthSaying * account.typical.total) continue;
    AddEvidence(verdict, absl::StrCat("Of that, ", what, "."), seconds, "s", account.typical.total,
                "walk_back");
  }
  AddCrowding(account.typical, verdict);
  AddDeviceEvidence(c, account, verdict);
  AddEvidence(verdict,
              absl::StrFormat("Others waited for it %s longer than before, on %d communicator%s.",
                              Duration(account.waited_for), account.groups_waiting.size(),
                              account.groups_waiting.size() == 1 ? "" : "s"),
              account.waited_for, "s", 0, "arrival");
  AddEvidence(verdict, "Time of an iteration now, against before the onset.",
              c.suspicion.measured.Seconds(), "s", ledger.expected, "iterations");
}

void AddSlowCounter(const Ledger& ledger, const RankAccount& account, Verdict& verdict) {
  const RankAccount* next = NextLargest(ledger, account);
  if (next != nullptr) {
    AddCounter(
        verdict,
        absl::StrFormat("The next rank by own time beyond the usual is rank %d.", next->rank.value),
        next->typical.total, "s", account.typical.total, "walk_back");
  }
  double transfer = 0;
  for (const GroupAccount& group : ledger.groups) transfer = std::max(transfer, group.typical);
  AddCounter(verdict, "Communication itself took longer than usual by this much.", transfer, "s",
             ledger.excess, "communication_slow");
  if (account.shows < account.judged) {
    AddCounter(verdict, "Slow iterations in which it does not explain the delay.",
               static_cast<double>(account.judged - account.shows), "iterations",
               static_cast<double>(account.judged), "walk_back");
  }
}

std::string Lost(double gpu_hours) {
  if (gpu_hours >= 0.01) return absl::StrFormat("%.2f GPU-hours", gpu_hours);
  return absl::StrFormat("%.1f GPU-seconds", gpu_hours * 3600);
}

// What to do, and the command for it with PID for the process: left out where that is not known.
struct Advice {
  const char* text;
  const char* command;
};

Advice AdviceOn(Cause cause) {
  switch (cause) {
    case Cause::kGc:
      return {
          "Python's garbage collector runs long on this rank. Find what fills its heap; "
          "gc.freeze() after start-up, or collect at the same step on all ranks.",
          "py-spy dump --pid PID"};
    case Cause::kDataLoader:
      return {"Look at this rank's data loader: its storage, its shard, the number of its workers.",
              "py-spy dump --pid PID"};
    case Cause::kComputeSlow:
      return {
          "Compare the work and the clocks of this rank with a peer's: more work is a matter of "
          "the code, the same work at lower clocks one of the machine.",
          "nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE || turbostat --num_iterations 3"};
    case Cause::kProcessStopped:
      return {"The process is stopped by a signal. Find who stopped it; let it go on.",
              "kill -CONT PID"};
    case Cause::kProcessDead:
      return {"The process is gone. Read its log and the kernel's (OOM, Xid).",
              "dmesg --ctime | tail -50"};
    default:
      return {"Look at what the process does between its communication calls.",
              "py-spy dump --pid PID"};
  }
}

// By its bus id: other ranks of the node may call another GPU by the same number.
void LookAtGpu(const RankFacts* facts, Verdict& verdict) {
  if (facts == nullptr || !facts->gpu || !IsPciBusId(facts->gpu->bus_id)) return;
  verdict.action_command =
      absl::StrCat("nvidia-smi -q -i ", facts->gpu->bus_id, " -d CLOCK,PERFORMANCE,TEMPERATURE");
}

}  // namespace

std::string Duration(double seconds) {
  const double ms = seconds * 1e3;
  if (std::abs(seconds) >= 10) return absl::StrFormat("%.0f s", seconds);
  if (std::abs(seconds) >= 1) return absl::StrFormat("%.1f s", seconds);
  if (std::abs(ms) >= 10) return absl::StrFormat("%.0f ms", ms);
  return absl::StrFormat("%.1f ms", ms);
}

std::string RankList(const std::vector<RankId>& ranks) {
  if (ranks.empty()) return "that are not known";
  std::string out;
  const std::size_t shown = std::min(ranks.size(), kListed);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == shown && shown == ranks.size();
    if (i > 0) absl::StrAppend(&out, last ? " and " : ", ");
    absl::StrAppend(&out, ranks[i].value);
  }
  if (shown < ranks.size()) absl::StrAppend(&out, " and ", ranks.size() - shown, " others");
  return out;
}

std::string RanksInWords(const std::vector<RankId>& ranks) {
  return absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ", RankList(ranks));
}

std::string RanksAtStart(const std::vector<RankId>& ranks) {
  return absl::StrCat(ranks.size() == 1 ? "Rank " : "Ranks ", RankList(ranks));
}

std::string GroupName(const JobView& view, GroupId id) {
  const Group* group = FindGroup(view, id);
  if (group == nullptr) return "a group";
  return group->description.empty() ? absl::StrCat("group ", group->name)
                                    : absl::StrCat(group->description, " (", group->name, ")");
}

std::string RankName(const JobView& view, RankId rank) {
  const std::string node = NodeOf(view, rank);
  if (node.empty()) return absl::StrCat("Rank ", rank.value);
  return absl::StrCat("Rank ", rank.value, " on node ", node);
}

std::string RankAndGpuName(const JobView& view, RankId rank) {
  const std::string gpu = GpuOf(view, rank);
  if (gpu.empty()) return RankName(view, rank);
  return absl::StrCat(RankName(view, rank), " (GPU ", gpu, ")");
}

std::string CauseInWords(Cause cause) {
  switch (cause) {
    case Cause::kComputeSlow:
      return "computing";
    case Cause::kHostSlow:
      return "host time (not computing, not waiting for others)";
    case Cause::kGc:
      return "Python garbage collection";
    case Cause::kDataLoader:
      return "waiting for its data loader";
    case Cause::kMemorySlow:
      return "time lost to its memory";
    default:
      return "time of its own, of unknown kind";
  }
}

std::string SinceInWords(Iteration iteration) {
  return absl::StrCat("since iteration ", iteration.value);
}

Owner OwnerOf(Cause cause) {
  switch (cause) {
    case Cause::kGc:
    case Cause::kMismatch:
    case Cause::kImbalance:
      return Owner::kAlgorithm;
    case Cause::kHostSlow:
    case Cause::kDataLoader:
    case Cause::kNonCommunicationHang:
    case Cause::kProcessStopped:
    case Cause::kRegression:
      return Owner::kInfrastructure;
    default:
      return Owner::kOperations;
  }
}

ProblemClass ClassOf(Cause cause) {
  switch (cause) {
    case Cause::kLinkSlow:
    case Cause::kCommunicationSlow:
      return ProblemClass::kCommunicationSlow;
    case Cause::kCommunicationHang:
    case Cause::kMismatch:
      return ProblemClass::kCommunicationHang;
    case Cause::kNonCommunicationHang:
    case Cause::kProcessStopped:
    case Cause::kProcessDead:
      return ProblemClass::kNonCommunicationHang;
    case Cause::kImbalance:
      return ProblemClass::kNone;
    default:
      return ProblemClass::kNonCommunicationSlow;
  }
}

void AdviseOnRank(const JobView& view, RankId rank, Verdict& verdict) {
  const Advice advice = AdviceOn(verdict.cause);
  verdict.action_text = advice.text;
  verdict.action_command = CommandOnProcess(advice.command, FactsOf(view, rank));
  if (verdict.cause == Cause::kComputeSlow) LookAtGpu(FactsOf(view, rank), verdict);
  AdviseWhereToRun(NodeOf(view, rank), verdict);
}

void AdviseWhereToRun(const std::string& node, Verdict& verdict) {
  if (node.empty() || verdict.action_command.empty()) return;
  absl::StrAppend(&verdict.action_text, " Run the command on node ", node, ".");
}

void AddMoreProducts(double times, const char* those, const char* source, Verdict& verdict) {
  constexpr double kMore = 1.2;
  if (verdict.cause != Cause::kComputeSlow || times < kMore) return;
  AddCounter(verdict,
             absl::StrCat("The FLOP of its products of matrices in an iteration, against ", those,
                          ": it has more to compute (a larger batch, longer sequences, a function "
                          "of its own), which no device is to blame for."),
             times, "x", 1, source);
}

void DescribeSlowRank(const Case& c, const Ledger& ledger, const RankAccount& account,
                      Verdict& verdict) {
  const double own = std::max(account.typical.total, account.path_typical);
  const bool computes = verdict.cause == Cause::kComputeSlow;
  verdict.sentence = absl::StrFormat(
      "%s %s the job back %s: %s more %s in each slow iteration; an iteration "
      "takes %s instead of %s (%.1fx), %s lost so far.",
      computes ? RankAndGpuName(c.view, account.rank) : RankName(c.view, account.rank),
      Evidently(verdict), SinceInWords(c.suspicion.onset), Duration(own),
      CauseInWords(verdict.cause), Duration(c.suspicion.measured.Seconds()),
      Duration(ledger.expected), c.suspicion.measured.Seconds() / ledger.expected,
      Lost(verdict.cost.gpu_hours));
  AddSlowEvidence(c, ledger, account, verdict);
  AddSlowCounter(ledger, account, verdict);
  AddMoreProducts(FlopGrowthOf(c, account.rank), "those before", "walk_back", verdict);
  verdict.would_change.push_back(absl::StrFormat(
      "Slow iterations in which rank %d takes no longer than before.", account.rank.value));
  for (const SignalState& signal : c.view.signals) {
    const bool marks = signal.name == "python_marks";
    if (!marks || signal.level == SignalState::Level::kOn) continue;
    if (verdict.cause != Cause::kHostSlow && verdict.cause != Cause::kComputeSlow) continue;
    verdict.would_change.push_back(
        "Marks of the Python source, which is not on: it could be the data loader or garbage "
        "collection.");
  }
  verdict.would_change.push_back("The same excess on most other ranks: then it is no rank's own.");
}

}  // namespace fathom::diagnosis
