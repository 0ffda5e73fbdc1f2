#include "collector/import/analysis.h"

#include <cstdio>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "collector/export/report.h"
#include "collector/import/episode.h"
#include "collector/import/passed_stretch.h"
#include "collector/import/recognise.h"
#include "collector/import/short_recording.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/engine/totals.h"
#include "diagnosis/engine/watch.h"
#include "diagnosis/tables/comparison.h"
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

// A recording that was judged as it was read keeps what was told then; what a comparison found is
// new all the same.
std::vector<Episode> EpisodesOf(const Recording& recording, const diagnosis::Diagnosis& diagnosis) {
  std::vector<Episode> episodes = recording.episodes;
  for (const diagnosis::Verdict& verdict : diagnosis.verdicts) {
    if (recording.replayed && verdict.cause != diagnosis::Cause::kRegression) continue;
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

// Of a slow stretch that was over.
void CloseAt(Iteration until, absl::Span<Episode> episodes) {
  for (Episode& episode : episodes) {
    episode.closed = episode.updated;
    episode.until_iteration = until;
    episode.closed_because = "iterations were as before again";
  }
}

// A rank with a stack or a process state but without a recording is missing all the same.
void PutMissing(const Recording& recording, v1::Coverage& coverage) {
  std::set<std::uint32_t> missing(coverage.ranks_missing().begin(), coverage.ranks_missing().end());
  for (const RankId rank : recording.ranks_missing) missing.insert(rank.value);
  coverage.clear_ranks_missing();
  for (const std::uint32_t rank : missing) coverage.add_ranks_missing(rank);
}

struct Judged {
  diagnosis::Diagnosis diagnosis;
  bool calm = false;  // nothing is slow or stands still at the end
};

Judged Judge(const Recording& recording, const diagnosis::DiagnosisConfig& config) {
  const diagnosis::Suspicion suspicion = diagnosis::Watch(recording.view, config);
  diagnosis::Diagnosis diagnosis = diagnosis::Diagnose(recording.view, suspicion, config);
  diagnosis.ranks = diagnosis::TotalsOf(recording.view);
  diagnosis::FillTotals(recording.tables, diagnosis.ranks);
  const bool calm = !suspicion.slow && !suspicion.stalled && diagnosis.verdicts.empty();
  return {std::move(diagnosis), calm};
}

// The chance that the later iterations rank as high as they do by themselves.
double ChanceOfSlower(const diagnosis::JobTables& before, const diagnosis::JobTables& after) {
  std::vector<double> values = diagnosis::Durations(before);
  const std::size_t cut = values.size();
  for (const double seconds : diagnosis::Durations(after)) values.push_back(seconds);
  return cut < kLeastBaseline || values.size() - cut < kLeastIrregular ? 1
                                                                       : ChanceOfRise(values, cut);
}

// What a recording is too short for is not told as if it were not there.
void AbstainOnShort(const Recording& recording, diagnosis::Diagnosis& diagnosis) {
  const diagnosis::JobView& view = recording.view;
  const std::size_t count = view.window.size();
  constexpr auto kLeast = static_cast<std::size_t>(kLeastBaseline + kLeastIrregular);
  // Dumps alone are asked why the job stands still, and not for its iterations.
  const bool other = count == 0 && view.rows.empty() && !view.records.empty();
  if (recording.replayed || count >= kLeast || !view.schedule.empty() || other) return;
  diagnosis.abstained.push_back(
      {kWhetherSlower,
       absl::StrCat(kLeast, " iterations or more; ", count == 0 ? "none" : absl::StrCat(count),
                    count == 1 ? " is known" : " are known")});
}

absl::Status CompareWith(const std::vector<std::string>& paths, std::string_view format,
                         const ImportLimits& limits, const diagnosis::DiagnosisConfig& config,
                         const diagnosis::JobTables& tables, Recording& recording,
                         diagnosis::Diagnosis& diagnosis) {
  auto other = ReadRecording(paths, format, limits);
  if (!other.ok()) return other.status();
  for (std::string& note : other->notes) recording.notes.push_back("against: " + std::move(note));
  const auto before = diagnosis::TablesOf(other->view, std::move(other->tables));
  const double chance = ChanceOfSlower(before, tables);
  diagnosis::JudgeComparison(diagnosis::Compare(tables, before, chance, config), tables, diagnosis);
  return absl::OkStatus();
}

std::string ReportOn(const Recording& recording, const diagnosis::Diagnosis& diagnosis,
                     const std::vector<Episode>& episodes) {
  v1::Report report;
  BuildReport(recording.view, diagnosis, episodes, recording.source, report);
  PutMissing(recording, *report.mutable_coverage());
  return ToJson(report);
}

}  // namespace

std::string ReportOf(const Recording& recording, const diagnosis::DiagnosisConfig& config) {
  const diagnosis::Diagnosis diagnosis = Judge(recording, config).diagnosis;
  return ReportOn(recording, diagnosis, EpisodesOf(recording, diagnosis));
}

absl::StatusOr<Analysis> Analyze(const std::vector<std::string>& paths, std::string_view format,
                                 const ImportLimits& limits,
                                 const diagnosis::DiagnosisConfig& config,
                                 const std::vector<std::string>& against) {
  auto recording = ReadRecording(paths, format, limits);
  if (!recording.ok()) return recording.status();
  diagnosis::DiagnosisConfig fitted = config;
  if (!recording->replayed) {
    fitted = ConfigForRecording(config, recording->view.window.size(), recording->view.world_size);
    recording->view.episode = FindEpisode(recording->view, fitted);
  }
  auto [diagnosis, calm] = Judge(*recording, fitted);
  const Iteration until = calm && !recording->replayed
                              ? JudgePassedStretch(recording->view, fitted, diagnosis)
                              : Iteration(-1);
  const std::size_t passed = until.value >= 0 ? diagnosis.verdicts.size() : 0;
  AbstainOnShort(*recording, diagnosis);
  Analysis analysis;
  analysis.tables = diagnosis::TablesOf(recording->view, recording->tables);
  analysis.tables.totals = diagnosis.ranks;
  if (!against.empty()) {
    const absl::Status compared =
        CompareWith(against, format, limits, fitted, analysis.tables, *recording, diagnosis);
    if (!compared.ok()) return compared;
  }
  analysis.config = fitted;
  analysis.verdicts = EpisodesOf(*recording, diagnosis);
  CloseAt(until, absl::MakeSpan(analysis.verdicts).first(passed));
  analysis.report = ReportOn(*recording, diagnosis, analysis.verdicts);
  analysis.notes = std::move(recording->notes);
  analysis.files = std::move(recording->files);
  analysis.recording = *std::move(recording);
  return analysis;
}

}  // namespace fathom::collector
