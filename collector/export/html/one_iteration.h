// Some iterations of a job op by op, for the page: which ranks, and what each did when.
//
// Used by page_data.h for recordings, and by the API for jobs that run, which chooses first, asks
// agents for the rows, and then writes.
//
// Model: shown are the slowest iteration soon after the onset of the strongest verdict, one well
// before it, and the newest; without a verdict one from the middle. Of the ranks, first those that
// verdicts name, then some from everywhere. An op's waiting part is its elapsed
// time less the shortest over all members (synchronising kinds; methods of arrival.md), so no
// common clock is needed for it. Ranks of different nodes are drawn together by the median
// difference of the ends of the collectives they share.
//
// Units: µs from the earliest begin of the ranks shown. Thread-safety: pure function.
#ifndef FATHOM_COLLECTOR_EXPORT_HTML_ONE_ITERATION_H_
#define FATHOM_COLLECTOR_EXPORT_HTML_ONE_ITERATION_H_

#include <set>
#include <string_view>
#include <vector>

#include "collector/http/json_writer.h"
#include "collector/verdict/episode.h"
#include "diagnosis/model/job_view.h"

namespace fathom::collector {

inline constexpr std::size_t kMostRanksDrawn = 16;
inline constexpr std::size_t kMostOpsDrawn = 1500;  // of one rank in one iteration

struct Picture {
  Iteration iteration{-1};
  std::string_view why;  // "slow", "before", "middle", "newest", "chosen"
};

// Iterations worth a picture, from all that the view's window holds, with or without rows.
std::vector<Picture> WorthAPicture(const diagnosis::JobView& view,
                                   const std::vector<Episode>& verdicts);
// At most kMostRanksDrawn of `available` (sorted): `first`, those that verdicts name, some from
// everywhere.
std::set<RankId> RanksToDraw(const std::vector<RankId>& available,
                             const std::vector<Episode>& verdicts,
                             const std::vector<RankId>& first);
// Writes the value of "pictures": what the view has rows of. A picture is "whole" where the rows of
// every member of its communicators are at hand; else its waits are against those that are.
void WritePictures(const diagnosis::JobView& view, const std::vector<Picture>& pictures,
                   const std::set<RankId>& ranks, JsonWriter& json);
// The same with its own choice.
void WritePictures(const diagnosis::JobView& view, const std::vector<Episode>& verdicts,
                   JsonWriter& json);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_HTML_ONE_ITERATION_H_
