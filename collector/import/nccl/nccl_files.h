// Reads the files of one of NCCL's two formats and builds the job.
//
// Used by the two importers of this folder, which differ in how a file is read.
//
// Thread-safety: pure but for reading files. Errors: InvalidArgument where no file held an op or
// where ranks cannot be told; Cancelled. A file that cannot be read becomes a note.
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_NCCL_FILES_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_NCCL_FILES_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/import/nccl/object_splitter.h"
#include "collector/import/nccl/op_record.h"
#include "collector/import/reading/importer.h"

namespace fathom::collector::nccl {

using ReadFileRecord =
    std::function<absl::StatusOr<FileRecord>(ByteSource source, std::uint64_t max_ops)>;

absl::Status ReadFiles(const std::vector<std::string>& paths, const ImportLimits& limits,
                       const ReadFileRecord& read, std::string_view how_to_time,
                       Recording& recording);

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_NCCL_FILES_H_
