// Two recordings of a job against each other: what changed, where, by how much, and whether beyond
// chance.
//
// Used by `fathom analyze A --against B`; comparison_verdict.h makes a verdict of it,
// collector/export of the report's `comparison`.
//
// Model: the iterations of both are compared as samples. A chance is the probability that those of
// one rank as high as they do if both came from one distribution (rank sum, computed by the
// caller). The job is slower if that of a rise is below regression_chance and the median is above
// delta × that of B; faster likewise. Parts are time per iteration and rank: by kind (compute,
// communication, copies, idle), and by kernel or op, of which those of the kind that changed most
// come first.
// Recordings of other ranks or of another program are not compared: the number of ranks is the
// same, and in both regression_shared of the time that was spent in kernels and ops was spent in
// such that both have. A new version of a library renames some kernels; another model, or a CPU
// against a GPU, leaves almost nothing.
//
// Units: seconds per iteration, mean over the ranks. Thread-safety: pure functions. Errors: none.
// Cost: O(kernels log kernels).
#ifndef FATHOM_DIAGNOSIS_TABLES_COMPARISON_H_
#define FATHOM_DIAGNOSIS_TABLES_COMPARISON_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/model/config.h"
#include "diagnosis/tables/job_tables.h"

namespace fathom::diagnosis {

// What of a change is listed; no verdict depends on it.
inline constexpr double kWorthNaming = 0.1;  // of the change of the iteration
inline constexpr std::size_t kPartsNamed = 6;

struct PartChange {
  std::string what;  // "compute", "kernel NAME", "op NAME", …
  std::string kind;  // of `kinds`
  double before = 0;
  double after = 0;

  double growth() const { return after - before; }
};

// Of the rank sum, in both directions.
struct Chances {
  double rise = 1;
  double fall = 1;
};

enum class Outcome : std::uint8_t {
  kUnknown,    // iterations of one are not known, or too few
  kUnrelated,  // not of the same job
  kSame,
  kSlower,
  kFaster,
};

struct Comparison {
  Outcome outcome = Outcome::kUnknown;
  std::string why;    // it is unknown or unrelated
  double before = 0;  // median iteration
  double after = 0;
  double chance = 1;              // of a change in this direction
  double most_chance = 0;         // config.recorded_chance, which it was held against
  double established_chance = 0;  // config.sure_chance()
  std::vector<PartChange> kinds;  // all four, in a fixed order
  std::vector<PartChange> parts;  // of the kind that changed most first, then by size of change

  bool slower() const { return outcome == Outcome::kSlower; }
  double growth() const { return after - before; }
  // That changed most the way the iteration did; null where none did, or nothing is known of kinds.
  const PartChange* LeadingKind() const;
};

// Of the iterations' durations, in order; the first is left out where there are more than two, for
// it often holds what is done once.
std::vector<double> Durations(const JobTables& tables);

// `chances`: none where there are too few iterations.
Comparison Compare(const JobTables& after, const JobTables& before,
                   const std::optional<Chances>& chances, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_TABLES_COMPARISON_H_
