#include "daemon/agent/capture/stack_patterns.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace fathom::agent {
namespace {

using Frames = std::vector<StackFrame>;
using Counts = std::map<Frames, std::uint64_t>;
using Ranked = std::vector<std::pair<Frames, std::uint64_t>>;

constexpr std::size_t kFrameOverhead = 16;  // tags, lengths and the line of a frame
constexpr std::size_t kStackOverhead = 12;
constexpr std::size_t kPlaceBytes = 2;
constexpr std::size_t kRunBytes = 4;  // of two numbers below 16,384

// Most samples first; of as many, in the order of their frames, so that it is the same each time.
Ranked RankedOf(const Counts& counts) {
  Ranked ranked(counts.begin(), counts.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return ranked;
}

// From the innermost frame of the user's own on; all of them where there is none.
Frames OwnPart(const Frames& frames) {
  const auto own = std::find_if_not(frames.begin(), frames.end(), IsInternal);
  return own == frames.end() ? frames : Frames(own, frames.end());
}

using Patterns = google::protobuf::RepeatedPtrField<v1::StackPattern>;

// Adds to the frames of `out`, and to `patterns` of it.
class Table {
 public:
  Table(std::size_t most_bytes, v1::RankCapture& out, Patterns& patterns)
      : left_(most_bytes), out_(out), patterns_(patterns) {}

  bool Add(const Frames& frames, std::uint64_t samples) {
    std::size_t cost = kStackOverhead + kPlaceBytes * frames.size();
    for (const StackFrame& frame : frames) {
      if (!places_.contains(frame))
        cost += CostOf(frame);  // of one that recurs: twice, which is safe
    }
    if (cost > left_) return false;
    left_ -= cost;
    v1::StackPattern& pattern = *patterns_.Add();
    pattern.set_count(static_cast<std::uint32_t>(samples));
    for (const StackFrame& frame : frames) pattern.add_frames(PlaceOf(frame));
    return true;
  }

 private:
  static std::size_t CostOf(const StackFrame& frame) {
    return kFrameOverhead + frame.function.size() + frame.file.size();
  }

  std::uint32_t PlaceOf(const StackFrame& frame) {
    const auto next = static_cast<std::uint32_t>(out_.frames_size());
    const auto [at, fresh] = places_.try_emplace(frame, next);
    if (!fresh) return at->second;
    v1::CaptureFrame& told = *out_.add_frames();
    told.set_function(frame.function);
    told.set_file(frame.file);
    told.set_line(frame.line);
    told.set_internal(IsInternal(frame));
    return at->second;
  }

  std::size_t left_;
  v1::RankCapture& out_;
  Patterns& patterns_;
  std::map<StackFrame, std::uint32_t> places_;
};

bool AllFit(const Ranked& ranked, std::size_t most_bytes) {
  v1::RankCapture scratch;
  Table table(most_bytes, scratch, *scratch.mutable_stacks());
  return std::all_of(ranked.begin(), ranked.end(),
                     [&](const auto& each) { return table.Add(each.first, each.second); });
}

// All but the first `whole` told by their own part only.
Ranked Shortened(const Ranked& ranked, std::size_t whole) {
  Counts counts;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const auto& [frames, samples] = ranked[i];
    counts[i < whole ? frames : OwnPart(frames)] += samples;
  }
  return RankedOf(counts);
}

struct Reduced {
  std::uint64_t samples = 0, left_out = 0;
  std::map<Frames, std::uint32_t> places;  // in the patterns
};

Reduced Reduce(const std::vector<SampledStack>& stacks, std::size_t most_bytes,
               v1::RankCapture& out, Patterns& patterns) {
  Counts counts;
  Reduced told;
  for (const SampledStack& stack : stacks) {
    counts[stack.frames] += stack.samples;
    told.samples += stack.samples;
  }
  const Ranked all = RankedOf(counts);
  Ranked ranked = all;
  for (std::size_t whole = all.size(); whole > 0 && !AllFit(ranked, most_bytes);) {
    whole /= 2;
    ranked = Shortened(all, whole);
  }
  Table table(most_bytes, out, patterns);
  for (const auto& [frames, count] : ranked) {
    const auto next = static_cast<std::uint32_t>(patterns.size());
    if (table.Add(frames, count)) {
      told.places[frames] = next;
    } else {
      told.left_out += count;
    }
  }
  return told;
}

// The pattern that each stack became.
std::vector<std::uint32_t> PatternOf(const std::vector<SampledStack>& stacks,
                                     const Reduced& reduced) {
  const auto none = static_cast<std::uint32_t>(reduced.places.size());
  std::vector<std::uint32_t> out;
  for (const SampledStack& stack : stacks) {
    auto at = reduced.places.find(stack.frames);
    if (at == reduced.places.end()) at = reduced.places.find(OwnPart(stack.frames));
    out.push_back(at == reduced.places.end() ? none : at->second);
  }
  return out;
}

using Order = google::protobuf::RepeatedField<std::uint32_t>;

struct Run {
  std::uint32_t stack = 0, samples = 0;
};

// Of each so manyth sample.
std::vector<Run> RunsOf(const std::vector<std::uint32_t>& order, std::uint32_t step) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < order.size(); i += step) {
    if (runs.empty() || runs.back().stack != order[i]) runs.push_back({order[i], 0});
    runs.back().samples += step;
  }
  return runs;
}

// As many as there is room for.
std::vector<Run> FittingRuns(const std::vector<std::uint32_t>& order) {
  std::vector<Run> runs = RunsOf(order, 1);
  for (std::uint32_t step = 2; kRunBytes * runs.size() > kMaxOrderBytes; ++step) {
    runs = RunsOf(order, step);
  }
  return runs;
}

void TellOrder(const std::vector<Run>& runs, const std::vector<std::uint32_t>& patterns,
               Order& out) {
  for (const Run& run : runs) {
    out.Add(patterns[run.stack]);
    out.Add(run.samples);
  }
}

}  // namespace

void ReduceStacks(const SampledThread& thread, std::size_t most_bytes, v1::RankCapture& out) {
  const std::vector<Run> runs = FittingRuns(thread.order);
  const std::size_t room = most_bytes - kRunBytes * runs.size();
  const Reduced told = Reduce(thread.stacks, room, out, *out.mutable_stacks());
  out.set_samples(static_cast<std::uint32_t>(told.samples));
  out.set_left_out(static_cast<std::uint32_t>(told.left_out));
  TellOrder(runs, PatternOf(thread.stacks, told), *out.mutable_order());
}

std::uint32_t ReduceOthers(const SampledThread& others, std::size_t most_bytes,
                           v1::RankCapture& out, Patterns& patterns) {
  return static_cast<std::uint32_t>(Reduce(others.stacks, most_bytes, out, patterns).samples);
}

}  // namespace fathom::agent
