// The classic tables in short → fathom.v1.Tables.
//
// Used by collector/import/analysis; whole tables are written by export/tables. Bounded: however
// large the job, at most kRanksTold ranks (of more, those that came latest), kWorkTold kernels and
// ops, and kSegmentsTold segments of the critical path, longest first.
// Thread-safety: pure function. Errors: none. Cost: O(rows of the tables).
#ifndef FATHOM_COLLECTOR_EXPORT_TABLES_PROTO_H_
#define FATHOM_COLLECTOR_EXPORT_TABLES_PROTO_H_

#include <cstddef>

#include "diagnosis/tables/job_tables.h"

namespace fathom::v1 {
class Tables;
}

namespace fathom::collector {

inline constexpr std::size_t kRanksTold = 64;
inline constexpr std::size_t kWorkTold = 20;
inline constexpr std::size_t kSegmentsTold = 20;

void ToProto(const diagnosis::JobTables& from, v1::Tables& out);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_TABLES_PROTO_H_
