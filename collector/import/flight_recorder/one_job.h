// Which dumps of a folder belong to one run of one job, and refusal where that cannot be told.
//
// Used by flight_recorder_importer.cc. Model:
//   - two dumps of a rank under different names, or in different folders: two jobs, an error;
//   - a rank whose newest entry lies kEarlierRunNs before the first entry that any later dump keeps
//     left its dump in an earlier run: it counts as without a dump, with a note. Ranks of one run
//     wait for one another, so their histories overlap; only where all later dumps lost so much of
//     theirs would a rank of the same run be put aside, and then it is still suspected as one
//     without a dump. Dumps of open ops alone keep no history and are not compared;
//   - dumps that name different members of the group of all ranks: two jobs, an error.
//
// Units: nanoseconds of the ranks' wall clocks. Thread-safety: pure. Errors: InvalidArgument that
// names the files or ranks. Cost: O(entries + ranks × log).
#ifndef FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_ONE_JOB_H_
#define FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_ONE_JOB_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "collector/import/flight_recorder/dump.h"
#include "collector/import/reading/recording.h"
#include "proto/types/ids.h"

namespace fathom::collector::flight_recorder {

// More than clocks of hosts differ by, and less than it takes to start a job again.
inline constexpr std::int64_t kEarlierRunNs = 60'000'000'000;

struct Source {
  std::string path;
  Dump dump;
};

std::int64_t Newest(const Dump& dump);  // 0: not known

// Adds a dump, of all those in `paths`; of two of one rank under one name the one that reaches
// further stays.
absl::Status Keep(RankId rank, Source source, const std::vector<std::string>& paths,
                  std::map<RankId, Source>& sources, Recording& recording);

// Puts dumps of earlier runs aside and checks that the rest is one job.
absl::Status KeepOneRun(std::map<RankId, Source>& sources, Recording& recording);

}  // namespace fathom::collector::flight_recorder

#endif  // FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_ONE_JOB_H_
