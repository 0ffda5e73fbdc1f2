#include "collector/import/importers.h"

#include "collector/import/fathom/fathom_importer.h"
#include "collector/import/flight_recorder/flight_recorder_importer.h"
#include "collector/import/kineto/kineto_importer.h"
#include "collector/import/ndtimeline/ndtimeline_importer.h"
#include "collector/import/recognise.h"
#include "collector/import/side_files/side_files_importer.h"

namespace fathom::collector {

absl::Span<const Importer* const> Importers() {
  static const FathomImporter kFathom;
  static const FlightRecorderImporter kFlightRecorder;
  static const SideFilesImporter kSideFilesImporter;
  static const kineto::KinetoImporter kKineto;
  static const ndtimeline::NdtimelineImporter kNdtimeline;
  static const Importer* const kAll[] = {&kFathom, &kKineto, &kNdtimeline, &kFlightRecorder,
                                         &kSideFilesImporter};
  return kAll;
}

}  // namespace fathom::collector
