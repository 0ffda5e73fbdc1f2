// What `fathom analyze` would say of a recording that a test made, and all of it as text for a
// failed expectation. Used by tests of importers. Thread-safety: pure functions.
#ifndef FATHOM_TESTS_COLLECTOR_IMPORT_JUDGED_RECORDING_H_
#define FATHOM_TESTS_COLLECTOR_IMPORT_JUDGED_RECORDING_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "collector/import/episode.h"
#include "collector/import/reading/recording.h"
#include "collector/import/short_recording.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/watch/watch.h"

namespace fathom::collector {

inline diagnosis::Diagnosis Judge(Recording& recording) {
  auto& view = recording.view;
  const auto config = ConfigForRecording({}, view.window.size(), view.world_size);
  view.episode = FindEpisode(view, config);
  return diagnosis::Diagnose(view, diagnosis::Watch(view, config), config);
}

inline std::string AllOf(const Recording& recording, const diagnosis::Diagnosis& diagnosis) {
  std::string text;
  for (const auto& note : recording.notes) absl::StrAppend(&text, "note: ", note, "\n");
  for (const auto& one : diagnosis.abstained) {
    absl::StrAppend(&text, "cannot tell: ", one.question, ": ", one.missing, "\n");
  }
  for (const auto& verdict : diagnosis.verdicts) {
    absl::StrAppend(&text, verdict.sentence, "\n");
    for (const auto& evidence : verdict.evidence) {
      absl::StrAppend(&text, "  ", evidence.statement, " ", evidence.value, "\n");
    }
  }
  return text;
}

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_IMPORT_JUDGED_RECORDING_H_
