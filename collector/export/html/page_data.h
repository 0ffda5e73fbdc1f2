// The data inside a saved page, as JSON; collector/web/model/recorded.ts reads it.
//
//   report      fathom.v1.Report
//   iterations  as GET /api/v1/jobs/JOB/iterations has them: durations, and per rank lateness and
//               wait, in µs; which are irregular stands in the report
//   pictures    some iterations op by op (one_iteration.h)
//   ranks, notes, files
//
// Bounds: at most kMostCells rank-iterations; of longer recordings the newest and those around the
// onset of the strongest verdict are kept.
// Thread-safety: pure function. Errors: none.
#ifndef FATHOM_COLLECTOR_EXPORT_HTML_PAGE_DATA_H_
#define FATHOM_COLLECTOR_EXPORT_HTML_PAGE_DATA_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/verdict/episode.h"
#include "diagnosis/model/job_view.h"

namespace fathom::collector {

inline constexpr std::size_t kMostCells = 400'000;
inline constexpr std::size_t kLeastIterations = 40;  // kept however many ranks there are

struct PageInput {
  const diagnosis::JobView& view;
  const std::vector<Episode>& verdicts;  // strongest first
  std::string_view report;               // fathom.v1.Report as JSON
  const std::vector<std::string>& notes;
  std::vector<std::pair<std::string, std::string>> files;  // path, format
};

std::string PageData(const PageInput& input);

// Positions in the window that a page keeps, ascending. `onset` −1: none is known.
std::vector<std::size_t> KeptIterations(const diagnosis::JobView& view, Iteration onset);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_HTML_PAGE_DATA_H_
