#include "collector/import/recognise.h"

#include "collector/import/fathom/fathom_importer.h"
#include "collector/import/flight_recorder/flight_recorder_importer.h"
#include "collector/import/kineto/kineto_importer.h"
#include "collector/import/nccl/inspector_importer.h"
#include "collector/import/nccl/profiler_trace_importer.h"
#include "collector/import/ndtimeline/ndtimeline_importer.h"
#include "collector/import/side_files/side_files_importer.h"

namespace fathom::collector {

absl::Span<const Importer* const> Importers() {
  static const FathomImporter kFathom;
  static const FlightRecorderImporter kFlightRecorder;
  static const SideFilesImporter kSideFilesImporter;
  static const kineto::KinetoImporter kKineto;
  static const ndtimeline::NdtimelineImporter kNdtimeline;
  static const nccl::InspectorImporter kInspector;
  static const nccl::ProfilerTraceImporter kProfilerTrace;
  static const Importer* const kAll[] = {&kFathom,           &kKineto,        &kNdtimeline,
                                         &kInspector,        &kProfilerTrace, &kFlightRecorder,
                                         &kSideFilesImporter};
  return kAll;
}

}  // namespace fathom::collector
