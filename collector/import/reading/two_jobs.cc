#include "collector/import/reading/two_jobs.h"

#include <algorithm>
#include <set>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace fathom::collector {
namespace {

constexpr char kPayload[] = "fathom/folders_of_jobs";
constexpr std::size_t kNamed = 8;  // folders; of more the number tells enough

// The path of the folder in which `one` and `two` lie both, with its last slash.
std::string CommonFolder(const std::string& one, const std::string& two) {
  const auto [end, other] = std::mismatch(one.begin(), one.end(), two.begin(), two.end());
  const std::string common(one.begin(), end);
  const std::size_t slash = common.rfind('/');
  return slash == std::string::npos ? "" : common.substr(0, slash + 1);
}

// The folder of `path` next below `common`; empty: it lies in `common` itself, or elsewhere.
std::string Below(const std::string& common, const std::string& path) {
  if (!path.starts_with(common)) return {};
  const std::size_t slash = path.find('/', common.size());
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// Empty: the files cannot be told apart by folder.
std::set<std::string> FoldersApart(const std::string& one, const std::string& two,
                                   const std::vector<std::string>& files) {
  const std::string common = CommonFolder(one, two);
  std::set<std::string> folders = {Below(common, one), Below(common, two)};
  for (const std::string& file : files) folders.insert(Below(common, file));
  if (folders.contains("")) folders.clear();
  return folders;
}

std::string InWords(const std::set<std::string>& folders) {
  if (folders.size() > kNamed) return absl::StrCat(folders.size(), " folders");
  return absl::StrJoin(folders, ", ");
}

}  // namespace

absl::Status TwoJobs(std::string_view why, const std::string& one, const std::string& two,
                     const std::vector<std::string>& files) {
  const std::set<std::string> folders = FoldersApart(one, two, files);
  if (folders.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(why), ", ", one, " and ", two,
                     ": these are two jobs, name the files of one of them"));
  }
  absl::Status status = absl::InvalidArgumentError(
      absl::StrCat(std::string(why), ", ", one, " and ", two, ": these are two jobs, name one of ",
                   InWords(folders)));
  status.SetPayload(kPayload, absl::Cord(absl::StrJoin(folders, "\n")));
  return status;
}

std::vector<std::string> FoldersOfJobs(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  if (!payload) return {};
  return absl::StrSplit(std::string(*payload), '\n');
}

}  // namespace fathom::collector
