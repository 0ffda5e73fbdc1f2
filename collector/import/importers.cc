#include "collector/import/importers.h"

#include "collector/import/flight_recorder/flight_recorder_importer.h"
#ifdef FATHOM_IMPORT_KINETO
#include "collector/import/kineto/kineto_importer.h"
#endif
#include "collector/import/recognise.h"
#include "collector/import/side_files/side_files_importer.h"

namespace fathom::collector {

absl::Span<const Importer* const> Importers() {
  static const FlightRecorderImporter kFlightRecorder;
  static const SideFilesImporter kSideFilesImporter;
#ifdef FATHOM_IMPORT_KINETO
  static const kineto::KinetoImporter kKineto;
  static const Importer* const kAll[] = {&kKineto, &kFlightRecorder, &kSideFilesImporter};
#else
  static const Importer* const kAll[] = {&kFlightRecorder, &kSideFilesImporter};
#endif
  return kAll;
}

}  // namespace fathom::collector
