#include "daemon/agent/source/stack/stack_text.h"

#include <algorithm>
#include <cctype>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxErrorBytes = 200;

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string Clean(std::string_view text, std::size_t limit) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::string out(text.substr(0, limit));
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return std::iscntrl(c) != 0 || c >= 0x80; },
      '?');
  return out;
}

std::string_view NextLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::vector<std::string> ParseStack(std::string_view text, std::uint32_t thread_id) {
  const std::string wanted = "Thread " + std::to_string(thread_id) + " ";
  std::vector<std::string> by_id, by_name;
  std::vector<std::string>* into = nullptr;
  while (!text.empty()) {
    const std::string_view line = NextLine(text);
    if (line.starts_with("Thread ")) {
      into = line.starts_with(wanted) ? &by_id : nullptr;
      if (into == nullptr && Has(line, "\"MainThread\"") && by_name.empty()) into = &by_name;
    } else if (into != nullptr && line.starts_with("    ") && into->size() < kMaxFrames) {
      into->push_back(Clean(line, kMaxFrameBytes));
    }
  }
  return by_id.empty() ? by_name : by_id;
}

std::string CleanFrame(std::string_view frame) { return Clean(frame, kMaxFrameBytes); }

std::string FunctionOf(std::string_view frame) {
  const std::size_t colon = frame.rfind(':');
  const bool line = colon != std::string_view::npos && colon + 1 < frame.size() &&
                    std::isdigit(static_cast<unsigned char>(frame[colon + 1])) != 0;
  return line ? std::string(frame.substr(0, colon)).append(1, ')') : std::string(frame);
}

std::string LibraryFunction(const std::vector<std::string>& frames) {
  for (const std::string& frame : frames) {
    const std::size_t open = frame.rfind(" (");
    if (open == std::string::npos) continue;
    const std::string_view file = std::string_view(frame).substr(open + 2);
    if (file.starts_with("python") || file.starts_with("libpython")) return "";
    const bool c_library = file.starts_with("libc.so") || file.starts_with("ld-linux") ||
                           file.starts_with("libpthread") || file.starts_with("[");
    if (!c_library && !frame.starts_with("?")) return frame;
  }
  return "";
}

std::string ExplainStackError(std::string_view output) {
  if (Has(output, "ermission denied") || Has(output, "Permission Denied") ||
      Has(output, "not permitted")) {
    return "not permitted: run the agent as the job's user with kernel.yama.ptrace_scope 0, or "
           "give it CAP_SYS_PTRACE";
  }
  if (Has(output, "No such process") || Has(output, "No such file")) return "the process is gone";
  return Clean(output.substr(0, output.find('\n')), kMaxErrorBytes);
}

}  // namespace fathom::agent
