// What people save beside dumps when a job hangs: process states, stacks, sockets, error output.
//
// Registered last in collector/import/importers.cc: it only adds facts on ranks that another
// importer has found. All parts are optional. docs/formats/side_files.md.
//
//   processes   JSON, rank → {pid, alive, state, threads: [{tid, name, state, wchan,
//   cpu_ms_in_1s}]} sockets     JSON, moment → rank → {tcp: [{local, peer, info}]}, info as `ss
//   -ti` prints it stacks      text of `py-spy dump`, one file a rank output      text in a folder
//   errors/ or logs/, one file a rank: how the process ended
//
// Thread-safety: immutable. Errors: never; what cannot be read becomes a note.
#ifndef FATHOM_COLLECTOR_IMPORT_SIDE_FILES_SIDE_FILES_IMPORTER_H_
#define FATHOM_COLLECTOR_IMPORT_SIDE_FILES_SIDE_FILES_IMPORTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/import/reading/importer.h"

namespace fathom::collector {

// The name of the format: it comes with another one, never alone.
inline constexpr std::string_view kSideFiles = "side-files";

class SideFilesImporter : public Importer {
 public:
  std::string_view format() const override;
  bool Recognises(std::string_view path, std::string_view head) const override;
  absl::Status Read(const std::vector<std::string>& paths, const ImportLimits& limits,
                    Recording& recording) const override;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_SIDE_FILES_SIDE_FILES_IMPORTER_H_
