// The classic tables of one rank: where its time went, and what it ran.
//
// Made from RankWork by importers, rank by rank, in parallel; read by collector/export/tables, by
// the report (ranks[]) and by comparison.h. docs/formats/tables.md defines every column.
//
// Model, as HolisticTraceAnalysis has it, but exact to the ns:
//   span         from the begin of the first to the end of the last work on the device
//   compute      time in which a kernel that computes ran
//   non_compute  time in which only communication or copies ran
//   idle         the rest; the three sum to the span
//   overlap      communication during which a kernel computed, over all communication
// Idle of a stream, by the gap before each work on it: host wait if its launch was called after the
// work before had ended; else kernel wait if shorter than kKernelDelay; else other.
// On a job without a device, all of it is of the training thread: compute is the time inside ops,
// non_compute the time blocked on communication, idle the rest, and kernels are ops, by the time
// not spent in ops they called. Communication is the time in which some op was in flight.
//
// Units: seconds. Thread-safety: pure functions. Errors: none. Cost: O(n log n).
// Source: definitions of HolisticTraceAnalysis (Meta), temporal, idle time and overlap breakdown.
#ifndef FATHOM_DIAGNOSIS_TABLES_RANK_TABLES_H_
#define FATHOM_DIAGNOSIS_TABLES_RANK_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/model/verdict.h"
#include "diagnosis/tables/device_work.h"
#include "proto/types/ids.h"

namespace fathom::diagnosis {

// Gaps shorter than this follow from launching one kernel after the other (HTA's default).
inline constexpr std::int64_t kKernelDelayNs = 30'000;

struct Breakdown {
  double span = 0;
  double compute = 0;
  double non_compute = 0;
  double idle = 0;
  double communication = 0;
  double copies = 0;
  double overlap = 0;  // communication while a kernel computed

  double overlap_ratio() const { return communication > 0 ? overlap / communication : 0; }
};

struct IdleRow {
  std::int64_t stream = 0;
  double host_wait = 0;
  double kernel_wait = 0;
  double other = 0;
};

struct KernelRow {
  std::string kind;  // "compute", "communication", "copy"; "op" on the host
  std::string name;
  std::uint64_t count = 0;
  double sum = 0;
  double min = 0;
  double max = 0;
  double deviation = 0;  // standard, of the sample

  double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

struct LaunchRow {
  std::int64_t stream = 0;
  std::uint64_t count = 0;  // works whose launch is known
  double call_mean = 0;     // of the call on the host
  double delay_mean = 0;    // from the end of the call to the begin of the work
  double delay_median = 0;
  double delay_p99 = 0;
  double queue_mean = 0;  // launched, not begun; over all changes
  std::int64_t queue_max = 0;
};

struct CopyRow {
  std::string kind;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;

  double bandwidth() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
};

struct RankTables {
  RankId rank;
  bool on_device = false;
  Breakdown breakdown;
  std::vector<IdleRow> idle;
  std::vector<KernelRow> kernels;  // by kind, longest sum first
  std::vector<LaunchRow> launches;
  std::vector<CopyRow> copies;
};

// Of a rank with work on a device.
RankTables TablesOfDevice(RankWork work);

// Of the training thread of a rank without a device, seconds.
struct HostTime {
  double span = 0;
  double busy = 0;     // inside ops, and not blocked
  double blocked = 0;  // on communication
  double communication = 0;
  double overlap = 0;  // of that, while it was busy
};

RankTables TablesOfHost(const RankWork& work, const HostTime& time);

// Adds what the same rank did in a later stretch of time. Spans add up, so that what lies between
// the stretches is no idle time; median and p99 of delays become the mean of those of the
// stretches, weighed by launches.
void AddTables(const RankTables& later, RankTables& all);

// Puts the breakdown of each rank in the place of what its iterations told.
void FillTotals(const std::vector<RankTables>& tables, std::vector<RankTotals>& totals);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_TABLES_RANK_TABLES_H_
