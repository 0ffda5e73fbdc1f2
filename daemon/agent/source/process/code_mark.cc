#include "daemon/agent/source/process/code_mark.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "daemon/agent/source/process/process_files.h"
#include "daemon/service/crc32c.h"

namespace fathom::agent {
namespace {

std::vector<std::string> PythonFilesIn(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), &closedir);
  std::vector<std::string> names;
  if (open == nullptr) return names;
  for (std::size_t seen = 0; seen < CodeMark::kMostEntries; ++seen) {
    const dirent* const entry = readdir(open.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (absl::EndsWith(name, ".py")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  if (names.size() > CodeMark::kMost) names.resize(CodeMark::kMost);
  return names;
}

}  // namespace

std::string ReadCodeMark(const std::string& folder, const std::vector<std::string>& command) {
  const std::string script = ScriptOf(folder, command);
  if (script.empty()) return "";
  struct stat process {};
  if (stat(folder.c_str(), &process) != 0) return "";
  const auto read = [&](const std::string& path) {
    return ReadRegularAs(process.st_uid, path, CodeMark::kMostBytes);
  };
  const std::string text = read(script);
  if (text.empty()) return "";
  const std::size_t name_at = script.rfind('/') + 1;
  std::uint32_t sum = service::Crc32c(text);
  std::size_t files = 1;
  for (const std::string& name : PythonFilesIn(script.substr(0, name_at))) {
    if (name == script.substr(name_at)) continue;
    sum = service::Crc32c(name, sum);
    sum = service::Crc32c(read(script.substr(0, name_at) + name), sum);
    ++files;
  }
  return absl::StrFormat("%08x of %d %s", sum, files, files == 1 ? "file" : "files");
}

}  // namespace fathom::agent
