#include "collector/export/perfetto/job_trace.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/export/perfetto/flows.h"
#include "collector/export/perfetto/lanes.h"
#include "collector/export/perfetto/rank_part.h"
#include "collector/export/perfetto/rank_tracks.h"
#include "collector/export/perfetto/trace_writer.h"

namespace fathom::collector {
namespace {

using diagnosis::JobView;
using perfetto::RankPart;
using perfetto::Slice;
using perfetto::TraceWriter;

constexpr std::uint64_t kVerdictTrack = 1;
constexpr std::int32_t kFirstThread = 1 << 30;  // above the number of every process

// The first and the last moment on the clock of the trace from iteration `from` to `until`, which
// may be -1: to the end. 0, 0 where nothing is known.
std::pair<std::int64_t, std::int64_t> SpanOf(const JobView& view,
                                             const std::vector<RankPart>& parts, Iteration from,
                                             Iteration until) {
  std::int64_t first = 0, last = 0;
  for (const auto& summary : view.window) {
    if (summary.index < from || (until.value >= 0 && until < summary.index)) continue;
    for (const RankPart& part : parts) {
      const diagnosis::RankIteration* row = perfetto::RowOf(summary, part.rank);
      if (row == nullptr) continue;
      const std::int64_t begin = row->begin.ns - part.shift;
      first = first == 0 ? begin : std::min(first, begin);
      last = std::max(last, begin + row->duration.count);
    }
  }
  return {first, last};
}

Slice SliceOf(const Episode& episode, const JobView& view, const std::vector<RankPart>& parts) {
  const diagnosis::Verdict& verdict = episode.verdict;
  auto [first, last] = SpanOf(view, parts, verdict.since_iteration, episode.until_iteration);
  // Of a job that stood still at once nothing but the wall clock is known.
  if (first == 0) first = last = std::max<std::int64_t>(verdict.since_time.ns, view.now.ns);
  Slice slice;
  slice.name = verdict.sentence;
  slice.category = "verdict";
  slice.begin_ns = std::max<std::int64_t>(first, 1);
  slice.end_ns = std::max(last, slice.begin_ns);
  slice.notes = {{"grade", std::string(ToString(verdict.grade))},
                 {"cause", std::string(ToString(verdict.cause))}};
  for (const diagnosis::Evidence& evidence : verdict.evidence) {
    slice.notes.emplace_back("evidence", evidence.statement);
  }
  return slice;
}

void WriteVerdicts(const TraceInput& input, const std::vector<RankPart>& parts,
                   TraceWriter& writer) {
  std::vector<Slice> slices;
  for (const Episode& episode : input.verdicts) {
    if (!episode.superseded) slices.push_back(SliceOf(episode, input.view, parts));
  }
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  perfetto::Lanes lanes(writer, {kVerdictTrack, 0, "fathom's verdicts", 0, 0});
  for (const Slice& slice : slices) lanes.Put(slice);
  lanes.Finish();
}

absl::StatusOr<TraceWritten> WriteAll(const TraceInput& input, TraceWriter& writer) {
  std::optional<diagnosis::ClockAlignment> found;
  if (input.clocks == nullptr) found = diagnosis::AlignClocks(input.view);
  const auto parts = perfetto::PartsOf(input.view, input.timelines, found ? &*found : input.clocks,
                                       input.most_slices);
  const perfetto::Flows flows(parts);
  TraceWritten written;
  std::int32_t next_thread = kFirstThread;
  WriteVerdicts(input, parts, writer);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint64_t crowded =
        perfetto::WriteRank(input.view, parts, i, flows, next_thread, writer);
    written.left_out += parts[i].left_out + crowded;
    written.ranks_cut += parts[i].left_out + crowded > 0;
  }
  written.slices = writer.slices();
  if (absl::Status closed = writer.Close(); !closed.ok()) return closed;
  return written;
}

}  // namespace

absl::StatusOr<TraceWritten> WritePerfetto(const TraceInput& input, const std::string& path) {
  const auto writer = TraceWriter::Create(path);
  if (!writer.ok()) return writer.status();
  return WriteAll(input, **writer);
}

absl::StatusOr<std::string> PerfettoBytes(const TraceInput& input) {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* stream = open_memstream(&bytes, &size);
  if (stream == nullptr) return absl::ResourceExhaustedError("no memory for the trace");
  const auto written = WriteAll(input, *TraceWriter::Into(stream, "trace in memory"));
  const std::unique_ptr<char, decltype(&std::free)> owner(bytes, &std::free);
  if (!written.ok()) return written.status();
  return std::string(bytes, size);
}

}  // namespace fathom::collector
