// Two recordings of a job against each other: what got slower, where, and by how much.
//
// Used by `fathom analyze A --against B`.
//
// Model: the iterations of both are compared as samples. `chance` is the probability that those of
// A rank as high as they do if both came from one distribution (rank sum, computed by the caller);
// the job is slower if it is below kRegressionChance and the median is above delta × that of B.
// Only then are parts looked for: time per iteration and rank, by kind (compute, communication,
// copies, idle) and by kernel or op, that grew by at least kWorthNaming of what the iteration grew.
// A verdict names the job, never a device: two recordings tell that something changed, not who did.
//
// Units: seconds per iteration, mean over the ranks. Thread-safety: pure functions. Errors: none;
// where iterations are not known in both, an abstention.
#ifndef FATHOM_DIAGNOSIS_TABLES_COMPARISON_H_
#define FATHOM_DIAGNOSIS_TABLES_COMPARISON_H_

#include <cstddef>
#include <string>
#include <vector>

#include "diagnosis/engine/config.h"
#include "diagnosis/model/verdict.h"
#include "diagnosis/tables/job_tables.h"

namespace fathom::diagnosis {

inline constexpr double kRegressionChance = 0.01;   // as much as looking back for an onset allows
inline constexpr double kEstablishedChance = 1e-4;  // and for an established verdict
inline constexpr double kWorthNaming = 0.1;         // of the growth of the iteration
inline constexpr std::size_t kPartsNamed = 6;

struct PartChange {
  std::string what;  // "compute", "kernel NAME", "op NAME", …
  double before = 0;
  double after = 0;

  double growth() const { return after - before; }
};

struct Comparison {
  double before = 0;  // median iteration
  double after = 0;
  double chance = 1;
  bool slower = false;
  std::vector<PartChange> kinds;  // all four, in a fixed order
  std::vector<PartChange> parts;  // kernels and ops worth naming, largest growth first
};

// Of the iterations' durations, in order; the first is left out where there are more than two, for
// it often holds what is done once.
std::vector<double> Durations(const JobTables& tables);

Comparison Compare(const JobTables& after, const JobTables& before, double chance,
                   const DiagnosisConfig& config);

// Adds a verdict of cause regression where the job is slower, an abstention where that cannot be
// told.
void JudgeComparison(const Comparison& comparison, const JobTables& after, Diagnosis& diagnosis);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_TABLES_COMPARISON_H_
