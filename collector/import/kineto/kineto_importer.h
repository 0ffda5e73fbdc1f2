// Reads the traces of PyTorch's profiler (Kineto, Chrome trace format), one file a rank, as a job.
//
// Listed in collector/import/recognise.cc. docs/formats/kineto.md describes what is read and what
// is guessed.
//
// Model: each file is streamed through TraceReader into a RankTrace; two files at a time. The rank
// comes from distributedInfo, else from the name of the file, else from its place in the order of
// names. The windows of a profiler, in several files or in one, are one recording (windows.h);
// a trace of another run or of a job of another size is left out with a note (one_run.h).
//
// Thread-safety: as Importer says. Errors: as Importer says. Cost: inflating bounds it for .gz;
// memory as RankTrace.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_KINETO_IMPORTER_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_KINETO_IMPORTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/import/reading/importer.h"

namespace fathom::collector::kineto {

class KinetoImporter final : public Importer {
 public:
  std::string_view format() const override { return "kineto"; }
  bool Recognises(std::string_view path, std::string_view head) const override;
  absl::Status Read(const std::vector<std::string>& paths, const ImportLimits& limits,
                    Recording& recording) const override;
  void Finish(Recording& recording) const override;  // JoinRecords
};

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_KINETO_IMPORTER_H_
