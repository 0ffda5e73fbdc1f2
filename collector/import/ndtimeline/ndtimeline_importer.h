// Importer of NDTimeline traces: `fathom analyze trace.parquet`. docs/formats/ndtimeline.md.
//
// Model: one Parquet file a job, or several that share it out; all ops of all files become one
// ScheduleTrace in the view, and its steps become the iterations. Workers become ranks; those of a
// replica a pipeline group, those of a stage a data group.
//
// Thread-safety and errors: see importer.h. Cost: O(rows log rows). Memory: one file and its rows.
#ifndef FATHOM_COLLECTOR_IMPORT_NDTIMELINE_NDTIMELINE_IMPORTER_H_
#define FATHOM_COLLECTOR_IMPORT_NDTIMELINE_NDTIMELINE_IMPORTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "collector/import/reading/importer.h"

namespace fathom::collector::ndtimeline {

class NdtimelineImporter final : public Importer {
 public:
  std::string_view format() const override { return "ndtimeline"; }
  // Any Parquet file: which columns it lacks is told by Read().
  bool Recognises(std::string_view path, std::string_view head) const override;
  absl::Status Read(const std::vector<std::string>& paths, const ImportLimits& limits,
                    Recording& recording) const override;
};

}  // namespace fathom::collector::ndtimeline

#endif  // FATHOM_COLLECTOR_IMPORT_NDTIMELINE_NDTIMELINE_IMPORTER_H_
