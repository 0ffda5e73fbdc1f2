#include "collector/import/kineto/kineto_importer.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "collector/import/group_claims.h"
#include "collector/import/input_file.h"
#include "collector/import/kineto/job_builder.h"
#include "collector/import/kineto/rank_trace_builder.h"
#include "collector/import/kineto/record_join.h"
#include "collector/import/kineto/step_search.h"
#include "collector/import/kineto/trace_reader.h"
#include "collector/import/rank_name.h"
#include "diagnosis/clocks/alignment.h"

namespace fathom::collector::kineto {
namespace {

constexpr unsigned kFilesAtOnce = 2;

absl::StatusOr<RankTrace> ReadOne(const std::string& path, const ImportLimits& limits) {
  auto file = InputFile::Open(path, limits);
  if (!file.ok()) return file.status();
  RankTraceBuilder builder;
  auto summary =
      ReadTrace([&](char* to, std::size_t size) { return file->Read(to, size); }, builder);
  if (!summary.ok()) return summary.status();
  RankTrace trace = builder.Take(*std::move(summary));
  trace.path = path;
  // Made here, where two files are read at a time; the work itself is not kept.
  if (!trace.work.device.empty()) {
    trace.tables = diagnosis::TablesOfDevice(trace.work);
    trace.work = {};
  }
  return trace;
}

std::vector<absl::StatusOr<RankTrace>> ReadAll(const std::vector<std::string>& paths,
                                               const ImportLimits& limits) {
  std::vector<absl::StatusOr<RankTrace>> traces(paths.size(), absl::UnknownError("not read"));
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++)
      traces[i] = ReadOne(paths[i], limits);
  };
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto helpers = std::min<std::size_t>({kFilesAtOnce, cores, paths.size()});
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < helpers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return traces;
}

// Files that name no rank, in any way, get the numbers that are left, in order of name.
void NumberTraces(std::vector<RankTrace>& traces) {
  std::set<std::uint32_t> taken;
  std::vector<RankTrace*> nameless;
  for (RankTrace& trace : traces) {
    const std::int64_t said = trace.summary.header.rank;
    if (said >= 0 && said < std::numeric_limits<std::uint32_t>::max()) {
      trace.rank = static_cast<std::uint32_t>(said);
    } else if (const auto named = RankOfFileName(trace.path)) {
      trace.rank = named->value;
      trace.rank_guessed = true;
    } else {
      nameless.push_back(&trace);
      continue;
    }
    taken.insert(trace.rank);
  }
  std::uint32_t number = 0;
  for (RankTrace* trace : nameless) {
    while (!taken.insert(number).second) ++number;
    trace->rank = number;
    trace->rank_guessed = true;
  }
}

// The size of the job that most traces tell; kAbsent if none does.
std::int64_t UsualWorld(const std::vector<RankTrace>& traces) {
  std::map<std::int64_t, std::size_t> votes;
  for (const RankTrace& trace : traces) {
    if (trace.summary.header.world_size > 0) ++votes[trace.summary.header.world_size];
  }
  std::int64_t usual = kAbsent;
  std::size_t most = 0;
  for (const auto& [world, count] : votes) {
    if (count > most) usual = world, most = count;
  }
  return usual;
}

// Why the trace cannot be part of this job, or empty.
std::string Unfit(const RankTrace& trace, std::int64_t world, const ImportLimits& limits,
                  const std::map<std::uint32_t, std::string>& taken) {
  const std::int64_t own_world = trace.summary.header.world_size;
  if (trace.rank >= limits.ranks || own_world > static_cast<std::int64_t>(limits.ranks)) {
    return absl::StrCat("rank ", trace.rank, " is beyond the limit of ", limits.ranks, " ranks");
  }
  if (own_world > 0 && own_world != world) {
    return absl::StrCat("belongs to a job of ", own_world, " ranks, the others to one of ", world);
  }
  if (const auto at = taken.find(trace.rank); at != taken.end()) {
    return absl::StrCat("is a second trace of rank ", trace.rank, ", after ", at->second);
  }
  if (trace.summary.events == 0) return "holds no events";
  return {};
}

std::vector<RankTrace> KeepOneJob(std::vector<RankTrace> traces, const ImportLimits& limits,
                                  Recording& recording) {
  const std::int64_t world = UsualWorld(traces);
  std::map<std::uint32_t, std::string> taken;
  std::vector<RankTrace> kept;
  for (RankTrace& trace : traces) {
    if (const std::string why = Unfit(trace, world, limits, taken); !why.empty()) {
      recording.notes.push_back(absl::StrCat(trace.path, ": left out: ", why));
      continue;
    }
    taken[trace.rank] = trace.path;
    kept.push_back(std::move(trace));
  }
  std::sort(kept.begin(), kept.end(),
            [](const RankTrace& a, const RankTrace& b) { return a.rank < b.rank; });
  return kept;
}

void NameGroupsApart(std::vector<RankTrace>& traces) {
  std::vector<GroupClaim> claims;
  for (const RankTrace& trace : traces) {
    for (const auto& [name, group] : trace.groups) {
      claims.push_back({trace.rank, name, group.ranks});
    }
  }
  for (const auto& [of, name] : NamesApart(std::move(claims))) {
    const auto trace = std::find_if(traces.begin(), traces.end(),
                                    [&](const RankTrace& t) { return t.rank == of.first; });
    auto group = trace->groups.extract(of.second);
    group.key() = group.mapped().name = name;
    trace->groups.insert(std::move(group));
    for (CommEvent& comm : trace->comms) {
      if (comm.group == of.second) comm.group = name;
    }
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

// How well times of different ranks can be compared, for who draws them together.
void AddClocks(Recording& recording) {
  using Level = diagnosis::SignalState::Level;
  const std::size_t ranks = recording.view.rows.size();
  if (ranks < 2) return;
  const diagnosis::ClockAlignment clocks = diagnosis::AlignClocks(recording.view);
  const std::size_t aligned = clocks.offsets.size();
  recording.view.signals.push_back(
      {"clocks",
       aligned == 0      ? Level::kOff
       : aligned < ranks ? Level::kPartly
                         : Level::kOn,
       aligned == 0 ? "the order of events of different ranks"
                    : absl::StrCat("the order of events of different ranks closer than ",
                                   clocks.residual.count / 1000 + 1, " us; clocks are up to ",
                                   clocks.largest.count / 1000, " us apart")});
}

}  // namespace

bool KinetoImporter::Recognises(std::string_view, std::string_view head) const {
  // A Chrome trace by its events; PyTorch's by what only its profiler writes.
  if (head.find("\"traceEvents\"") == std::string_view::npos) return false;
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
      traces.push_back(*std::move(read[i]));
      continue;
    }
    failed.Update(read[i].status());
    recording.notes.push_back(absl::StrCat(paths[i], ": left out: ", read[i].status().message()));
  }
  NumberTraces(traces);
  traces = KeepOneJob(std::move(traces), limits, recording);
  if (traces.empty()) {
    return failed.ok() ? absl::InvalidArgumentError("no usable Kineto trace") : failed;
  }
  NameGroupsApart(traces);
  if (std::string how = MarkSteps(traces); !how.empty()) recording.notes.push_back(std::move(how));
  AddTraces(traces, recording);
  NoteMissing(traces, recording);
  return absl::OkStatus();
}

void KinetoImporter::Finish(Recording& recording) const {
  JoinRecords(recording);
  AddClocks(recording);
}

}  // namespace fathom::collector::kineto
