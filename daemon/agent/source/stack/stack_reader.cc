#include "daemon/agent/source/stack/stack_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/agent/source/stack/inside_stack.h"
#include "daemon/agent/source/stack/native_stack.h"
#include "daemon/agent/source/stack/ptrace_permission.h"
#include "daemon/agent/source/stack/stack_text.h"
#include "daemon/agent/source/stack/stack_tool.h"

namespace fathom::agent {

absl::StatusOr<StackReading> StackReader::ReadPython(std::uint32_t pid,
                                                     const std::atomic<bool>& stop) {
  if (!missing_) {
    const absl::StatusOr<std::string> text = DumpPythonStack(program_, pid, stop);
    if (text.ok()) {
      StackReading out{ParseStack(*text, pid), "py-spy", {}};
      if (out.frames.empty()) return absl::InternalError("py-spy saw no Python frame");
      return out;
    }
    missing_ = absl::IsNotFound(text.status());
    if (!missing_) {
      return absl::InternalError(ExplainStackError(std::string(text.status().message())));
    }
  }
  return absl::NotFoundError("py-spy is not on the agent's PATH (--stack-tool)");
}

absl::StatusOr<StackReading> StackReader::Read(std::uint32_t pid, const std::atomic<bool>& stop) {
  absl::StatusOr<StackReading> python = ReadPython(pid, stop);
  if (python.ok() || stop.load()) return python;
  absl::StatusOr<StackReading> inside = AskInside(folder_, pid, stop);
  if (inside.ok() || stop.load()) return inside;
  absl::StatusOr<StackReading> native = ReadNativeStack(pid, pid);
  if (absl::IsPermissionDenied(native.status())) {
    return absl::PermissionDeniedError(absl::StrCat(ExplainRefusal(KernelRoots(), pid),
                                                    "; from inside: ", inside.status().message()));
  }
  if (native.ok() || absl::IsNotFound(native.status())) return native;
  return absl::InternalError(
      absl::StrCat(python.status().message(), "; natively: ", native.status().message()));
}

}  // namespace fathom::agent
