#include "daemon/agent/source/stack/stack_tool.h"

#include "daemon/agent/source/stack/tool_process.h"

namespace fathom::agent {

absl::StatusOr<std::string> DumpPythonStack(const std::string& program, std::uint32_t pid,
                                            const std::atomic<bool>& stop) {
  return RunTool({{program, "dump", "--nonblocking", "--pid", std::to_string(pid)}}, stop);
}

}  // namespace fathom::agent
