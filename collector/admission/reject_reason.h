// Why a message of an agent was not taken in: the label of fathom_ingest_rejected_total.
//
// Returned by collector/ingest (validation) and collector/job (state); counted by the session.
// Thread-safety: values. The names are a contract with dashboards: only added to.
#ifndef FATHOM_COLLECTOR_ADMISSION_REJECT_REASON_H_
#define FATHOM_COLLECTOR_ADMISSION_REJECT_REASON_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom::collector {

enum class RejectReason : std::uint8_t {
  kNoHello,
  kProtocol,
  kBadString,
  kBadRank,
  kBadWorldSize,
  kBadNumber,
  kColumnLengths,
  kTooManyIterations,
  kTooManyGroups,
  kTooManyMembers,
  kTooManyRows,
  kTooManyJobs,
  kTooManyRanks,
  kTooManyNodes,
  kUnknownRank,
  kNotOwner,
  kStale,
  kTooOld,
  kUnasked,
  kQueueFull,
  kWrongName,  // of a node: its certificate or its present stream is another's
};
inline constexpr std::size_t kRejectReasonCount = 21;

constexpr std::string_view ToString(RejectReason reason) {
  constexpr std::string_view kNames[kRejectReasonCount] = {
      "no_hello",        "protocol",         "bad_string",     "bad_rank",
      "bad_world_size",  "bad_number",       "column_lengths", "too_many_iterations",
      "too_many_groups", "too_many_members", "too_many_rows",  "too_many_jobs",
      "too_many_ranks",  "too_many_nodes",   "unknown_rank",   "not_owner",
      "stale",           "too_old",          "unasked",        "queue_full",
      "wrong_name"};
  return kNames[static_cast<std::size_t>(reason)];
}

// Empty: taken in.
using Rejection = std::optional<RejectReason>;

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_ADMISSION_REJECT_REASON_H_
