// Flight Recorder dumps of all ranks → open ops, progress and order of entry per rank and group.
//
// Registered in collector/import/recognise.cc. Fills view.groups, view.ranks (open ops, progress)
// and view.records. Iterations and rows are left alone: a dump's times are those at which a
// watchdog noticed, and measure nothing.
//
// Thread-safety: immutable. Errors: InvalidArgument when no dump could be read, or when the
// dumps are of two jobs (one_job.h). Cost: O(bytes); one dump in memory at a time.
#ifndef FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_FLIGHT_RECORDER_IMPORTER_H_
#define FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_FLIGHT_RECORDER_IMPORTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/import/reading/importer.h"

namespace fathom::collector {

class FlightRecorderImporter : public Importer {
 public:
  std::string_view format() const override { return "flight-recorder"; }
  bool Recognises(std::string_view path, std::string_view head) const override;
  absl::Status Read(const std::vector<std::string>& paths, const ImportLimits& limits,
                    Recording& recording) const override;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_FLIGHT_RECORDER_IMPORTER_H_
