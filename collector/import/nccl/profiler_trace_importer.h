// Chrome traces of NCCL's example profiler plugin, one file a communicator and rank.
//
// Listed in collector/import/importers.cc. docs/formats/nccl_profiler_trace.md.
//
// Thread-safety: see Importer. Errors: see nccl_files.h.
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_PROFILER_TRACE_IMPORTER_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_PROFILER_TRACE_IMPORTER_H_

#include "collector/import/reading/importer.h"

namespace fathom::collector::nccl {

class ProfilerTraceImporter final : public Importer {
 public:
  std::string_view format() const override { return "nccl-profiler"; }
  bool Recognises(std::string_view path, std::string_view head) const override;
  absl::Status Read(const std::vector<std::string>& paths, const ImportLimits& limits,
                    Recording& recording) const override;
};

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_PROFILER_TRACE_IMPORTER_H_
