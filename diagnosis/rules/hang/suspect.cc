#include "diagnosis/rules/hang/suspect.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

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
}

double PerSecond(double amount, const RankFacts& facts) {
  const double silent = facts.silent_for.Seconds();
  return silent > 0 ? amount / silent : 0;
}

bool WorksOnFilesOrMemory(const RankFacts& facts, const DiagnosisConfig& config) {
  return PerSecond(static_cast<double>(facts.io_while_silent), facts) >= config.work_bytes ||
         PerSecond(static_cast<double>(facts.faults_while_silent), facts) >= config.work_faults;
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

bool WaitsForThread(const RankFacts& facts, const DiagnosisConfig& config) {
  return OnFutex(facts) && facts.open_ops.empty() &&
         PerSecond(facts.cpu_while_silent.Seconds(), facts) >= config.helper_ratio;
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
  const bool moves = facts.stack.functions >= static_cast<std::uint32_t>(config.work_functions);
  if (moves || WorksOnFilesOrMemory(facts, config)) return Occupation::kWorking;
  if (facts.state == ProcessState::kUninterruptible) return Occupation::kUninterruptible;
  if (WaitsForThread(facts, config)) return Occupation::kResting;
  // What waits for a core would run if it could.
  const Nanos runs = facts.cpu_while_silent + facts.starved_while_silent;
  if (PerSecond(runs.Seconds(), facts) >= config.busy_ratio) {
    return Occupation::kLooping;
  }
  const std::string& channel = facts.wait_channel;
  const bool rests = InTimedSleep(channel) || WaitsForInput(channel) || WaitsForChild(channel);
  return rests ? Occupation::kResting : Occupation::kBlocked;
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
    case Occupation::kWorking:
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
    case Occupation::kWorking:
      return "works";
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

void DescribeSuspect(Occupation occupation, const RankFacts& facts, Verdict& verdict) {
  const double silent = facts.silent_for.Seconds();
  verdict.evidence.push_back({"CPU time of its process while silent.",
                              facts.cpu_while_silent.Seconds(), "s", silent, "/proc"});
  verdict.evidence.push_back({"Bytes it read and wrote while silent.",
                              static_cast<double>(facts.io_while_silent), "B", 0, "/proc"});
  verdict.evidence.push_back({"Pages it touched first while silent.",
                              static_cast<double>(facts.faults_while_silent), "faults", 0,
                              "/proc"});
  DescribeStack(facts.stack, verdict);
  if (facts.oom_kills > 0) {
    verdict.evidence.push_back({"Its control group ran out of memory and had a process killed.",
                                static_cast<double>(facts.oom_kills), "kills", 0, "cgroup"});
  }
  if (occupation == Occupation::kLooping || occupation == Occupation::kUninterruptible) {
    verdict.counter_evidence.push_back({"It is busy: a long computation looks the same.",
                                        PerSecond(facts.cpu_while_silent.Seconds(), facts), "ratio",
                                        1, "/proc"});
  }
  if (occupation == Occupation::kWorking || occupation == Occupation::kResting ||
      occupation == Occupation::kLoadingData) {
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
