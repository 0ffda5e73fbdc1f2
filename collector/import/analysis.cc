#include "collector/import/analysis.h"

#include <cstdio>
#include <set>
#include <utility>

#include "collector/export/report.h"
#include "collector/import/episode.h"
#include "collector/import/recognise.h"
#include "collector/import/short_recording.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/engine/watch.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

std::string IdOf(const std::string& job, const diagnosis::Verdict& verdict) {
  std::string about = job + '/' + std::string(ToString(verdict.cause)) + '/' +
                      std::string(ToString(verdict.entity.type));
  for (const RankId rank : verdict.entity.ranks) about += '/' + std::to_string(rank.value);
  constexpr std::uint64_t kTwelveDigits = 0xffffffffffff;
  char id[16];
  std::snprintf(id, sizeof id, "v%012llx",
                static_cast<unsigned long long>(GroupIdOfName(about).value & kTwelveDigits));
  return id;
}

std::vector<Episode> EpisodesOf(const Recording& recording, const diagnosis::Diagnosis& diagnosis) {
  std::vector<Episode> episodes;
  for (const diagnosis::Verdict& verdict : diagnosis.verdicts) {
    Episode episode;
    episode.id = IdOf(recording.view.name, verdict);
    episode.job = recording.view.name;
    episode.verdict = verdict;
    episode.opened = recording.view.now;
    episode.updated = recording.view.now;
    episodes.push_back(std::move(episode));
  }
  return episodes;
}

// A rank with a stack or a process state but without a recording is missing all the same.
void PutMissing(const Recording& recording, v1::Coverage& coverage) {
  std::set<std::uint32_t> missing(coverage.ranks_missing().begin(), coverage.ranks_missing().end());
  for (const RankId rank : recording.ranks_missing) missing.insert(rank.value);
  coverage.clear_ranks_missing();
  for (const std::uint32_t rank : missing) coverage.add_ranks_missing(rank);
}

}  // namespace

std::string ReportOf(const Recording& recording, const diagnosis::DiagnosisConfig& config) {
  const diagnosis::Suspicion suspicion = diagnosis::Watch(recording.view, config);
  const diagnosis::Diagnosis diagnosis = diagnosis::Diagnose(recording.view, suspicion, config);
  v1::Report report;
  BuildReport(recording.view, diagnosis, EpisodesOf(recording, diagnosis), recording.source,
              report);
  PutMissing(recording, *report.mutable_coverage());
  return ToJson(report);
}

absl::StatusOr<Analysis> Analyze(const std::vector<std::string>& paths, std::string_view format,
                                 const ImportLimits& limits,
                                 const diagnosis::DiagnosisConfig& config) {
  auto recording = ReadRecording(paths, format, limits);
  if (!recording.ok()) return recording.status();
  const auto fitted =
      ConfigForRecording(config, recording->view.window.size(), recording->view.world_size);
  recording->view.episode = FindEpisode(recording->view, fitted);
  Analysis analysis;
  analysis.report = ReportOf(*recording, fitted);
  analysis.notes = std::move(recording->notes);
  analysis.files = std::move(recording->files);
  return analysis;
}

}  // namespace fathom::collector
