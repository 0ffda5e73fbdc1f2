#include "collector/import/analysis.h"

#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "collector/export/comparison_proto.h"
#include "collector/export/report.h"
#include "collector/export/tables_proto.h"
#include "collector/import/episode.h"
#include "collector/import/passed_stretch.h"
#include "collector/import/recognise.h"
#include "collector/import/recorded_functions.h"
#include "collector/import/short_recording.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/schedule/repairs.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/tables/comparison.h"
#include "diagnosis/tables/comparison_verdict.h"
#include "diagnosis/watch/totals.h"
#include "diagnosis/watch/watch.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kMostPatternRows = 100'000;

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

void PutFiles(const std::vector<FileUse>& files, v1::Coverage& coverage) {
  for (const FileUse& use : files) {
    v1::Coverage::File& file = *coverage.add_files();
    file.set_path(use.path);
    file.set_format(use.format);
    for (const std::uint32_t rank : use.ranks) file.add_ranks(rank);
    file.set_left_out(use.left_out);
  }
}

void PutClocks(const diagnosis::ClockAlignment& clocks, v1::Coverage& coverage) {
  for (const auto& [rank, from] : clocks.ranks) {
    v1::Coverage::Clock& clock = *coverage.add_clocks();
    clock.set_rank(rank.value);
    clock.set_offset_s(from.offset.Seconds());
    clock.set_residual_s(from.residual.Seconds());
    clock.set_reference(from.reference.value);
    clock.set_shared(static_cast<std::uint32_t>(from.shared));
  }
}

// Nodes of which the topology tells nothing: then switches are guessed.
void NoteUntoldNodes(const diagnosis::Topology* topology, Recording& recording) {
  if (topology == nullptr) return;
  std::set<std::string> untold;
  for (const diagnosis::RankFacts& facts : recording.view.ranks) {
    if (diagnosis::LeafOf(*topology, facts.node, 0).empty()) untold.insert(facts.node);
  }
  if (untold.empty()) return;
  const std::string& one = *untold.begin();
  recording.notes.push_back(
      absl::StrCat(topology->source, " tells nothing of ", untold.size(), " of the job's nodes (",
                   one.empty() ? "whose names the recording does not tell" : one,
                   "): which switches they are on is guessed"));
}

struct Judged {
  diagnosis::Diagnosis diagnosis;
  bool calm = false;  // nothing is slow or stands still at the end
};

Judged Judge(const Recording& recording, const diagnosis::DiagnosisConfig& config,
             const diagnosis::Topology* topology = nullptr) {
  const diagnosis::Suspicion suspicion = diagnosis::Watch(recording.view, config);
  diagnosis::Diagnosis diagnosis =
      diagnosis::DiagnoseWired(recording.view, suspicion, config, topology);
  diagnosis.ranks = diagnosis::TotalsOf(recording.view);
  diagnosis::FillTotals(recording.tables, diagnosis.ranks);
  const bool calm = !suspicion.slow && !suspicion.stalled && diagnosis.verdicts.empty();
  return {std::move(diagnosis), calm};
}

// The chance that the later ones rank as high as they do by themselves.
double ChanceThatSecondRanksSo(std::vector<double> first, const std::vector<double>& second) {
  const std::size_t cut = first.size();
  first.insert(first.end(), second.begin(), second.end());
  return ChanceOfRise(first, cut);
}

std::optional<diagnosis::Chances> ChancesOf(const diagnosis::JobTables& before,
                                            const diagnosis::JobTables& after) {
  const std::vector<double> then = diagnosis::Durations(before), now = diagnosis::Durations(after);
  if (then.size() < diagnosis::kFewestForMedian || now.size() < diagnosis::kFewestForMedian) {
    return std::nullopt;
  }
  return diagnosis::Chances{ChanceThatSecondRanksSo(then, now), ChanceThatSecondRanksSo(now, then)};
}

// What a recording is too short for is not told as if it were not there.
void AbstainOnShort(const Recording& recording, diagnosis::Diagnosis& diagnosis) {
  const diagnosis::JobView& view = recording.view;
  const std::size_t count = view.window.size();
  constexpr std::size_t least = 2 * diagnosis::kFewestForMedian;
  // Dumps alone are asked why the job stands still, and not for its iterations.
  const bool other = count == 0 && view.rows.empty() && !view.records.empty();
  if (recording.replayed || count >= least || !view.schedule.empty() || other) return;
  diagnosis.abstained.push_back(
      {kWhetherSlower,
       absl::StrCat(least, " iterations or more; ", count == 0 ? "none" : absl::StrCat(count),
                    count == 1 ? " is known" : " are known")});
}

absl::StatusOr<diagnosis::Comparison> CompareWith(const Against& against, std::string_view format,
                                                  const ImportLimits& limits,
                                                  const diagnosis::DiagnosisConfig& config,
                                                  const diagnosis::JobTables& tables,
                                                  Recording& recording) {
  ImportLimits undrawn = limits;
  undrawn.timeline_events = 0;
  undrawn.from = against.from;
  undrawn.to = against.to;
  auto other = ReadRecording(against.paths, format, undrawn);
  if (!other.ok()) return other.status();
  for (std::string& note : other->notes) recording.notes.push_back("against: " + std::move(note));
  const auto before = diagnosis::TablesOf(other->view, std::move(other->tables));
  return diagnosis::Compare(tables, before, ChancesOf(before, tables), config);
}

// What repairing one alone would win back, beside what it alone leaves of S.
void PutRepairs(const Recording& recording, const diagnosis::Diagnosis& diagnosis,
                v1::Report& report) {
  if (!diagnosis.what_if) return;
  const diagnosis::Repairs repairs =
      diagnosis::RepairsOf(recording.view.schedule, *diagnosis.what_if);
  v1::WhatIf::Only& only = *report.mutable_what_if()->mutable_only();
  for (auto& stage : *only.mutable_stage()) {
    const auto at = repairs.stage.find(static_cast<std::int32_t>(stage.index()));
    if (at != repairs.stage.end()) stage.set_saved_s(at->second);
  }
  for (auto& worker : *only.mutable_worker()) {
    const auto at = repairs.worker.find(RankId(worker.ranks(0)));
    if (at != repairs.worker.end()) worker.set_saved_s(at->second);
  }
}

v1::Report ReportOn(const Recording& recording, const diagnosis::Diagnosis& diagnosis,
                    const std::vector<Episode>& episodes) {
  v1::Report report;
  BuildReport(recording.view, diagnosis, episodes, recording.source, report, recording.tables);
  PutMissing(recording, *report.mutable_coverage());
  PutFiles(recording.files, *report.mutable_coverage());
  PutClocks(recording.clocks, *report.mutable_coverage());
  PutRepairs(recording, diagnosis, report);
  return report;
}

// The larger of what a rank gives and gets in a profiler's trace; what it gives in our own.
diagnosis::GatherBytes GathersOf(const std::string& source) {
  if (source == "kineto") return diagnosis::GatherBytes::kWhole;
  return source == "fathom" ? diagnosis::GatherBytes::kPart : diagnosis::GatherBytes::kUnknown;
}

void Report(const Recording& recording, const diagnosis::Diagnosis& diagnosis,
            const std::optional<diagnosis::Comparison>& comparison, Analysis& analysis) {
  analysis.tables.gathers = GathersOf(recording.source);
  FillGraphTables(recording.view, analysis.config, analysis.tables);
  v1::Report report = ReportOn(recording, diagnosis, analysis.verdicts);
  if (comparison) ToProto(*comparison, *report.mutable_comparison());
  ToProto(analysis.tables, *report.mutable_tables());
  analysis.report = ToJson(report);
}

// The settings that the recording is judged with, and the episode that it tells of by itself.
diagnosis::DiagnosisConfig Fit(const diagnosis::DiagnosisConfig& config, Recording& recording) {
  if (recording.replayed) return config;
  diagnosis::DiagnosisConfig fitted =
      ConfigForRecording(config, recording.view.window.size(), recording.view.world_size);
  recording.view.episode = FindEpisode(recording.view, fitted);
  return fitted;
}

}  // namespace

std::string ReportOf(const Recording& recording, const diagnosis::DiagnosisConfig& config) {
  const diagnosis::Diagnosis diagnosis = Judge(recording, config).diagnosis;
  return ToJson(ReportOn(recording, diagnosis, EpisodesOf(recording, diagnosis)));
}

absl::StatusOr<Analysis> Analyze(const std::vector<std::string>& paths, std::string_view format,
                                 const ImportLimits& limits,
                                 const diagnosis::DiagnosisConfig& config, const Against& against) {
  ImportLimits judged = limits;
  judged.thresholds = &config;
  auto recording = ReadRecording(paths, format, judged);
  if (!recording.ok()) return recording.status();
  const diagnosis::DiagnosisConfig fitted = Fit(config, *recording);
  auto [diagnosis, calm] = Judge(*recording, fitted, limits.topology);
  NoteUntoldNodes(limits.topology, *recording);
  const Iteration until = calm && !recording->replayed
                              ? JudgePassedStretch(recording->view, fitted, diagnosis)
                              : Iteration(-1);
  const std::size_t passed = until.value >= 0 ? diagnosis.verdicts.size() : 0;
  AbstainOnShort(*recording, diagnosis);
  Analysis analysis;
  analysis.tables = diagnosis::TablesOf(recording->view, recording->tables);
  analysis.tables.totals = diagnosis.ranks;
  analysis.tables.functions = diagnosis::PatternTable(recording->patterns, kMostPatternRows);
  std::optional<diagnosis::Comparison> comparison;
  if (!against.paths.empty()) {
    auto compared = CompareWith(against, format, judged, fitted, analysis.tables, *recording);
    if (!compared.ok()) return compared.status();
    comparison = *std::move(compared);
    diagnosis::JudgeComparison(*comparison, analysis.tables, diagnosis);
  }
  analysis.config = fitted;
  analysis.verdicts = EpisodesOf(*recording, diagnosis);
  CloseAt(until, absl::MakeSpan(analysis.verdicts).first(passed));
  if (!recording->replayed) TellRecordedFunctions(*recording, analysis.verdicts);
  Report(*recording, diagnosis, comparison, analysis);
  analysis.notes = std::move(recording->notes);
  analysis.files = std::move(recording->files);
  analysis.recording = *std::move(recording);
  return analysis;
}

}  // namespace fathom::collector
