// Thresholds of diagnosis: every one named, with unit, default and origin. docs/rules/config.md.
//
// Plain values with defaults; collector/config reads them from YAML under `diagnosis:`. Each stands
// below the component that owns its meaning; others may read it. What follows from another value is
// a function at the end and no setting of its own.
#ifndef FATHOM_DIAGNOSIS_MODEL_CONFIG_H_
#define FATHOM_DIAGNOSIS_MODEL_CONFIG_H_

#include <cstdint>

#include "proto/types/time_units.h"

namespace fathom::diagnosis {

struct DiagnosisConfig {
  // watch/series: which iterations are irregular, and since when a job is slow.
  double delta = 1.05;                    // irregular above delta × median (Holmes)
  double noise_factor = 3.5;              // and above median + this × the job's own noise
  double learning_noise = 0.15;           // of the median, the least noise while learning
  std::int32_t learning_iterations = 30;  // regular iterations until then
  std::int32_t baseline_iterations = 10;  // as many as tell what is usual
  std::int32_t min_irregular = 5;         // irregular iterations before a culprit is sought
  double fluctuation_share = 0.25;        // irregular share that is worth asking why

  // watch/shift and watch/rank_shift: lasting steps that many iterations tell together.
  double shift_delta = 1.01;       // the step is looked into from this × on
  double noisy_shift_delta = 1.5;  // the same in jobs that are not quiet
  double shift_sigmas = 8;         // standard errors that it must measure
  double shift_goes_on = 0.5;      // of both, where a rank or the episode tells the place
  double spike_sigmas = 3;         // of noise, at which a value is clipped: one spike is no step

  // watch/rows_wanted.
  std::uint32_t all_ranks_up_to = 64;  // ranks; of larger jobs rows of so many are asked for

  // graph/execution_graph.
  Nanos wait_floor{500'000};        // shorter waits are not followed
  Nanos device_wait_floor{20'000};  // the same where the times are those of a device

  // evidence/ledger: what counts as a cause, and how sure many iterations make of it.
  double explains_share = 0.3;    // of an iteration's excess: what counts as its cause
  double mostly_share = 0.5;      // of an excess: what makes up most of it
  double consistent_share = 0.8;  // of iterations: one in five may be spoilt by something else
  double supported_odds = 10;     // posterior odds for a supported verdict
  double prior_rank = 0.01;       // a given rank is at fault, against nobody is

  // slowness/judge.
  double peer_contrast = 2.0;           // who stands out has so many times what others have
  std::int32_t most_culprit_nodes = 2;  // more that become slow at once have a common cause

  // slowness/network.
  double link_megabytes = 1;  // a path that carried less in either stretch measures only latency
  double link_factor = 2;     // a slow path takes this × its earlier time per byte

  // schedule: jobs whose trace names their ops.
  double slow_worker_ratio = 1.1;   // what computes so much longer than the same work is suspect
  double length_correlation = 0.9;  // of forward with backward computing of a micro-batch

  // Recordings, which are short and known whole: collector/import/episode, tables/comparison.
  bool recorded = false;          // this is one
  double recorded_chance = 0.01;  // that a difference is found where there is none

  // Stalls and hangs.
  double stall_factor = 5;              // silent for this many own iterations (EROICA)
  Nanos stall_floor{3'000'000'000};     // and for at least this long
  double stall_history_factor = 2;      // and longer than this × the longest iteration seen
  Nanos startup_floor{30'000'000'000};  // before a rank has baseline_iterations behind it
  double busy_ratio = 0.8;              // CPU share of a silent rank that counts as busy
  double hang_supported_factor = 2;     // × the stall threshold: an idle rank's hang is supported
  double hang_established_factor = 5;   // × the stall threshold: established
  double busy_patience = 2;             // × the two above for a busy rank: it may be at work
  double work_patience = 10;            // the same for one that sleeps, or visibly works
  double work_bytes = 65'536;           // read and written a second: a silent rank that works
  double work_faults = 50;              // page faults a second: likewise
  std::int32_t work_functions = 3;      // distinct innermost functions in its stacks: it works
  double helper_ratio = 0.1;            // of a core: another thread of a waiting process works
  double descendants_ratio = 0.25;      // of a core: processes that a silent rank started work
  Nanos work_window{10'000'000'000};    // what a silent rank did in so long tells what it does
  std::int32_t stuck_at_once = 3;       // stuck communicators, most that each are their own cause
  std::int32_t common_ops = 3;          // stuck ops that share one rank, fewest to name it
  std::int32_t path_backoff = 2;  // doublings of a path's timer from which on it is in trouble
  Nanos transfer_still{2'000'000'000};  // no step of a transfer for so long: it stands still
  Nanos message_gap{100'000'000};       // what a rank records so long after a send: it went on
  std::int32_t order_iterations = 6;    // iterations that show a rank's usual order of ops
  Nanos death_gap{500'000'000};         // lead of the first death over others, to be the cause

  // Jobs that stopped and left records.
  std::int32_t same_work_ops = 16;  // ranks whose counts differ by more ops do other work

  // What follows from these. Origins: docs/rules/config.md, "What follows from others".

  // The newest iterations in which fluctuation is looked for.
  std::int32_t recent_window() const {
    return static_cast<std::int32_t>(min_irregular / fluctuation_share);
  }
  // Regular iterations that the median is taken of; longer recordings are watched as live jobs are.
  std::int32_t trailing_window() const { return 2 * learning_iterations; }
  // Iterations by which two tellings of one onset may differ: fewer than make an episode.
  std::int32_t onset_slack() const { return min_irregular - 1; }
  // Of the median: a job with less noise is quiet, as then delta decides what is irregular.
  double quiet_noise() const { return (delta - 1) / noise_factor; }
  // A true cause shows in so many iterations, one that is innocent in no more than chance_share.
  double guilty_share() const { return (1 + consistent_share) / 2; }
  double chance_share() const { return 1 - consistent_share; }
  double established_odds() const { return supported_odds * supported_odds; }
  // That a difference is found where there is none, for an established verdict.
  double sure_chance() const { return recorded_chance * recorded_chance; }
  // A node, a communicator or a link is at fault: it takes one iteration more to say so.
  double prior_shared() const { return prior_rank * chance_share() / guilty_share(); }
  // Halfway between what a sound path takes and a slow one.
  double link_contrast() const { return (1 + link_factor) / 2; }
  // Fewest iterations in which work must be unequal to be more than a lead.
  std::int32_t imbalance_iterations() const { return 2 * baseline_iterations; }
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_CONFIG_H_
