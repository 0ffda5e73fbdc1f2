// What diagnosis says: verdicts with their evidence, and what it declined to say.
//
// Produced by diagnosis/engine; collector/export turns it into fathom.v1.Report one to one. The
// names of the enumerators on the wire are those of docs/formats/report.md (ToString).
// Thread-safety: plain values.
#ifndef FATHOM_DIAGNOSIS_MODEL_VERDICT_H_
#define FATHOM_DIAGNOSIS_MODEL_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/model/account.h"
#include "diagnosis/model/entity.h"
#include "diagnosis/model/what_if.h"
#include "proto/types/collective_kind.h"
#include "proto/types/ids.h"
#include "proto/types/time_units.h"

namespace fathom::diagnosis {

enum class Grade : std::uint8_t { kUnknown, kHypothesis, kSupported, kEstablished };

enum class ProblemClass : std::uint8_t {
  kNone,
  kCommunicationHang,
  kCommunicationSlow,
  kNonCommunicationHang,
  kNonCommunicationSlow,
};

std::string_view ToString(Grade grade);
std::string_view ToString(ProblemClass problem);

struct Evidence {
  std::string statement;
  double value = 0;
  std::string unit;
  double reference = 0;
  std::string source;
};

struct Cost {
  double slowdown = 1;  // measured / expected iteration time
  double seconds_per_iteration = 0;
  double gpu_hours = 0;             // lost so far, over all ranks
  double gpu_hours_per_minute = 0;  // of a job that stands still: in each further minute
};

constexpr std::int64_t kNoWaitNumber = -1;

// One step of the chain behind a culprit: ranks that wait in an op for ranks nearer to it.
struct WaitStep {
  int hop = 1;  // 1: they wait for the culprit itself
  std::vector<RankId> waiting, for_ranks;
  std::string group;  // description or name
  int groups = 0;     // like it, told as one
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::int64_t number = kNoWaitNumber;  // of the op, as the source counts; of all groups the same
  Nanos waited;                         // the longest; 0: not known
};

// Ranks whose stacks are the same, line numbers apart.
struct StackCluster {
  std::vector<RankId> ranks;
  std::vector<std::string> frames;  // innermost first, of one of them
  int differs_at =
      -1;  // in frames, from the outermost, against the largest other cluster; -1: none
  bool culprit = false;
  std::string source;  // "py-spy", "in-process", "native"
  Nanos pause;         // the longest for which a thread was stopped to read it; 0: it was not
};

struct Verdict {
  Grade grade = Grade::kUnknown;
  Cause cause = Cause::kUnknown;
  ProblemClass problem = ProblemClass::kNone;
  Owner owner = Owner::kOperations;
  Entity entity;
  std::string sentence;
  Iteration since_iteration{-1};
  WallNs since_time;
  bool from_start = false;  // of what was recorded: then since_iteration is the first of it
  std::int64_t every = 0;   // it comes in every so many iterations; 0: in all, or without a period
  Cost cost;
  std::vector<RankId> victims;
  std::vector<WaitStep> waits;       // of a job that stands still; nearest the culprit first
  std::vector<StackCluster> stacks;  // likewise; the culprit's first
  std::vector<Evidence> evidence;
  std::vector<Evidence> counter_evidence;
  std::vector<std::string> would_change;
  std::string counter;  // the reading of hardware that tells why: "sm_clock of GPU 0000:1B:00.0"
  std::string action_text;
  std::string action_command;
  double posterior_odds = 0;  // of this culprit against "no culprit"; for ordering and the grade
};

struct Abstention {
  std::string question;
  std::string missing;
};

struct IrregularIteration {
  Iteration index;
  Nanos duration;
  std::string kind;  // "spike", "fluctuation", "degradation", "hang"
};

struct RankTotals {
  RankId rank;
  std::string node;
  Nanos compute, non_compute, communication, wait, idle, late;
  double overlap_ratio = 0;
};

// Whether it names a culprit, rather than giving a lead.
inline bool Convicts(const Verdict& verdict) { return verdict.grade >= Grade::kSupported; }

// Whether it is about a job that stands still, rather than a slow one.
inline bool IsHang(const Verdict& verdict) {
  return verdict.problem == ProblemClass::kCommunicationHang ||
         verdict.problem == ProblemClass::kNonCommunicationHang;
}

struct Diagnosis {
  std::vector<Verdict> verdicts;  // strongest first
  std::vector<Abstention> abstained;
  // Of ranks that wait for cores, which accuses nobody unless their hardware says why it is they.
  std::vector<Verdict> held_back;
  std::vector<IrregularIteration> irregular;
  std::vector<RankTotals> ranks;  // for reports; else empty
  std::int64_t iterations = 0;
  Nanos median_iteration;          // of the regular ones
  double slowdown = 1;             // now, against the baseline
  bool undecided = false;          // rows came and convict nobody: others may tell (Episode::wide)
  bool named = false;              // the episode is some rank's, node's or link's (Episode::named)
  std::optional<WhatIf> what_if;   // of jobs that can be replayed
  std::optional<Account> account;  // of jobs of which rows are at hand
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_VERDICT_H_
