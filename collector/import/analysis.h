// Files in, report out: the whole of `fathom analyze` but for its words on the terminal.
//
// Called by collector/cli/command/analyze_command. Model: ReadRecording(), then Watch() and
// Diagnose() as the live collector does, then fathom.v1.Report by collector/export. A recording of
// fathom's own was judged as it was read (Recording::replayed), and its verdicts are those. Verdict
// ids are a hash of what the verdict is about, so the same files give the same ids. `against`:
// paths of another recording of the job; what got slower since becomes a verdict on the job
// (diagnosis/tables).
//
// Thread-safety: pure but for reading files. Errors: those of ReadRecording().
#ifndef FATHOM_COLLECTOR_IMPORT_ANALYSIS_H_
#define FATHOM_COLLECTOR_IMPORT_ANALYSIS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/import/reading/importer.h"
#include "collector/import/reading/recording.h"
#include "collector/verdict/episode.h"
#include "diagnosis/model/config.h"
#include "diagnosis/tables/job_tables.h"

namespace fathom::collector {

// The question of an abstention: the recording is too short, or tells no iterations.
inline constexpr char kWhetherSlower[] = "whether the job became slower";

struct Analysis {
  std::string report;                 // fathom.v1.Report as proto-JSON with original names
  diagnosis::JobTables tables;        // all of them
  diagnosis::DiagnosisConfig config;  // fitted to the length of the recording
  std::vector<std::string> notes;
  std::vector<FileUse> files;
  // What the report was made of, for the other outputs; its notes and files have moved up here.
  Recording recording;
  std::vector<Episode> verdicts;  // strongest first
};

// Another recording of the job, to compare with. No paths: none.
struct Against {
  std::vector<std::string> paths;
  WallNs from = {}, to = {};  // as those of ImportLimits
};

absl::StatusOr<Analysis> Analyze(const std::vector<std::string>& paths, std::string_view format,
                                 const ImportLimits& limits,
                                 const diagnosis::DiagnosisConfig& config,
                                 const Against& against = {});

// The report of a recording that was read already.
std::string ReportOf(const Recording& recording, const diagnosis::DiagnosisConfig& config);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_ANALYSIS_H_
