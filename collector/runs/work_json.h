// What a job computes, as the API shows it: operations a second, MFU and void time, of its newest
// iterations and of each rank.
//
// Used by Api. docs/formats/http_api.md has the fields. Units: in the names of the fields.
// Thread-safety: pure. Errors: none; what is not known is left out, with the reason where there is
// one. Cost: O(iterations + ranks).
#ifndef FATHOM_COLLECTOR_RUNS_WORK_JSON_H_
#define FATHOM_COLLECTOR_RUNS_WORK_JSON_H_

#include <string>
#include <vector>

#include "collector/job/state/job_state.h"
#include "diagnosis/model/device_peak.h"

namespace fathom::collector {

std::string WorkJson(const std::string& job, const JobWork& work,
                     const std::vector<RankWork>& ranks, const diagnosis::DevicePeak& peak);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RUNS_WORK_JSON_H_
