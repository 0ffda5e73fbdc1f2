// The parsers behind SideFilesImporter, one kind of file each.
//
// Model: each takes the text of a file and adds to records and facts of ranks that are already
// there; a rank that is not is ignored. False: the text is not of that kind. Thread-safety: pure.
#ifndef FATHOM_COLLECTOR_IMPORT_SIDE_FILES_SIDE_FILES_H_
#define FATHOM_COLLECTOR_IMPORT_SIDE_FILES_SIDE_FILES_H_

#include <string_view>

#include "collector/import/reading/recording.h"

namespace fathom::collector::side_files {

enum class Kind { kNone, kProcesses, kSockets, kStack, kOutput };

Kind KindOf(std::string_view path, std::string_view head);

[[nodiscard]] bool AddProcesses(std::string_view text, Recording& recording);
[[nodiscard]] bool AddSockets(std::string_view text, Recording& recording);
[[nodiscard]] bool AddStack(std::string_view text, RankId rank, Recording& recording);
bool AddOutput(std::string_view text, RankId rank, Recording& recording);

// Null if no importer has found that rank.
diagnosis::RankRecord* RecordOf(Recording& recording, RankId rank);

}  // namespace fathom::collector::side_files

#endif  // FATHOM_COLLECTOR_IMPORT_SIDE_FILES_SIDE_FILES_H_
