// Who used how many GPU-hours over weeks, and what was lost to which cause, on which node: what a
// manager takes to the next hardware meeting.
//
// Made by the API for a request, from what the store keeps of runs and verdicts; loss_json.h writes
// it. docs/operations/report.md.
//
// Model: used = ranks × time of each run within [since, until]. Lost = the cost of verdicts graded
// established or supported, spread evenly over the time from their onset to their end; what lies
// outside of the weeks asked for is left out. Leads (other grades) are summed apart. Two verdicts
// on a job that stood at once may claim the same seconds: where those of a job in a week claim more
// than it used, all of them are made smaller alike. Weeks are counted back from `until`, so that
// the newest is whole and the oldest may be short.
//
// Units: wall time; GPU-hours (process hours of jobs on the CPU). Thread-safety: pure function.
// Errors: none; times that are set back count nothing. Cost: O((runs + verdicts + recoveries) ×
// weeks × log).
#ifndef FATHOM_COLLECTOR_MONTH_LOSS_ACCOUNT_H_
#define FATHOM_COLLECTOR_MONTH_LOSS_ACCOUNT_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "collector/month/recovery_loss.h"
#include "collector/recovery/told_recovery.h"
#include "collector/store/run_record.h"
#include "collector/verdict/episode.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

inline constexpr char kRecoveryCause[] = "recovery";

// What was used (no cause) or lost (to a cause) by a job in a week.
struct LossRow {
  WallNs week;  // its begin
  std::string team, job;
  std::string cause, owner, node;  // empty of what was used; node also where none is at fault
  double used_h = 0;
  double lost_h = 0;
  std::set<std::string> verdicts;  // ids
};

// Rows of one key added up: a cause, a node, a week, a team or a job.
struct LossSum {
  std::string key;
  std::string owner;  // of causes
  WallNs week;        // of weeks
  double used_h = 0;
  double lost_h = 0;
  std::size_t verdicts = 0;
  std::size_t jobs = 0;
};

struct LossAccount {
  WallNs since, until;
  double used_h = 0;
  double lost_h = 0;
  double leads_h = 0;  // what leads say; no part of lost_h
  std::size_t runs = 0;
  std::size_t jobs = 0;
  RecoveryLosses recoveries;
  std::vector<LossRow> rows;  // by week, team, job, cause, node
  // Largest loss first; weeks by time.
  std::vector<LossSum> by_week, by_cause, by_node, by_team, by_job;
};

LossAccount LossesOf(const std::vector<RunTime>& runs, const std::vector<Episode>& verdicts,
                     const std::vector<ToldRecovery>& recoveries, WallNs since, WallNs until);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_MONTH_LOSS_ACCOUNT_H_
