// What of the collector's work may be done more coarsely, and at which levels.
//
// Used by centre_planner, which chooses the levels, and through CentreWork by whoever does the
// work. The losses are weights of ours, by what is known less well: docs/operations/budget.md. At
// no level is a verdict late: what makes one in time is no knob.
//
// Thread-safety: constants.
#ifndef FATHOM_COLLECTOR_BUDGET_CENTRE_KNOB_H_
#define FATHOM_COLLECTOR_BUDGET_CENTRE_KNOB_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "daemon/service/budget/work_plan.h"

namespace fathom::collector {

// Looks: ms at least between two looks at a job that is well. Paths: ms between two comparisons of
// the paths of such a job. News: ms between two pictures of a job for open pages. Writes: times the
// rest between two writes of how a job goes on. Captures: share of captures_per_hour. Shown: share
// of the rows that are kept of a job because a page asked for them.
enum class CentreKnob : std::uint8_t { kLooks, kPaths, kNews, kWrites, kCaptures, kShown };
inline constexpr std::size_t kCentreKnobs = 6;

const service::KnobFacts& FactsOf(CentreKnob knob);
std::string RateInWords(CentreKnob knob, std::size_t level);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUDGET_CENTRE_KNOB_H_
