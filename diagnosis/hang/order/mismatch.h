// Do all members of a collective call the same one? Part of rule hang. docs/rules/mismatch.md.
//
// Model: at one sequence number of one group all members must call the same kind, with the same
// element type and root where all tell them, and where the kind demands it of as many bytes. The
// majority is right; without one the only one that left its own usual order is odd; else both sides
// are named and nobody is accused. Open ops and, where they came, rows of the last iterations are
// compared. Thread-safety: pure. Cost: O(ops of the last iterations).
#ifndef FATHOM_DIAGNOSIS_HANG_ORDER_MISMATCH_H_
#define FATHOM_DIAGNOSIS_HANG_ORDER_MISMATCH_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "proto/types/collective_kind.h"
#include "proto/types/data_type.h"
#include "proto/types/ids.h"

namespace fathom::diagnosis {

struct Call {
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::uint64_t bytes = 0;             // 0 where the kind does not demand equal sizes
  DataType type = DataType::kUnknown;  // unknown where some member's is
  RankId root = kNoRank;               // likewise
  friend auto operator<=>(const Call&, const Call&) = default;
};

struct Mismatch {
  GroupId group;
  Sequence sequence;
  std::vector<RankId> odd;     // empty: no majority
  std::vector<RankId> others;  // the rest; all if there is no majority
  Call odd_call;
  Call other_call;
  // There was no majority: the odd one left its own usual order here, the others kept theirs. How
  // often the usual op followed before; 0: told by majority.
  std::size_t habit = 0;
};

// The mismatch at the lowest sequence, if there is one.
[[nodiscard]] std::optional<Mismatch> FindMismatch(const JobView& view);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_ORDER_MISMATCH_H_
