#include "collector/import/fathom/stored_job.h"

#include <filesystem>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "collector/ops/job_folder.h"

namespace fathom::collector {
namespace {

constexpr std::string_view kScheme = "job://";
constexpr std::size_t kMostNamed = 8;

absl::Status NoJob(const std::string& store, const std::string& job) {
  std::vector<std::string> jobs = JobsIn(store);
  if (jobs.empty()) {
    return absl::NotFoundError(absl::StrCat("no ops of any job are kept in ", store,
                                            "; does a collector with --stream ops write there?"));
  }
  const bool more = jobs.size() > kMostNamed;
  if (more) jobs.resize(kMostNamed);
  return absl::NotFoundError(absl::StrCat("no ops of job ", job, " are kept in ", store, "; of ",
                                          absl::StrJoin(jobs, ", "), more ? " and others" : "",
                                          " there are"));
}

std::optional<absl::Duration> Before(std::string_view text) {
  if (text.size() < 2 ||
      (text.back() != 'd' && text.back() != 'h' && text.back() != 'm' && text.back() != 's')) {
    return std::nullopt;
  }
  double amount = 0;
  if (!absl::SimpleAtod(std::string(text.substr(0, text.size() - 1)), &amount) || amount < 0) {
    return std::nullopt;
  }
  switch (text.back()) {
    case 'd':
      return absl::Hours(24 * amount);
    case 'h':
      return absl::Hours(amount);
    case 'm':
      return absl::Minutes(amount);
    default:
      return absl::Seconds(amount);
  }
}

}  // namespace

std::optional<std::string> StoredJobName(std::string_view path) {
  if (!path.starts_with(kScheme)) return std::nullopt;
  return std::string(path.substr(kScheme.size()));
}

absl::StatusOr<std::vector<std::string>> FilesOfStoredJob(const std::string& store,
                                                          const std::string& job, WallNs from,
                                                          WallNs to) {
  const std::string folder = absl::StrCat(store, "/", FolderNameOf(job));
  const std::vector<SegmentFile> segments = SegmentsIn(folder);
  if (job.empty() || segments.empty()) return NoJob(store, job);
  const std::string who = absl::StrCat(folder, "/", std::string(kWhoFile));
  std::vector<std::string> paths;
  for (const SegmentFile& each : Overlapping(segments, from, to)) paths.push_back(each.path);
  if (paths.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "nothing of job ", job, " is kept before ",
        absl::FormatTime(absl::FromUnixNanos(segments.front().begin.ns), absl::LocalTimeZone())));
  }
  std::error_code error;
  if (std::filesystem::exists(who, error)) paths.insert(paths.begin(), who);
  return paths;
}

absl::StatusOr<WallNs> ReadMoment(std::string_view text, WallNs now) {
  const std::string copy(text);
  if (const auto before = Before(text)) return WallNs(now.ns - absl::ToInt64Nanoseconds(*before));
  double seconds = 0;
  if (absl::SimpleAtod(copy, &seconds) && seconds >= 0 && seconds < 4e9) {
    return WallNs(static_cast<std::int64_t>(seconds * 1e9));
  }
  absl::Time time;
  std::string why;
  for (const char* format :
       {"%Y-%m-%d%ET%H:%M:%E*S%Ez", "%Y-%m-%d%ET%H:%M:%E*S", "%Y-%m-%d %H:%M:%E*S",
        "%Y-%m-%d%ET%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    if (absl::ParseTime(format, copy, absl::LocalTimeZone(), &time, &why)) {
      return WallNs(absl::ToUnixNanos(time));
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", copy, "' is no moment; say 2026-11-21T13:40:15, 15m or 2h"));
}

}  // namespace fathom::collector
