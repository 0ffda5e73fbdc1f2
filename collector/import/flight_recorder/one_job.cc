#include "collector/import/flight_recorder/one_job.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "collector/import/reading/two_jobs.h"

namespace fathom::collector::flight_recorder {
namespace {

std::string FolderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "." : path.substr(0, slash));
}

// "nccl_trace_rank_3" of "/tmp/nccl_trace_rank_3.json.gz".
std::string StemOf(std::string_view path) {
  constexpr std::string_view kEnds[] = {".gz", ".json", ".pickle", ".pkl", ".bin", ".dump"};
  std::string_view name = path.substr(path.rfind('/') + 1);
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view end : kEnds) {
      if (!name.ends_with(end) || name.size() == end.size()) continue;
      name.remove_suffix(end.size());
      cut = true;
    }
  }
  return std::string(name);
}

struct Span {
  std::int64_t first = 0;
  std::int64_t newest = 0;
  RankId rank;
};

// When the entries of each rank that keeps a history were made; oldest first.
std::vector<Span> SpansOf(const std::map<RankId, Source>& sources) {
  std::vector<Span> spans;
  for (const auto& [rank, source] : sources) {
    const auto& entries = source.dump.entries;
    const bool history =
        source.dump.from_start || std::any_of(entries.begin(), entries.end(),
                                              [](const DumpEntry& entry) { return !entry.open; });
    Span span{std::numeric_limits<std::int64_t>::max(), Newest(source.dump), rank};
    for (const DumpEntry& entry : entries) {
      if (entry.created_ns > 0) span.first = std::min(span.first, entry.created_ns);
    }
    if (history && span.newest > 0) spans.push_back(span);
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.first < b.first; });
  return spans;
}

void PutEarlierRunsAside(std::map<RankId, Source>& sources, Recording& recording) {
  const std::vector<Span> spans = SpansOf(sources);
  std::size_t run = 0;  // where the latest run begins
  std::int64_t newest = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i > 0 && spans[i].first > newest + kEarlierRunNs) run = i;
    newest = std::max(newest, spans[i].newest);
  }
  for (std::size_t i = 0; i < run; ++i) {
    const auto source = sources.find(spans[i].rank);
    TellLeftOut(source->second.path, "left from an earlier run", recording);
    recording.notes.push_back(absl::StrFormat(
        "%s: left from an earlier run, not used: it ends %d s before the first entry of rank %d",
        source->second.path, (spans[run].first - spans[i].newest) / 1'000'000'000,
        spans[run].rank.value));
    sources.erase(source);
  }
}

std::string Ranks(const std::vector<RankId>& ranks) {
  constexpr std::size_t kShown = 8;
  const auto shown = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), kShown));
  return absl::StrCat(
      absl::StrJoin(ranks.begin(), shown, ", ",
                    [](std::string* out, RankId rank) { absl::StrAppend(out, rank.value); }),
      shown == ranks.end() ? "" : ", …");
}

// Which ranks the whole job has, by each dump that tells.
absl::Status CheckOneJob(const std::map<RankId, Source>& sources, Recording& recording) {
  std::map<std::vector<std::uint32_t>, std::vector<RankId>> told;
  for (const auto& [rank, source] : sources) {
    for (const DumpGroup& group : source.dump.groups) {
      if (group.description != kDefaultGroup || group.ranks.empty()) continue;
      std::vector<std::uint32_t> members = group.ranks;
      std::sort(members.begin(), members.end());
      told[std::move(members)].push_back(rank);
    }
  }
  if (told.empty()) return absl::OkStatus();
  if (told.size() == 1) {
    const auto size = static_cast<std::uint32_t>(told.begin()->first.size());
    recording.sizes.push_back(
        {"flight-recorder", sources.at(told.begin()->second.front()).path, size, true});
    return absl::OkStatus();
  }
  const auto& [one, of_one] = *told.begin();
  const auto& [two, of_two] = *std::next(told.begin());
  std::vector<std::string> paths;
  for (const auto& [rank, source] : sources) paths.push_back(source.path);
  return TwoJobs(
      absl::StrCat("the dumps of ranks ", Ranks(of_one), " say that the job has ", one.size(),
                   " ranks, those of ranks ", Ranks(of_two), " that it has ", two.size()),
      sources.at(of_one.front()).path, sources.at(of_two.front()).path, paths);
}

}  // namespace

std::int64_t Newest(const Dump& dump) {
  std::int64_t newest = 0;
  for (const DumpEntry& entry : dump.entries) newest = std::max(newest, entry.created_ns);
  return newest;
}

absl::Status Keep(RankId rank, Source source, const std::vector<std::string>& paths,
                  std::map<RankId, Source>& sources, Recording& recording) {
  const auto [at, first] = sources.try_emplace(rank, std::move(source));
  if (first) return absl::OkStatus();
  Source& kept = at->second;
  if (FolderOf(kept.path) != FolderOf(source.path) || StemOf(kept.path) != StemOf(source.path)) {
    return TwoJobs(absl::StrCat("rank ", rank.value, " has two dumps"), kept.path, source.path,
                   paths);
  }
  if (Newest(source.dump) > Newest(kept.dump)) std::swap(kept, source);
  recording.notes.push_back(
      absl::StrFormat("%s: a second dump of rank %d, not used; %s reaches further", source.path,
                      rank.value, kept.path));
  TellLeftOut(source.path, absl::StrCat("a second dump of rank ", rank.value), recording);
  return absl::OkStatus();
}

absl::Status KeepOneRun(std::map<RankId, Source>& sources, Recording& recording) {
  PutEarlierRunsAside(sources, recording);
  for (const auto& [rank, source] : sources) TellRank(source.path, rank.value, recording);
  return CheckOneJob(sources, recording);
}

}  // namespace fathom::collector::flight_recorder
