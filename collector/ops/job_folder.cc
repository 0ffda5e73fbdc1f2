#include "collector/ops/job_folder.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/types/recording_format.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kDigits = 20;

bool Plain(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
}

std::optional<WallNs> BeginOf(const std::string& file) {
  std::int64_t ns = 0;
  if (file.size() != kDigits + kRecordingSuffix.size() || !file.ends_with(kRecordingSuffix) ||
      !absl::SimpleAtoi(file.substr(0, kDigits), &ns)) {
    return std::nullopt;
  }
  return WallNs(ns);
}

}  // namespace

std::string FolderNameOf(std::string_view job) {
  std::string out;
  for (const char c : job) {
    if (Plain(c) || (c == '.' && !out.empty())) {
      out += c;
    } else {
      char text[4];
      std::snprintf(text, sizeof(text), "%%%02X", static_cast<unsigned char>(c));
      out += text;
    }
  }
  return out;
}

std::optional<std::string> JobOfFolderName(std::string_view folder) {
  std::string job;
  for (std::size_t i = 0; i < folder.size(); ++i) {
    if (folder[i] != '%') {
      job += folder[i];
      continue;
    }
    std::uint32_t byte = 0;
    if (i + 2 >= folder.size() ||
        !absl::SimpleHexAtoi(std::string(folder.substr(i + 1, 2)), &byte)) {
      return std::nullopt;
    }
    job += static_cast<char>(byte);
    i += 2;
  }
  return FolderNameOf(job) == folder ? std::optional(job) : std::nullopt;
}

std::string SegmentName(WallNs begin) {
  const std::string digits = std::to_string(std::max<std::int64_t>(0, begin.ns));
  return absl::StrCat(std::string(kDigits - digits.size(), '0'), digits,
                      std::string(kRecordingSuffix));
}

std::vector<SegmentFile> SegmentsIn(const std::string& folder) {
  std::vector<SegmentFile> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto begin = BeginOf(entry.path().filename().string());
    if (!begin) continue;
    const std::uintmax_t bytes = entry.file_size(error);
    found.push_back({entry.path().string(), *begin, error ? 0 : bytes});
  }
  std::sort(found.begin(), found.end(),
            [](const SegmentFile& a, const SegmentFile& b) { return a.begin.ns < b.begin.ns; });
  return found;
}

std::vector<SegmentFile> Overlapping(const std::vector<SegmentFile>& segments, WallNs from,
                                     WallNs to) {
  std::vector<SegmentFile> within;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool over = i + 1 < segments.size() && from.known() && segments[i + 1].begin < from;
    const bool later = to.known() && segments[i].begin > to;
    if (!over && !later) within.push_back(segments[i]);
  }
  return within;
}

std::vector<std::string> JobsIn(const std::string& store) {
  std::vector<std::string> jobs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(store, error)) {
    if (!entry.is_directory(error)) continue;
    if (auto job = JobOfFolderName(entry.path().filename().string())) {
      jobs.push_back(*std::move(job));
    }
  }
  std::sort(jobs.begin(), jobs.end());
  return jobs;
}

}  // namespace fathom::collector
