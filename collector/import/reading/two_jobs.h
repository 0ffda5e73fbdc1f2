// Refusal of a folder in which two jobs were found, and where to find each of them.
//
// Made by importers and by recognise.cc; read by `fathom analyze`, which judges the jobs one by one
// where each lies in a folder of its own.
//
// Model: two files of two jobs lie in folders that part somewhere below what the user named. If
// every file that was read lies below that place in some folder, these folders are the jobs (or
// hold further ones, which reading them will tell). Else the files cannot be told apart by place,
// and the message names the two.
//
// Thread-safety: pure functions. Errors: none. Cost: O(files).
#ifndef FATHOM_COLLECTOR_IMPORT_READING_TWO_JOBS_H_
#define FATHOM_COLLECTOR_IMPORT_READING_TWO_JOBS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace fathom::collector {

// InvalidArgument: `why` ("rank 0 has traces of two processes"), the places of `one` and `two`, and
// what to do. `files`: all that were read.
absl::Status TwoJobs(std::string_view why, const std::string& one, const std::string& two,
                     const std::vector<std::string>& files);

// The folders that hold one job each; empty where `status` does not tell.
std::vector<std::string> FoldersOfJobs(const absl::Status& status);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_READING_TWO_JOBS_H_
