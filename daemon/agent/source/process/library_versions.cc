#include "daemon/agent/source/process/library_versions.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/agent/source/process/process_files.h"

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxMapBytes = 8u << 20;
constexpr std::size_t kSmall = 64 * 1024;
constexpr std::size_t kMaxVersionBytes = 64;

// "2.4.1+cpu", "570.86.15", "6.1.0-18-amd64".
bool IsVersion(const std::string& text) {
  if (text.empty() || text.size() > kMaxVersionBytes) return false;
  return absl::ascii_isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  absl::StrContains("+.-_~", absl::string_view(&c, 1));
         });
}

std::string VersionOr(std::string text) { return IsVersion(text) ? text : ""; }

// What stands in quotes behind `key` at the beginning of a line; empty where there is none.
std::string QuotedAfter(const std::string& text, const std::string& key) {
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (!absl::StartsWith(line, key)) continue;
    const std::size_t open = line.find_first_of("'\"");
    if (open == std::string::npos) continue;
    const std::size_t close = line.find(line[open], open + 1);
    if (close != std::string::npos) return line.substr(open + 1, close - open - 1);
  }
  return "";
}

// The path of the first mapped file whose path has `part` in it; empty where there is none.
std::string MappedFile(const std::string& map, const std::string& part) {
  const std::size_t at = map.find(part);
  if (at == std::string::npos) return "";
  const std::size_t line = map.rfind('\n', at) + 1;  // npos + 1 is 0
  const std::size_t slash = map.find('/', line);
  return slash > at ? "" : map.substr(slash, map.find('\n', at) - slash);
}

void ReadTorch(const std::string& root, const std::string& map, LibraryVersions& out) {
  const std::string library = MappedFile(map, "/torch/lib/libtorch");
  if (library.empty()) return;
  const std::string folder = library.substr(0, library.find("/torch/lib/") + 7);
  const std::string text = ReadRegular(absl::StrCat(root, folder, "version.py"), kSmall);
  out.torch = VersionOr(QuotedAfter(text, "__version__"));
  out.cuda = VersionOr(QuotedAfter(text, "cuda"));
}

std::string PackageVersion(const std::string& folder, const std::string& prefix) {
  DIR* const listed = opendir(folder.c_str());
  if (listed == nullptr) return "";
  std::string version;
  while (const dirent* const entry = readdir(listed)) {
    const std::string name = entry->d_name;
    if (!absl::StartsWith(name, prefix) || !absl::EndsWith(name, ".dist-info")) continue;
    const std::size_t dash = name.find('-');
    version = VersionOr(name.substr(dash + 1, name.size() - dash - 11));
    break;
  }
  closedir(listed);
  return version;
}

std::string NcclVersion(const std::string& root, const std::string& map) {
  const std::string library = MappedFile(map, "/libnccl.so");
  constexpr char kName[] = "/libnccl.so.";
  const std::size_t at = library.find(kName);
  if (at == std::string::npos) return "";
  const std::string suffix = library.substr(at + sizeof(kName) - 1);
  if (absl::StrContains(suffix, ".")) return VersionOr(suffix);
  const std::size_t package = library.find("/nvidia/nccl/");
  if (package == std::string::npos) return "";
  return PackageVersion(absl::StrCat(root, library.substr(0, package)), "nvidia_nccl_");
}

std::string PythonVersion(const std::string& folder) {
  char target[512];
  const ssize_t length = readlink((folder + "/exe").c_str(), target, sizeof(target) - 1);
  if (length <= 0) return "";
  const std::string path(target, static_cast<std::size_t>(length));
  constexpr char kName[] = "/python";
  const std::size_t at = path.rfind(kName);
  return at == std::string::npos ? "" : VersionOr(path.substr(at + sizeof(kName) - 1));
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu …"
std::string DriverVersion(const KernelRoots& roots) {
  const std::string text = ReadRegular(roots.proc + "/driver/nvidia/version", kSmall);
  const std::string line = text.substr(0, text.find('\n'));
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(line, ' '))) {
    if (absl::StrContains(word, ".") && IsVersion(word)) return word;
  }
  return "";
}

std::string GpuModel(const KernelRoots& roots) {
  const std::string folder = roots.proc + "/driver/nvidia/gpus";
  DIR* const listed = opendir(folder.c_str());
  if (listed == nullptr) return "";
  std::string model;
  while (const dirent* const entry = readdir(listed)) {
    if (entry->d_name[0] == '.') continue;
    const std::string text =
        ReadRegular(absl::StrCat(folder, "/", std::string(entry->d_name), "/information"), kSmall);
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
      if (absl::StartsWith(line, "Model:")) model = line.substr(6);
    }
    if (!model.empty()) break;
  }
  closedir(listed);
  absl::StripAsciiWhitespace(&model);
  return model.substr(0, kMaxVersionBytes);
}

}  // namespace

LibraryVersions ReadLibraryVersions(const KernelRoots& roots, std::uint32_t pid) {
  LibraryVersions out;
  const std::string folder = absl::StrCat(roots.proc, "/", pid);
  const std::string root = folder + "/root";
  const std::string map = ReadRegular(folder + "/maps", kMaxMapBytes);
  ReadTorch(root, map, out);
  out.nccl = NcclVersion(root, map);
  out.python = PythonVersion(folder);
  out.driver = DriverVersion(roots);
  std::string kernel = ReadRegular(roots.proc + "/sys/kernel/osrelease", kSmall);
  absl::StripAsciiWhitespace(&kernel);
  out.kernel = VersionOr(kernel);
  const std::string system = ReadRegular(root + "/etc/os-release", kSmall);
  out.system = QuotedAfter(system, "PRETTY_NAME=").substr(0, kMaxVersionBytes);
  out.gpu = GpuModel(roots);
  const bool on_gpu = absl::StrContains(map, "/libcuda.so");
  out.device = !on_gpu ? "cpu" : out.gpu.empty() ? "gpu" : out.gpu;
  return out;
}

}  // namespace fathom::agent
