// Thresholds of diagnosis: every one named, with unit, default and origin. docs/rules/config.md.
//
// Plain values with defaults; collector/config reads them from YAML under `diagnosis:`.
#ifndef FATHOM_DIAGNOSIS_MODEL_CONFIG_H_
#define FATHOM_DIAGNOSIS_MODEL_CONFIG_H_

#include <cstdint>

#include "proto/types/time_units.h"

namespace fathom::diagnosis {

struct DiagnosisConfig {
  // Irregular iterations.
  double delta = 1.05;                    // irregular above delta × median (Holmes)
  double noise_factor = 3.5;              // and above median + this × the job's own noise
  double noise_floor = 0.02;              // the noise is at least this share of the median
  double learning_noise = 0.15;           // and this much while learning
  std::int32_t learning_iterations = 30;  // regular iterations until then
  std::int32_t baseline_iterations = 10;  // fewest regular iterations before anything is judged
  std::int32_t trailing_window = 64;      // regular iterations the median is taken of
  std::int32_t min_irregular = 5;         // irregular iterations before a culprit is sought
  std::int32_t settled_iterations = 10;   // nearly all regular: the episode is over
  std::int32_t recent_window = 20;        // iterations in which fluctuation is looked for
  double fluctuation_share = 0.25;        // irregular share of them that is worth asking why
  double persistent_share = 0.8;          // irregular share since the onset: a degradation
  double change_probability = 0.9;        // of the change point (Holmes)
  double change_hazard = 0.005;  // changes that are expected an iteration, before any is seen
  double wild_factor = 2;        // × the median: longer regular ones do not teach the noise
  double spike_sigmas = 4;       // of noise, at which a value is clipped: one spike is no change
  std::int32_t onset_slack = 3;  // iterations by which two tellings of one onset may differ

  // Lasting steps that many iterations tell together.
  double shift_delta = 1.01;           // the step is looked into from this × on
  double shift_sigmas = 8;             // standard errors that it must measure
  double shift_noise = 0.015;          // of the median, in jobs at most as noisy as this
  double noisy_shift_delta = 1.5;      // in noisier jobs the step is looked into from here on
  std::int32_t shift_iterations = 10;  // since the step, at least
  // The same where the own time of a rank takes a step at the same iteration.
  double rank_shift_delta = 1.005;  // of the job
  double rank_shift_job_sigmas = 4;
  double rank_shift_sigmas = 12;       // of the rank, against what the steps of all ranks show
  double rank_shift_place_sigmas = 3;  // by which no other place may tell the job's step better
  double shift_goes_on = 0.5;          // of what began an episode keeps it
  double level_sigmas = 2;             // at which values are clipped to tell a level
  double step_noise_floor = 1e-4;      // of the median: clocks and sums are not finer
  double line_share = 0.8;  // of what a straight line leaves unexplained, a step leaves at most

  // Rows.
  std::int32_t irregular_rows = 12;    // irregular iterations asked for
  std::int32_t baseline_rows = 8;      // baseline iterations asked for
  std::uint32_t all_ranks_up_to = 64;  // ranks; of larger jobs rows of so many are asked for
  // The same where summaries name suspects: of so many for each, until that proves too few.
  std::uint32_t ranks_per_suspect = 16;

  // Evidence.
  Nanos wait_floor{500'000};            // shorter waits are not followed
  Nanos device_wait_floor{20'000};      // the same where the times are those of a device
  double explains_share = 0.3;          // of an iteration's excess: what counts as its cause
  double explained_share = 0.5;         // of all excess: what the culprits must explain together
  double consistent_share = 0.8;        // irregular iterations in which a culprit must show
  double peer_contrast = 2.0;           // its excess against that of the ranks not accused
  std::int32_t most_culprit_nodes = 2;  // more that become slow at once have a common cause
  double alike_ratio = 1.2;             // ranks that work together within it have one cause
  std::int32_t established_iterations = 6;  // irregular iterations for an established verdict
  double established_odds = 100;            // posterior odds for it
  double supported_odds = 10;               // and for supported
  double chance_share = 0.2;         // an innocent rank shows in at most this share by chance
  double most_chance = 0.85;         // the same of one that showed ever so often before
  double guilty_share = 0.9;         // a true cause shows in this share; leads and design must
  std::int32_t usual_samples = 3;    // of a gap or transfer, fewest to tell what is usual
  double mostly_share = 0.5;         // of an excess: what it mostly is, and so its cause
  double cpu_leads_share = 0.22;     // of an excess: so much CPU time brings waits for cores along
  std::int32_t node_ranks = 2;       // slow ranks that speak for their node, fewest
  double unnamed_share = 0.5;        // of longer waits: in messages whose other end is not known
  double function_share = 0.7;       // of an excess or a stretch: the function that it lies in
  std::int32_t kernel_peers = 2;     // ranks to compare a kernel with, fewest
  double kernel_count_share = 0.05;  // by which the launches of a peer with the same work differ
  double prior_rank = 0.01;          // a given rank is at fault, against nobody is
  double prior_host = 0.003;         // the same of a node
  double prior_link = 0.003;         // of a communicator or link
  double shared_decay = 0.5;        // n users of a device tell as much as n to this power times one
  std::int32_t ranked_devices = 5;  // length of the list of suspects, at most

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

  // Slow communication.
  double innocent_share = 0.15;  // communication is blamed only if no rank has more than this
  double link_megabytes = 1;     // a path that carried less in either stretch measures only latency
  double link_factor = 2;        // a slow path takes this × its earlier time per byte
  double link_contrast = 1.5;    // and its excess is this × that of the next
  std::int32_t link_paths = 3;   // of a group, fewest to tell an odd one

  // Work that is unequal by design.
  std::int32_t imbalance_iterations = 20;  // fewest in which it must show to be more than a lead
  double imbalance_ratio = 2.0;            // own time of a stage against the median of its peers
  double imbalance_wait = 0.25;            // of an iteration that each of its peers waits

  // Jobs whose trace names their ops (schedules).
  double slow_worker_ratio = 1.1;    // computing of a worker against its peers' in other replicas
  double straggling_slowdown = 1.1;  // S above which a job's stragglers are worth a verdict
  double replay_error = 1.02;        // slow workers cost the job more than a replay errs
  double stage_share = 0.5;          // of T − T_ideal that repairing the heavy stages wins back
  double heavy_stage_ratio = 1.1;    // computing of such a stage against the others'
  double length_correlation = 0.9;   // of forward with backward computing of a micro-batch
  std::int32_t length_pairs = 16;    // of the two, fewest to correlate

  // Recordings, which are short and known whole.
  bool recorded = false;                 // this is one
  std::int32_t recorded_baseline = 4;    // baseline iterations, at least: a third of them
  std::int32_t recorded_irregular = 3;   // irregular ones, at least: a quarter
  std::int32_t recorded_imbalance = 8;   // for a verdict on a heavy stage, at least: two thirds
  double recorded_at_fault = 0.5;        // prior that some rank is; the rest is no rank's fault
  double recorded_chance = 0.01;         // that an onset is found where there is none
  std::int32_t recorded_look_back = 60;  // iterations; longer ones are watched as live jobs are

  // Two recordings of a job.
  double regression_chance = 0.01;              // that iterations differ so by chance, at most
  double regression_established_chance = 1e-4;  // for an established verdict
  double regression_shared = 0.5;  // of the time, in kernels and ops of both: the same job
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_CONFIG_H_
