// Many runs of one kind of job, and how often the engine was right.
//
// Used by the …_tables.cc files; MedianOf and Share by the table over gRPC and fathom-fleet too.
// Thread-safety: thread-compatible; trials run one after the other.
#ifndef FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TRIAL_H_
#define FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TRIAL_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collector/simulate/experiment/experiment.h"
#include "collector/simulate/scenario/scenario.h"
#include "collector/simulate/trial/score.h"
#include "collector/simulate/trial/session.h"

namespace fathom::simulate {

// From which slowdown on an iteration is irregular (Holmes, NSDI'25).
inline constexpr double kIrregular = 1.05;

// A run whose first verdict was not right: what there was to be seen.
struct Untold {
  double slowdown = 1;  // of the fault
  double noise = 0;     // standard deviation of iterations before it, of their mean
};

struct Tally {
  int runs = 0;
  int top1 = 0;
  int all_found = 0;
  int slowed = 0, slowed_top1 = 0;  // iterations are irregular by Holmes' count; of these top-1
  double worst_slowdown = 0;        // of a run in which top-1 was not right
  std::string worst;                // that run in words
  std::vector<Untold> untold;
  std::array<int, 4> marks{};                             // by Mark
  std::array<int, 2> convictions{}, right_convictions{};  // [0] supported, [1] established
  std::vector<double> localising_s;
  std::vector<double> iterations_to_verdict;  // after the onset
  std::array<int, 5> classes{};               // convictions by ProblemClass; [0]: runs without any
  std::uint64_t ops_logged = 0, ops_fetched = 0;  // of runs with a verdict, until then
  std::uint64_t rounds = 0;
  double simulating_s = 0;
  std::vector<std::string> stories;  // of runs that were wrong: seed, truth, what was said

  int Of(Mark mark) const { return marks[static_cast<std::size_t>(mark)]; }
  void Add(const Scenario& scenario, const Outcome& outcome);
  void Add(const Tally& other);
};

// Runs `runs` trials, the scenario of each made by `make` of its seed. Fewer when interrupted.
Tally RunTrials(int runs, const std::function<Scenario(std::uint64_t seed)>& make,
                const ExperimentOptions& options);

// A share with its 95 % interval, in percent: "97.2 (95.0–98.5)". Wilson 1927.
std::string Share(int part, int whole);

double MedianOf(std::vector<double> values);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_EXPERIMENT_TRIAL_H_
