// The classic tables of a whole job: iterations, collectives and the critical path.
//
// Made from the view that diagnosis reads; read by collector/export/tables and by comparison.h.
// docs/formats/tables.md defines every column.
//
// Model: a collective is joined across ranks as the rules join it (graph/instances), so who came
// last and how long the others waited are told by durations, without a common clock. The critical
// path of an iteration is that of graph/critical_path.
//
// Units: seconds. Thread-safety: pure functions. Errors: none; what cannot be joined is left out.
// Cost: O(rows log rows).
#ifndef FATHOM_DIAGNOSIS_TABLES_JOB_TABLES_H_
#define FATHOM_DIAGNOSIS_TABLES_JOB_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/functions/patterns/pattern_table.h"
#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/tables/bus_bandwidth.h"
#include "diagnosis/tables/rank_tables.h"

namespace fathom::diagnosis {

// Medians over the ranks that have the iteration.
struct IterationRow {
  Iteration index{-1};
  std::size_t ranks = 0;
  double duration = 0;
  double longest = 0;
  RankId longest_rank;
  double compute = 0;  // of the device, else of the CPU
  double blocked = 0;
  double gc = 0;
  double dataloader = 0;
};

struct CollectiveRow {
  std::string group;
  Sequence sequence = kNoSequence;
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::uint64_t bytes = 0;
  Iteration iteration{-1};
  RankId last_rank;
  double late = 0;          // the last behind the median member
  double wait = 0;          // of all members
  std::size_t members = 0;  // that are done
  double transfer = 0;      // of the last to arrive
  double skew = 0;          // from the first arrival to the last
  double bandwidth = 0;     // bytes a second; 0 where it cannot be told (bus_bandwidth.h)
  double bus_bandwidth = 0;
  double bytes_imbalance = 1;  // most bytes of a member over their mean
};

struct PathRow {
  Iteration iteration{-1};
  std::size_t step = 0;  // from the begin of the iteration
  RankId rank;
  bool communication = false;
  CollectiveKind kind = CollectiveKind::kUnknown;  // of the op; of local time, of the op after it
  std::string group;
  double seconds = 0;
  std::string longest;   // of local time: the function that took most of it, where it is known
  double longest_s = 0;  // how much
};

struct JobTables {
  std::uint32_t world_size = 0;  // 0: not known
  std::vector<IterationRow> iterations;
  std::vector<CollectiveRow> collectives;  // by iteration, group and sequence; FillGraphTables()
  std::vector<PathRow> path;               // FillGraphTables()
  std::vector<PatternRow> functions;       // where patterns were asked for
  std::vector<RankTables> ranks;
  std::vector<RankTotals> totals;               // as in the report
  GatherBytes gathers = GatherBytes::kUnknown;  // of the source; to be set before FillGraphTables()
};

// `ranks`: of those whose work was traced, by rank.
JobTables TablesOf(const JobView& view, std::vector<RankTables> ranks);

// Adds the collectives and the critical path, for which all rows are joined anew: for who asks for
// these tables only.
void FillGraphTables(const JobView& view, const DiagnosisConfig& config, JobTables& tables);

// Of the collectives of which the rows of all members are there: one that is missing may have come
// last. `gathers`: of the rows.
std::vector<BandwidthRow> BandwidthsIn(const JobView& view, const DiagnosisConfig& config,
                                       GatherBytes gathers);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_TABLES_JOB_TABLES_H_
