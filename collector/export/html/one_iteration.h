// Some iterations of a recording op by op, for the page: which ranks, and what each did when.
//
// Used by page_data.h. Model: shown are the slowest iteration soon after the onset of the strongest
// verdict, one well before it, and the newest; without a verdict one from the middle. Of the ranks,
// first those that verdicts name, then some from everywhere. An op's waiting part is its elapsed
// time less the shortest over all members (synchronising kinds; methods of arrival.md), so no
// common clock is needed for it. Ranks of different nodes are drawn together by the median
// difference of the ends of the collectives they share.
//
// Units: µs from the earliest begin of the ranks shown. Thread-safety: pure function.
#ifndef FATHOM_COLLECTOR_EXPORT_HTML_ONE_ITERATION_H_
#define FATHOM_COLLECTOR_EXPORT_HTML_ONE_ITERATION_H_

#include <vector>

#include "collector/http/json_writer.h"
#include "collector/verdict/episode.h"
#include "diagnosis/model/job_view.h"

namespace fathom::collector {

inline constexpr std::size_t kMostRanksDrawn = 16;
inline constexpr std::size_t kMostOpsDrawn = 1500;  // of one rank in one iteration

// Writes the value of "pictures".
void WritePictures(const diagnosis::JobView& view, const std::vector<Episode>& verdicts,
                   JsonWriter& json);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_HTML_ONE_ITERATION_H_
