#include "collector/import/nccl/inspector_importer.h"

#include <utility>

#include "collector/import/nccl/inspector_reader.h"
#include "collector/import/nccl/nccl_files.h"

namespace fathom::collector::nccl {

bool InspectorImporter::Recognises(std::string_view, std::string_view head) const {
  return head.find("\"inspector_output_format_version\"") != std::string_view::npos;
}

absl::Status InspectorImporter::Read(const std::vector<std::string>& paths,
                                     const ImportLimits& limits, Recording& recording) const {
  const auto read = [](ByteSource source, std::uint64_t max_ops) {
    return ReadInspector(std::move(source), max_ops);
  };
  return ReadFiles(paths, limits, read, "NCCL_INSPECTOR_DUMP_VERBOSE=1 writes them", recording);
}

}  // namespace fathom::collector::nccl
