// What the job would have taken, had its ops taken what they should: the result of a replay.
//
// Made by diagnosis/schedule/what_if, carried by Diagnosis, and by fathom.v1.Report as `what_if`.
//
//   T        mean step time of the replay with the measured durations
//   T_ideal  the same with ideal ones        S = T / T_ideal
//   only X   T with the measured durations of X and ideal ones elsewhere, over T_ideal
//   share X  (T − T with ideal durations in X) / (T − T_ideal): what repairing X would win back
//
// Units: seconds, ratios. Thread-safety: plain values.
// Source: "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI'25).
#ifndef FATHOM_DIAGNOSIS_MODEL_WHAT_IF_H_
#define FATHOM_DIAGNOSIS_MODEL_WHAT_IF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/types/ids.h"

namespace fathom::diagnosis {

struct WorkerSlowdown {
  RankId rank;
  double slowdown = 1;
};

struct IndexSlowdown {
  std::int32_t index = 0;
  double slowdown = 1;
};

struct KindSlowdown {
  std::string name;
  double slowdown = 1;
};

struct WhatIf {
  double slowdown = 1;         // S
  double measured_s = 0;       // mean step time as recorded
  double replayed_s = 0;       // T
  double ideal_s = 0;          // T_ideal
  double launch_slowdown = 1;  // measured / T: what lies between ops, and what the model lacks
  std::vector<WorkerSlowdown> worker;  // all of these: largest first
  std::vector<IndexSlowdown> replica;
  std::vector<IndexSlowdown> stage;
  std::vector<KindSlowdown> kind;
  double worst_workers_share = 0;  // M_W: of the worst 3 %
  double last_stage_share = 0;     // M_S
  std::size_t steps = 0;           // replayed
  std::size_t steps_left_out = 0;  // with other ops than most
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_WHAT_IF_H_
