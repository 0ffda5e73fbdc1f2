// Where the ops of a job lie in a store of ops: names of folders and files, and what is there.
//
// Used by collector/ops/op_store, which writes, and by collector/import/fathom/stored_job, which
// reads. docs/formats/ops_store.md.
//
//   STORE/JOB/who.fathom                who takes part, as long as there is a segment
//   STORE/JOB/BEGIN.fathom              a segment; BEGIN: wall ns of its first entry, 20 digits
//
// In the folder's name each byte of the job's that is neither letter, digit, '.', '-' nor '_' is
// "%" and two digits, as is a '.' at the front. Thread-safety: pure functions and reads of folders.
// Errors: a folder that cannot be read holds nothing.
#ifndef FATHOM_COLLECTOR_OPS_JOB_FOLDER_H_
#define FATHOM_COLLECTOR_OPS_JOB_FOLDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/types/time_units.h"

namespace fathom::collector {

inline constexpr std::string_view kWhoFile = "who.fathom";

struct SegmentFile {
  std::string path;
  WallNs begin;
  std::uint64_t bytes = 0;
};

std::string FolderNameOf(std::string_view job);
// Nothing: it is no folder of a job.
std::optional<std::string> JobOfFolderName(std::string_view folder);
std::string SegmentName(WallNs begin);

// By begin.
std::vector<SegmentFile> SegmentsIn(const std::string& folder);
// Of those, what may have entries between the two moments, each 0 for no bound: a segment ends
// where the next one begins.
std::vector<SegmentFile> Overlapping(const std::vector<SegmentFile>& segments, WallNs from,
                                     WallNs to);
// Names of the jobs in a store, sorted.
std::vector<std::string> JobsIn(const std::string& store);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_OPS_JOB_FOLDER_H_
