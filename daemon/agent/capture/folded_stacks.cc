#include "daemon/agent/capture/folded_stacks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "daemon/agent/source/stack/stack_text.h"

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::uint32_t kMaxLine = 10'000'000;

// The whole of `text` is a number.
template <typename Number>
bool Parse(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// What comes before the next `mark`; removed from `text` with the mark.
std::string_view NextPart(std::string_view& text, char mark) {
  const std::size_t end = text.find(mark);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

// The end of a path says more than its beginning.
std::string Shortened(std::string_view text) {
  if (text.size() > kMaxNameBytes) text.remove_prefix(text.size() - kMaxNameBytes);
  return CleanFrame(text);
}

// A comprehension is part of the function that it stands in, as Python 3.12 has it.
std::string_view WithoutComprehension(std::string_view name) {
  constexpr std::string_view kInside = ".<locals>.<";
  while (true) {
    const std::size_t at = name.rfind(kInside);
    if (at == std::string_view::npos) return name;
    const std::string_view kind = name.substr(at + kInside.size());
    if (kind != "listcomp>" && kind != "dictcomp>" && kind != "setcomp>" && kind != "genexpr>") {
      return name;
    }
    name = name.substr(0, at);
  }
}

// "function (file:line)"; what has no such end is a function without a place.
StackFrame FrameOf(std::string_view text) {
  const std::size_t open = text.rfind(" (");
  if (open == std::string_view::npos || !text.ends_with(')')) return {CleanFrame(text), "", 0};
  StackFrame frame{CleanFrame(WithoutComprehension(text.substr(0, open))), "", 0};
  std::string_view place = text.substr(open + 2, text.size() - open - 3);
  const std::size_t colon = place.rfind(':');
  if (colon != std::string_view::npos && Parse(place.substr(colon + 1), frame.line)) {
    place = place.substr(0, colon);
  }
  frame.line = std::min(frame.line, kMaxLine);
  frame.file = Shortened(place);
  return frame;
}

struct Line {
  bool child = false;       // of a process that the one that is looked at started
  std::string_view thread;  // "thread (14494): MainThread"
  std::string_view frames;
  std::uint64_t samples = 0;
};

// Without the processes before the thread.
std::string_view AfterProcesses(std::string_view text, bool& child) {
  if (!text.starts_with("process ")) return text;
  const std::size_t end = text.find("\";thread (");
  if (end == std::string_view::npos) return text;
  child = text.substr(0, end).find("\";process ") != std::string_view::npos;
  return text.substr(end + 2);
}

bool Split(std::string_view text, Line& line) {
  text = AfterProcesses(text, line.child);
  const std::size_t space = text.rfind(' ');
  const std::size_t first = text.find(';');
  if (space == std::string_view::npos || first == std::string_view::npos || first > space) {
    return false;
  }
  line.thread = text.substr(0, first);
  line.frames = text.substr(first + 1, space - first - 1);
  return line.thread.starts_with("thread (") && Parse(text.substr(space + 1), line.samples);
}

FoldedStack StackOf(const Line& line) {
  FoldedStack stack;
  stack.samples = line.samples;
  std::string_view left = line.frames;
  while (!left.empty()) stack.frames.push_back(FrameOf(NextPart(left, ';')));
  std::reverse(stack.frames.begin(), stack.frames.end());
  stack.frames.resize(std::min(stack.frames.size(), kMaxFoldedFrames));
  return stack;
}

FoldedStack WithoutParent(FoldedStack stack) {
  const auto begin =
      std::find_if(stack.frames.begin(), stack.frames.end(), [](const StackFrame& frame) {
        return frame.function.ends_with("_bootstrap") &&
               frame.file.ends_with("multiprocessing/process.py");
      });
  stack.frames.erase(begin, stack.frames.end());
  return stack;
}

bool Under(std::string_view file, std::string_view folder) {
  return file.find(folder) != std::string_view::npos;
}

// Native code that came with the machine or with the interpreter.
bool OfTheMachine(const StackFrame& frame) {
  const std::string_view file = frame.file;
  const bool library = file.ends_with(".so") || Under(file, ".so.");
  const std::size_t name = file.rfind('/') + 1;
  if (library) return file.starts_with("/usr/") || file.starts_with("/lib");
  return file.substr(name).starts_with("python") && !file.ends_with(".py");
}

}  // namespace

FoldedThreads ParseFolded(std::string_view text, std::uint32_t thread) {
  const std::string wanted = "thread (" + std::to_string(thread) + ")";
  FoldedThreads out;
  std::vector<FoldedStack> by_name;
  while (!text.empty()) {
    Line line;
    if (!Split(NextPart(text, '\n'), line)) continue;
    const bool main = line.thread.ends_with(": MainThread");
    if (line.child) {
      if (main) out.workers.push_back(WithoutParent(StackOf(line)));
    } else if (line.thread.starts_with(wanted)) {
      out.training.push_back(StackOf(line));
    } else if (main) {
      by_name.push_back(StackOf(line));
    }
  }
  if (out.training.empty()) out.training = std::move(by_name);
  return out;
}

bool IsInternal(const StackFrame& frame) {
  constexpr std::array<std::string_view, 5> kPackages = {"torch", "torchgen", "numpy",
                                                         "fathom_python", "fathom_site"};
  const std::string_view file = frame.file;
  if (file.empty() || file.starts_with('<') || OfTheMachine(frame)) return true;
  if (frame.function.starts_with("0x")) return true;  // a place without a name
  for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
    const std::size_t at = file.rfind(packages);
    if (at == std::string_view::npos) continue;
    const std::string_view inside = file.substr(at + packages.size());
    const std::string_view package = inside.substr(0, inside.find('/'));
    return std::find(kPackages.begin(), kPackages.end(), package) != kPackages.end();
  }
  return Under(file, "/lib/python3") || Under(file, "/fathom_site/") ||
         Under(file, "/fathom_python/");
}

}  // namespace fathom::agent
