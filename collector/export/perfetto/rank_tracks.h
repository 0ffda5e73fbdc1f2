// The tracks of one rank in a trace for Perfetto.
//
// Used by job_trace, rank by rank. Model: the rank is a process; in it a track for its iterations,
// one for each communicator, threads for those that call and train, one for Python, and a thread
// for each stream of its device. Where slices of one of these overlap there are more (Lanes).
//
// Thread-safety: pure but for the writer. Errors: those of the writer; returns how many slices
// found no lane. Cost: O(what is drawn × log); memory O(what is drawn of the rank).
#ifndef FATHOM_COLLECTOR_EXPORT_PERFETTO_RANK_TRACKS_H_
#define FATHOM_COLLECTOR_EXPORT_PERFETTO_RANK_TRACKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/export/perfetto/flows.h"
#include "collector/export/perfetto/rank_part.h"
#include "collector/export/perfetto/trace_writer.h"
#include "diagnosis/model/job_view.h"

namespace fathom::collector::perfetto {

// `at`: which of the parts. `next_thread`: the number of the next thread, of which there must be no
// two in a trace.
std::uint64_t WriteRank(const diagnosis::JobView& view, const std::vector<RankPart>& parts,
                        std::size_t at, const Flows& flows, std::int32_t& next_thread,
                        TraceWriter& writer);

}  // namespace fathom::collector::perfetto

#endif  // FATHOM_COLLECTOR_EXPORT_PERFETTO_RANK_TRACKS_H_
