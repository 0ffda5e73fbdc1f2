#include "collector/import/kineto/trace/call_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace fathom::collector::kineto {
namespace {

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::size_t kEventBytes = 150;  // of an event beside its name, about

// The profiler cuts the folders of sys.path off, so that a file of Python's own looks like the
// user's: those that stand on the stacks of training.
constexpr std::array<std::string_view, 62> kPythonsOwn = {
    "abc",        "argparse",   "ast",
    "asyncio",    "base64",     "bisect",
    "cProfile",   "codecs",     "collections",
    "concurrent", "contextlib", "copy",
    "csv",        "ctypes",     "dataclasses",
    "datetime",   "decimal",    "email",
    "enum",       "functools",  "gc",
    "glob",       "gzip",       "hashlib",
    "heapq",      "http",       "importlib",
    "inspect",    "io",         "json",
    "logging",    "lzma",       "multiprocessing",
    "os",         "pathlib",    "pickle",
    "pkgutil",    "posixpath",  "queue",
    "random",     "re",         "runpy",
    "sched",      "selectors",  "shutil",
    "signal",     "socket",     "sqlite3",
    "ssl",        "statistics", "string",
    "subprocess", "tarfile",    "tempfile",
    "threading",  "tokenize",   "traceback",
    "typing",     "urllib",     "uuid",
    "weakref",    "zipfile"};
constexpr std::array<std::string_view, 6> kPackages = {"torch",         "torchgen",    "numpy",
                                                       "fathom_python", "fathom_site", "encodings"};

template <typename Names>
bool OneOf(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsNobodys(std::string_view file) {
  if (file.empty() || file.front() == '<') return true;
  for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
    const std::size_t at = file.rfind(packages);
    if (at != std::string_view::npos) file.remove_prefix(at + packages.size());
  }
  if (file.find("/lib/python3") != std::string_view::npos) return true;
  std::string_view first = file.substr(0, file.find('/'));
  if (OneOf(kPackages, first)) return true;
  if (first.ends_with(".py")) first.remove_suffix(3);
  return OneOf(kPythonsOwn, first);
}

// A tree of stacks: each node the frame of a call, below that of its caller.
class StackTree {
 public:
  std::uint32_t Below(std::uint32_t parent, std::uint32_t frame) {
    const auto [at, fresh] =
        places_.try_emplace({parent, frame}, static_cast<std::uint32_t>(nodes_.size()));
    if (fresh) nodes_.push_back({parent, frame, 0});
    return at->second;
  }
  void Credit(std::uint32_t node, std::int64_t ns) { nodes_[node].ns += ns; }

  std::vector<diagnosis::CapturedStack> Stacks(std::int64_t sample) const {
    std::vector<diagnosis::CapturedStack> out;
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
      const std::int64_t samples = (nodes_[i].ns + sample / 2) / sample;
      if (samples <= 0) continue;
      diagnosis::CapturedStack stack;
      stack.samples = static_cast<std::uint64_t>(samples);
      for (std::uint32_t at = i; at != 0; at = nodes_[at].parent) {
        stack.frames.push_back(nodes_[at].frame);
      }
      out.push_back(std::move(stack));
    }
    return out;
  }

 private:
  struct Node {
    std::uint32_t parent = 0, frame = 0;
    std::int64_t ns = 0;
  };
  std::vector<Node> nodes_ = {{}};  // the first is no frame
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> places_;
};

// Walks the calls of a thread by time and credits each moment to the innermost one.
class Walk {
 public:
  Walk(std::int64_t begin, std::int64_t end) : cursor_(begin), end_(end) {}

  void Enter(std::int64_t begin, std::int64_t end, std::uint32_t frame) {
    AdvanceTo(begin);
    const std::int64_t until = open_.empty() ? end : std::min(end, open_.back().end);
    if (until <= cursor_) return;
    open_.push_back({tree_.Below(open_.empty() ? 0 : open_.back().node, frame), until});
  }
  const StackTree& Finish() {
    AdvanceTo(end_);
    return tree_;
  }

 private:
  struct Open {
    std::uint32_t node = 0;
    std::int64_t end = 0;
  };
  void AdvanceTo(std::int64_t when) {
    when = std::min(when, end_);
    while (!open_.empty() && open_.back().end <= when) {
      CreditTo(open_.back().end);
      open_.pop_back();
    }
    CreditTo(when);
  }
  void CreditTo(std::int64_t when) {
    if (when <= cursor_) return;
    if (!open_.empty()) tree_.Credit(open_.back().node, when - cursor_);
    cursor_ = when;
  }

  StackTree tree_;
  std::vector<Open> open_;
  std::int64_t cursor_;
  const std::int64_t end_;
};

}  // namespace

diagnosis::CapturedFrame FrameOfName(std::string_view name) {
  diagnosis::CapturedFrame frame;
  const std::size_t close = name.rfind("): ");
  const std::size_t open = close == std::string_view::npos ? close : name.rfind('(', close);
  if (open != std::string_view::npos) {
    const std::string_view line = name.substr(open + 1, close - open - 1);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), frame.line);
    if (error == std::errc() && end == line.data() + line.size()) {
      const std::string_view file = name.substr(0, open);
      frame.internal = IsNobodys(file);
      frame.file = std::string(file.substr(file.size() - std::min(file.size(), kMaxNameBytes)));
      frame.function = std::string(name.substr(close + 3).substr(0, kMaxNameBytes));
      return frame;
    }
    frame.line = 0;
  }
  frame.internal = true;
  frame.function = std::string(name.substr(0, kMaxNameBytes));
  return frame;
}

void CallLog::Add(const TraceEvent& event, bool function) {
  raw_bytes_ += kEventBytes + event.name.size();
  if (event.duration < kShortest) return;
  if (calls_ >= kMost) {
    ++left_out_;
    return;
  }
  ++calls_;
  functions_ = functions_ || function;
  const auto [at, fresh] =
      names_.try_emplace(std::string(event.name), static_cast<std::uint32_t>(frames_.size()));
  if (fresh) frames_.push_back(FrameOfName(event.name));
  threads_[event.thread].push_back({event.begin, event.end(), at->second});
}

void CallLog::AddFunction(const TraceEvent& event) { Add(event, true); }
void CallLog::AddOp(const TraceEvent& event) { Add(event, false); }

const std::vector<CallLog::Call>& CallLog::CallsOf(std::int64_t thread) const {
  static const std::vector<Call> kNone;
  const auto at = threads_.find(thread);
  return at == threads_.end() ? kNone : at->second;
}

diagnosis::RankStacks CallLog::Take(std::int64_t thread, std::int64_t begin, std::int64_t end) {
  diagnosis::RankStacks out;
  std::vector<Call> calls = std::move(threads_[thread]);
  threads_.clear();
  names_.clear();
  if (calls.empty() || end <= begin) return out;
  std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  Walk walk(begin, end);
  for (const Call& call : calls) {
    if (call.end > begin && call.begin < end) walk.Enter(call.begin, call.end, call.name);
  }
  out.source = functions_ ? "trace" : "trace of ops";
  out.lasted = Nanos(end - begin);
  out.samples = static_cast<std::uint64_t>((end - begin) / kSample);
  out.left_out = left_out_;
  out.raw_bytes = raw_bytes_;
  out.stacks = walk.Finish().Stacks(kSample);
  out.frames = std::move(frames_);
  // Where functions tell nothing, ops are all that there is.
  for (auto& frame : out.frames) frame.internal = functions_ && frame.internal;
  return out;
}

}  // namespace fathom::collector::kineto
