#include "collector/import/nccl/profiler_trace_importer.h"

#include <utility>

#include "collector/import/nccl/nccl_files.h"
#include "collector/import/nccl/profiler_trace_reader.h"

namespace fathom::collector::nccl {

bool ProfilerTraceImporter::Recognises(std::string_view, std::string_view head) const {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '[') return false;
  if (head.find("\"ph\": \"b\"") == std::string_view::npos) return false;
  for (const std::string_view category : {"GROUP_API", "GROUP", "COLL", "P2P", "PROXY"}) {
    std::string text = "\"cat\": \"";
    text.append(category).append("\"");
    if (head.find(text) != std::string_view::npos) return true;
  }
  return false;
}

absl::Status ProfilerTraceImporter::Read(const std::vector<std::string>& paths,
                                         const ImportLimits& limits, Recording& recording) const {
  const auto read = [](ByteSource source, std::uint64_t max_ops) {
    return ReadProfilerTrace(std::move(source), max_ops);
  };
  return ReadFiles(paths, limits, read,
                   "a NCCL_PROFILE_EVENT_MASK with 64 (kernel channels) times them, unless the "
                   "plugin leaves ends of channels out, as NCCL's own does since 2.28",
                   recording);
}

}  // namespace fathom::collector::nccl
