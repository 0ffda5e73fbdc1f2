// From paths to one job: finds the files, asks each importer whose they are, and reads them.
//
// Called by `fathom analyze`. Model: a path is a file or a folder, walked to kFolderDepth levels in
// order of name, without following links out of it. Files that no importer recognises are listed as
// ignored. Formats are read in the fixed order of Importers(): step marks and groups first, then
// dumps, then facts on processes.
//
// Two jobs in what was named (a rank recorded twice at the same time by two processes, jobs of
// different sizes by two formats) are an error that says where each of them is (two_jobs.h).
//
// Thread-safety: pure but for reading files. Errors: NotFound (no such path), InvalidArgument (no
// known file: the message says what was looked for; two jobs), ResourceExhausted (limits).
#ifndef FATHOM_COLLECTOR_IMPORT_RECOGNISE_H_
#define FATHOM_COLLECTOR_IMPORT_RECOGNISE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collector/import/reading/importer.h"
#include "collector/import/reading/recording.h"

namespace fathom::collector {

inline constexpr int kFolderDepth = 6;

// All importers of this build, in the order in which they are read.
absl::Span<const Importer* const> Importers();

// Reads the job that `paths` hold. `format`: "auto" or the name of one importer, which then gets
// every file it recognises and no other is asked.
absl::StatusOr<Recording> ReadRecording(const std::vector<std::string>& paths,
                                        std::string_view format, const ImportLimits& limits);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_RECOGNISE_H_
