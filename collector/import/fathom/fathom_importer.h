// Recordings that fathom's own agents wrote (`fathom run --record DIR`, `fathomd --record DIR`).
//
// Listed in collector/import/importers.cc. docs/formats/recording.md.
//
// Model: the files of all nodes are read together, in order of time, and replayed through the live
// collector's parts (replay.h): the verdicts are those that were told live. The view that comes
// with them holds the whole recording. Several jobs in one folder: the largest is read, the others
// are named in a note. A cut or broken block costs itself. Of copies of a file the longest is read.
//
// Thread-safety: see Importer. Errors: InvalidArgument where no file tells of any job.
#ifndef FATHOM_COLLECTOR_IMPORT_FATHOM_FATHOM_IMPORTER_H_
#define FATHOM_COLLECTOR_IMPORT_FATHOM_FATHOM_IMPORTER_H_

#include "collector/import/reading/importer.h"

namespace fathom::collector {

class FathomImporter final : public Importer {
 public:
  std::string_view format() const override { return "fathom"; }
  bool Recognises(std::string_view path, std::string_view head) const override;
  absl::Status Read(const std::vector<std::string>& paths, const ImportLimits& limits,
                    Recording& recording) const override;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_FATHOM_FATHOM_IMPORTER_H_
