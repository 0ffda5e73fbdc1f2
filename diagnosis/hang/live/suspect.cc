#include "diagnosis/hang/live/suspect.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/hang/live/recent_use.h"

namespace fathom::diagnosis {
namespace {

constexpr std::size_t kFramesShown = 4;

void DescribeStack(const StackSeen& stack, Verdict& verdict) {
  if (!stack.error.empty()) {
    verdict.evidence.push_back(
        {absl::StrCat("Its stack could not be read: ", stack.error), 0, "", 0, "stacks"});
  }
  if (stack.frames.empty()) return;
  std::string text = absl::StrCat("Its training thread is in ", stack.frames.front());
  for (std::size_t i = 1; i < std::min(kFramesShown, stack.frames.size()); ++i) {
    absl::StrAppend(&text, ", called by ", stack.frames[i]);
  }
  const std::string how =
      stack.pause.count == 0
          ? "the process was not paused"
          : absl::StrFormat("its thread was paused for %.2f ms", 1e3 * stack.pause.Seconds());
  verdict.evidence.push_back({std::move(text), static_cast<double>(stack.samples), "samples",
                              static_cast<double>(stack.functions),
                              absl::StrCat(stack.source, ", ", how)});
  if (stack.longest_pause > stack.pause || stack.given_up) {
    verdict.evidence.push_back(
        {stack.given_up ? "The longest pause for a stack: too long, so that no more are taken."
                        : "The longest pause for a stack.",
         1e3 * stack.longest_pause.Seconds(), "ms", 1e3 * stack.pause.Seconds(), stack.source});
  }
}

void DescribeUse(const RankFacts& facts, const DiagnosisConfig& config, Verdict& verdict) {
  const double silent = facts.silent_for.Seconds();
  verdict.evidence.push_back({"CPU time of its process while silent.",
                              facts.cpu_while_silent.Seconds(), "s", silent, "/proc"});
  verdict.evidence.push_back({"Bytes it read and wrote while silent.",
                              static_cast<double>(facts.io_while_silent), "B", 0, "/proc"});
  verdict.evidence.push_back({"Pages it touched first while silent.",
                              static_cast<double>(facts.faults_while_silent), "faults", 0,
                              "/proc"});
  const ProcessUse use = RecentUse(facts, config);
  if (use.descendants_cpu.count > 0 || use.descendants_io > 0) {
    verdict.evidence.push_back({"CPU time of processes that it started, in the last seconds.",
                                use.descendants_cpu.Seconds(), "s", use.over.Seconds(), "/proc"});
  }
  const Nanos idle = IdleFor(facts, config);
  if (idle < facts.silent_for) {
    verdict.evidence.push_back({"It has done nothing for this long, after it had worked.",
                                idle.Seconds(), "s", silent, "/proc"});
  }
}

// Names of kernel functions, stable for years; a kernel that hides them gives none.
bool InTimedSleep(const std::string& channel) {
  return absl::StrContains(channel, "nanosleep") || absl::StrContains(channel, "schedule_timeout");
}

bool WaitsForInput(const std::string& channel) {
  return absl::StrContains(channel, "pipe_read") || absl::StrContains(channel, "n_tty_read") ||
         absl::StrContains(channel, "ep_poll") || absl::StrContains(channel, "poll_schedule") ||
         channel == "wait_woken";
}

// For a process that it started: a script that uploads a checkpoint, a compiler.
bool WaitsForChild(const std::string& channel) {
  return channel == "do_wait" || absl::StrContains(channel, "kernel_wait4");
}

bool OnFutex(const RankFacts& facts) { return absl::StrContains(facts.wait_channel, "futex"); }

// For bytes of a file: of a network file system or FUSE, of a local one, of a disk.
bool WaitsForStorage(const std::string& channel) {
  constexpr std::array<std::string_view, 16> kParts = {
      "rpc_",  "nfs",         "request_wait_answer", "fuse",         "ceph", "ptlrpc", "gpfs",
      "cifs",  "io_schedule", "folio_wait",          "wait_on_page", "jbd2", "ext4_",  "xfs_",
      "btrfs", "blkdev"};
  return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
    return absl::StrContains(channel, absl::string_view(part.data(), part.size()));
  });
}

bool WaitsForThread(const RankFacts& facts, const ProcessUse& use, const DiagnosisConfig& config) {
  return OnFutex(facts) && facts.open_ops.empty() &&
         use.PerSecond(use.cpu.Seconds()) >= config.helper_ratio;
}

// Marks that the tracer's Python part sets by itself: what takes long and ends.
bool IsLongStep(const std::string& mark) {
  return mark == "gc" || absl::StartsWith(mark, "checkpoint (") ||
         absl::StartsWith(mark, "compile (");
}

// "saves or loads a checkpoint (torch.save)".
std::string LongStepInWords(const std::string& mark) {
  if (mark == "gc") return "collects garbage (Python)";
  const std::size_t in = std::min(mark.find('('), mark.size());
  return absl::StrCat(absl::StartsWith(mark, "compile") ? "compiles " : "is in a checkpoint ",
                      mark.substr(in));
}

std::string_view SignalName(int signal) {
  switch (signal) {
    case 2:
      return "SIGINT";
    case 6:
      return "SIGABRT";
    case 7:
      return "SIGBUS";
    case 8:
      return "SIGFPE";
    case 9:
      return "SIGKILL";
    case 11:
      return "SIGSEGV";
    case 15:
      return "SIGTERM";
    default:
      return "";
  }
}

std::string Channel(const RankFacts& facts) {
  return facts.wait_channel.empty() ? "" : absl::StrCat(" (", facts.wait_channel, ")");
}

}  // namespace

Occupation OccupationOf(const RankFacts& facts, const DiagnosisConfig& config) {
  if (facts.frozen) return Occupation::kFrozen;
  if (facts.open_mark == "dataloader") return Occupation::kLoadingData;
  if (IsLongStep(facts.open_mark)) return Occupation::kInLongStep;
  const ProcessUse use = RecentUse(facts, config);
  const bool moves = facts.stack.functions >= static_cast<std::uint32_t>(config.work_functions);
  if (moves || Works(use, config)) return Occupation::kWorking;
  if (DescendantsWork(use, config)) return Occupation::kHelped;
  const std::string& channel = facts.wait_channel;
  if (WaitsForStorage(channel)) return Occupation::kOnStorage;
  if (facts.state == ProcessState::kUninterruptible) return Occupation::kUninterruptible;
  if (WaitsForThread(facts, use, config)) return Occupation::kResting;
  // What waits for a core would run if it could.
  if (use.PerSecond((use.cpu + use.starved).Seconds()) >= config.busy_ratio) {
    return Occupation::kLooping;
  }
  const bool rests = InTimedSleep(channel) || WaitsForInput(channel) || WaitsForChild(channel);
  return rests ? Occupation::kResting : Occupation::kBlocked;
}

bool IsSlowOnly(Occupation occupation) {
  return occupation == Occupation::kWorking || occupation == Occupation::kHelped ||
         occupation == Occupation::kInLongStep || occupation == Occupation::kLoadingData;
}

double PatienceWith(Occupation occupation, const DiagnosisConfig& config) {
  switch (occupation) {
    case Occupation::kBlocked:
    case Occupation::kFrozen:
      return 1;
    case Occupation::kLooping:
    case Occupation::kUninterruptible:
      return config.busy_patience;
    case Occupation::kResting:
    case Occupation::kOnStorage:
    case Occupation::kWorking:
    case Occupation::kHelped:
    case Occupation::kInLongStep:
    case Occupation::kLoadingData:
      return config.work_patience;
  }
  return 1;
}

std::string InWords(Occupation occupation, const RankFacts& facts) {
  switch (occupation) {
    case Occupation::kFrozen:
      return "is frozen by its control group";
    case Occupation::kLoadingData:
      return "waits for its data loader";
    case Occupation::kInLongStep:
      return LongStepInWords(facts.open_mark);
    case Occupation::kWorking:
      return "works";
    case Occupation::kHelped:
      return "waits while processes that it started work";
    case Occupation::kOnStorage:
      return absl::StrCat("waits for storage", Channel(facts));
    case Occupation::kUninterruptible:
      return absl::StrCat("is in uninterruptible sleep", Channel(facts));
    case Occupation::kLooping:
      return "keeps a core busy";
    case Occupation::kResting:
      if (WaitsForChild(facts.wait_channel)) {
        return absl::StrCat("waits for a process that it started", Channel(facts));
      }
      if (OnFutex(facts)) return "waits for another thread of its own that works";
      return WaitsForInput(facts.wait_channel) ? absl::StrCat("waits for input", Channel(facts))
                                               : absl::StrCat("sleeps", Channel(facts));
    case Occupation::kBlocked:
      return OnFutex(facts) ? absl::StrCat("is blocked on a lock", Channel(facts))
                            : absl::StrCat("is idle", Channel(facts));
  }
  return "is silent";
}

void DescribeSuspect(Occupation occupation, const RankFacts& facts, const DiagnosisConfig& config,
                     Verdict& verdict) {
  const double silent = facts.silent_for.Seconds();
  DescribeUse(facts, config, verdict);
  DescribeStack(facts.stack, verdict);
  if (facts.oom_kills > 0) {
    verdict.evidence.push_back({"Its control group ran out of memory and had a process killed.",
                                static_cast<double>(facts.oom_kills), "kills", 0, "cgroup"});
  }
  if (occupation == Occupation::kLooping || occupation == Occupation::kUninterruptible) {
    const ProcessUse use = RecentUse(facts, config);
    verdict.counter_evidence.push_back({"It is busy: a long computation looks the same.",
                                        use.PerSecond(use.cpu.Seconds()), "ratio", 1, "/proc"});
  }
  if (PatienceWith(occupation, config) >= config.work_patience) {
    verdict.counter_evidence.push_back(
        {absl::StrCat("It ", InWords(occupation, facts),
                      ": as at a checkpoint, an evaluation or a breakpoint, which end."),
         silent, "s", 0, "/proc"});
  }
}

std::string EndInWords(const RankFacts& facts) {
  if (!facts.wait_status) return "";
  const int signal = *facts.wait_status & 0x7f;
  if (signal == 0) return absl::StrCat("exited with status ", (*facts.wait_status >> 8) & 0xff);
  const std::string_view name = SignalName(signal);
  std::string words = absl::StrCat("was killed by signal ", signal);
  if (!name.empty()) absl::StrAppend(&words, " (", std::string(name), ")");
  if (signal == 9 && facts.oom_kills > 0) absl::StrAppend(&words, ", out of memory");
  return words;
}

}  // namespace fathom::diagnosis
