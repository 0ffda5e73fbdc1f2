#include "daemon/agent/capture/sampled_stacks.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "daemon/agent/capture/speedscope_text.h"
#include "daemon/agent/source/stack/stack_text.h"

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::uint32_t kMaxLine = 10'000'000;

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

StackFrame CleanedFrame(const SpeedscopeFrame& told) {
  return {CleanFrame(WithoutComprehension(told.name)), Shortened(told.file),
          std::min(told.line, kMaxLine)};
}

// A sample, taken apart.
struct Parts {
  bool child = false;       // of a process that the one that is looked at started
  std::string_view thread;  // "thread (14494): MainThread"; empty: none is named
  std::size_t begin = 0;    // of its frames
};

Parts PartsOf(const SpeedscopeSample& sample, const std::vector<SpeedscopeFrame>& frames) {
  Parts parts;
  for (; parts.begin < sample.size(); ++parts.begin) {
    const SpeedscopeFrame& frame = frames[sample[parts.begin]];
    if (frame.name.starts_with("thread (") && frame.file.empty()) {
      parts.thread = frame.name;
      ++parts.begin;
      return parts;
    }
    if (!frame.name.starts_with("process ")) return parts;
    parts.child = parts.begin > 0;
  }
  return parts;
}

std::string NameOf(std::uint32_t thread) { return "thread (" + std::to_string(thread) + ")"; }

SampledStack StackOf(const SpeedscopeSample& sample, std::size_t begin,
                     const std::vector<SpeedscopeFrame>& frames) {
  SampledStack stack;
  for (std::size_t i = sample.size(); i > begin; --i) {
    if (stack.frames.size() == kMaxStackFrames) break;
    stack.frames.push_back(CleanedFrame(frames[sample[i - 1]]));
  }
  return stack;
}

SampledStack WithoutParent(SampledStack stack) {
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

// Adds samples to a thread, each distinct one as a stack once.
class Collected {
 public:
  Collected(const std::vector<SpeedscopeFrame>& frames, SampledThread& out)
      : frames_(frames), out_(out) {}

  void Add(const SpeedscopeSample& sample, const Parts& parts) {
    const auto next = static_cast<std::uint32_t>(out_.stacks.size());
    const auto [at, fresh] = places_.try_emplace(sample, next);
    if (fresh) {
      SampledStack stack = StackOf(sample, parts.begin, frames_);
      out_.stacks.push_back(parts.child ? WithoutParent(std::move(stack)) : std::move(stack));
    }
    ++out_.stacks[at->second].samples;
    out_.order.push_back(at->second);
  }

 private:
  const std::vector<SpeedscopeFrame>& frames_;
  SampledThread& out_;
  std::map<SpeedscopeSample, std::uint32_t> places_;
};

}  // namespace

std::optional<SampledThreads> ParseSampled(std::string_view text, std::uint32_t thread,
                                           const std::set<std::uint32_t>& beside) {
  const std::optional<SpeedscopeText> told = ReadSpeedscope(text);
  if (!told) return std::nullopt;
  const std::string wanted = NameOf(thread);
  std::vector<std::string> others;
  for (const std::uint32_t each : beside) others.push_back(NameOf(each));
  const auto is_beside = [&others](std::string_view name) {
    return std::any_of(others.begin(), others.end(),
                       [name](const std::string& each) { return name.starts_with(each); });
  };
  SampledThreads out;
  SampledThread main;
  Collected training(told->frames, out.training), workers(told->frames, out.workers),
      beside_it(told->frames, out.beside), by_name(told->frames, main);
  for (const auto& samples : told->threads) {
    for (const SpeedscopeSample& sample : samples) {
      const Parts parts = PartsOf(sample, told->frames);
      const bool named = parts.thread.ends_with(": MainThread");
      if (parts.child) {
        if (named) workers.Add(sample, parts);
      } else if (parts.thread.starts_with(wanted)) {
        training.Add(sample, parts);
      } else if (is_beside(parts.thread)) {
        beside_it.Add(sample, parts);
      } else if (named) {
        by_name.Add(sample, parts);
      }
    }
  }
  if (out.training.stacks.empty()) out.training = std::move(main);
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
