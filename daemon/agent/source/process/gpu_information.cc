#include "daemon/agent/source/process/gpu_information.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/types/gpu.h"

namespace fathom::agent {

std::string ReadGpuUuid(const KernelRoots& roots, const std::string& bus_id) {
  constexpr char kKey[] = "GPU UUID:";
  const std::string folder = absl::StrCat(roots.proc, "/driver/nvidia/gpus/");
  const auto text = ReadSmallFile(folder + absl::AsciiStrToLower(bus_id) + "/information");
  if (!text.ok()) return {};
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(*text, '\n'))) {
    if (!absl::StartsWith(line, kKey)) continue;
    std::string uuid = line.substr(sizeof(kKey) - 1);
    absl::StripAsciiWhitespace(&uuid);
    return IsGpuUuid(uuid) ? uuid : std::string();
  }
  return {};
}

}  // namespace fathom::agent
