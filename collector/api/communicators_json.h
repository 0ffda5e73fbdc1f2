// Who came late and who waited in each communicator, over the newest iterations, as JSON text.
//
// Used by Api (jobs/JOB/communicators). Model: in an iteration and a communicator, a member's
// elapsed time less the shortest is its wait; the median less its own, if positive, how late it
// came (docs/rules/arrival.md). Both are means over the iterations in which the member reported.
// The newest kSettlingIterations may still lack ranks and are left out.
//
// Units: µs. Thread-safety: pure function. Errors: none; what nobody reported is null.
// Cost: O(iterations × ranks × communicators of a rank × log members).
#ifndef FATHOM_COLLECTOR_API_COMMUNICATORS_JSON_H_
#define FATHOM_COLLECTOR_API_COMMUNICATORS_JSON_H_

#include <cstddef>
#include <string>

#include "diagnosis/model/job_view.h"
#include "diagnosis/watch/watch.h"

namespace fathom::collector {

std::string CommunicatorsJson(const diagnosis::JobView& view, std::size_t iterations);

// Bus bandwidth by communicator, kind and size (diagnosis/tables/bus_bandwidth.h), from the rows of
// `wanted` that are in the view; a collective counts where those of all its members are. `asked`:
// answers that are on their way. Cost: joins those rows, O(rows log rows).
std::string BandwidthJson(const diagnosis::JobView& view, const diagnosis::RowsWanted& wanted,
                          int asked);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_COMMUNICATORS_JSON_H_
