// What diagnosis said of a job → fathom.v1.Report, and messages → proto-JSON as the contract has
// it.
//
// Used by the API, by the store (the last report of an ended job) and by importers' front ends.
// Proto-JSON with original field names; defaults are printed, so lists are always there. A message
// field that was not computed (what_if of a live job) is absent. 64-bit integers are strings, as
// proto-JSON has them.
//
// Thread-safety: pure functions. Errors: JSON of an unprintable message is "{}" (cannot happen:
// strings were checked on the way in). Cost: O(report).
#ifndef FATHOM_COLLECTOR_EXPORT_REPORT_H_
#define FATHOM_COLLECTOR_EXPORT_REPORT_H_

#include <string>
#include <vector>

#include "collector/verdict/episode.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"
#include "diagnosis/tables/rank_tables.h"

namespace google::protobuf {
class Message;
}
namespace fathom::v1 {
class Report;
}

namespace fathom::collector {

// `source`: "live", "kineto", …. `episodes` in the order they shall have; those that another one
// superseded are left out. `tables`: of ranks whose devices were traced.
void BuildReport(const diagnosis::JobView& view, const diagnosis::Diagnosis& diagnosis,
                 const std::vector<Episode>& episodes, const std::string& source, v1::Report& out,
                 const std::vector<diagnosis::RankTables>& tables = {});

// With what only the API tells: how it stands now.
std::string VerdictJson(const Episode& episode);
std::string ToJson(const google::protobuf::Message& message);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_REPORT_H_
