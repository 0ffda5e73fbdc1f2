#include "collector/import/kineto/kineto_importer.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "collector/import/kineto/job_builder.h"
#include "collector/import/kineto/one_run.h"
#include "collector/import/kineto/rank_rows.h"
#include "collector/import/kineto/record_join.h"
#include "collector/import/kineto/step_search.h"
#include "collector/import/kineto/trace/comm_joiner.h"
#include "collector/import/kineto/trace/rank_trace_builder.h"
#include "collector/import/kineto/trace/trace_reader.h"
#include "collector/import/kineto/user_marks.h"
#include "collector/import/kineto/windows.h"
#include "collector/import/reading/group_claims.h"
#include "collector/import/reading/input_file.h"

namespace fathom::collector::kineto {
namespace {

constexpr unsigned kFilesAtOnce = 2;

// `events`: how many to keep for a drawing.
absl::StatusOr<std::vector<RankTrace>> ReadOne(const std::string& path, const ImportLimits& limits,
                                               std::size_t events) {
  auto file = InputFile::Open(path, limits);
  if (!file.ok()) return file.status();
  RankTraceBuilder builder(events > 0, limits.patterns);
  auto summary =
      ReadTrace([&](char* to, std::size_t size) { return file->Read(to, size); }, builder);
  if (!summary.ok()) return summary.status();
  RankTrace trace = builder.Take(*std::move(summary));
  trace.path = path;
  std::vector<RankTrace> windows = CutIntoWindows(std::move(trace));
  // Made here, where two files are read at a time; the work itself is not kept.
  for (RankTrace& window : windows) {
    if (events > 0) window.timeline = diagnosis::TimelineOf(window.work, events / windows.size());
    if (window.work.device.empty()) continue;
    window.tables = diagnosis::TablesOfDevice(std::exchange(window.work, {}));
  }
  return windows;
}

using ReadFile = absl::StatusOr<std::vector<RankTrace>>;

std::vector<ReadFile> ReadAll(const std::vector<std::string>& paths, const ImportLimits& limits) {
  std::vector<ReadFile> traces(paths.size(), absl::UnknownError("not read"));
  std::atomic<std::size_t> next{0};
  const auto events = static_cast<std::size_t>(limits.timeline_events / paths.size());
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++)
      traces[i] = ReadOne(paths[i], limits, events);
  };
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto helpers = std::min<std::size_t>({kFilesAtOnce, cores, paths.size()});
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < helpers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return traces;
}

void Rename(const std::string& from, const std::string& to, RankTrace& trace) {
  auto group = trace.groups.extract(from);
  if (group.empty()) return;
  group.key() = group.mapped().name = to;
  trace.groups.insert(std::move(group));
  for (CommEvent& comm : trace.comms) {
    if (comm.group == from) comm.group = to;
  }
}

void NameGroupsApart(std::vector<RankTrace>& traces) {
  std::vector<GroupClaim> claims;
  for (const RankTrace& trace : traces) {
    for (const auto& [name, group] : trace.groups) {
      claims.push_back({trace.rank, name, group.ranks});
    }
  }
  for (const auto& [of, name] : NamesApart(std::move(claims))) {
    for (RankTrace& trace : traces) {
      if (trace.rank == of.first) Rename(of.second, name, trace);
    }
  }
}

void KeepTimelines(std::vector<RankTrace>& traces, Recording& recording) {
  for (RankTrace& trace : traces) {
    if (trace.timeline.empty()) continue;
    diagnosis::Rebase(TimeOf(trace, 0).ns, trace.timeline);
    trace.timeline.thread = static_cast<std::uint32_t>(TrainingThread(trace));
    recording.timelines[RankId(trace.rank)].push_back(std::move(trace.timeline));
  }
}

// Of several windows of a rank each holds the stacks of the whole file.
void KeepStacks(std::vector<RankTrace>& traces, Recording& recording) {
  for (RankTrace& trace : traces) {
    if (!trace.patterns.empty()) {
      recording.patterns.try_emplace(RankId(trace.rank), std::move(trace.patterns));
    }
    if (trace.stacks.samples == 0) continue;
    recording.capture.ranks.try_emplace(RankId(trace.rank), std::move(trace.stacks));
  }
}

// A rank that had a trace is no longer missing, whatever another importer thought.
void NoteMissing(const std::vector<RankTrace>& traces, Recording& recording) {
  std::set<RankId> have;
  for (const RankTrace& trace : traces) have.insert(RankId(trace.rank));
  recording.ranks_missing.clear();
  for (std::uint32_t rank = 0; rank < recording.view.world_size; ++rank) {
    if (!have.contains(RankId(rank))) recording.ranks_missing.push_back(RankId(rank));
  }
}

// All that are left say the same, if anything.
void TellSize(const std::vector<RankTrace>& traces, Recording& recording) {
  for (const RankTrace& trace : traces) {
    const std::int64_t world = trace.summary.header.world_size;
    if (world <= 0) continue;
    recording.sizes.push_back({"kineto", trace.path, static_cast<std::uint32_t>(world), true});
    return;
  }
}

}  // namespace

bool KinetoImporter::Recognises(std::string_view, std::string_view head) const {
  // A Chrome trace by its events, or a bare list of them; PyTorch's by what only its profiler
  // writes.
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  const bool list = first != std::string_view::npos && head[first] == '[' &&
                    head.find("\"ph\"") != std::string_view::npos;
  if (!list && head.find("\"traceEvents\"") == std::string_view::npos) return false;
  for (const std::string_view mark : {"\"schemaVersion\"", "\"deviceProperties\"", "\"cpu_op\"",
                                      "\"Operator\"", "\"cuda_runtime\"", "ProfilerStep#"}) {
    if (head.find(mark) != std::string_view::npos) return true;
  }
  return false;
}

absl::Status KinetoImporter::Read(const std::vector<std::string>& paths, const ImportLimits& limits,
                                  Recording& recording) const {
  std::vector<RankTrace> traces;
  absl::Status failed;
  auto read = ReadAll(paths, limits);
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (read[i].ok()) {
      for (RankTrace& window : *read[i]) traces.push_back(std::move(window));
      continue;
    }
    const absl::Status& status = read[i].status();
    failed.Update(absl::Status(status.code(), absl::StrCat(paths[i], ": ", status.message())));
    recording.notes.push_back(absl::StrCat(paths[i], ": left out: ", status.message()));
    TellLeftOut(paths[i], std::string(status.message()), recording);
  }
  auto kept = KeepOneRun(std::move(traces), limits, recording);
  if (!kept.ok()) return kept.status();
  traces = *std::move(kept);
  if (traces.empty()) {
    return failed.ok() ? absl::InvalidArgumentError(
                             absl::StrCat(paths.front(), ": no whole event of PyTorch's profiler"))
                       : failed;
  }
  NameGroupsApart(traces);
  std::string how = MarkStepsOfUser(traces);
  if (how.empty()) how = MarkSteps(traces);
  if (!how.empty()) recording.notes.push_back(std::move(how));
  AddTraces(traces, recording);
  KeepTimelines(traces, recording);
  KeepStacks(traces, recording);
  TellWindows(traces, recording);
  NoteMissing(traces, recording);
  TellSize(traces, recording);
  return absl::OkStatus();
}

void KinetoImporter::Finish(Recording& recording) const { JoinRecords(recording); }

}  // namespace fathom::collector::kineto
