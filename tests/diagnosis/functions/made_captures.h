// Captures of stacks as a person would sketch them: of four ranks that train alike, one of which
// does something besides.
//
// Used by the tests of functions/compare, loader_workers and beside_threads. Rank 2 is the culprit,
// 0, 1 and 3 its peers. Thread-safety: pure functions.
#ifndef FATHOM_TESTS_DIAGNOSIS_FUNCTIONS_MADE_CAPTURES_H_
#define FATHOM_TESTS_DIAGNOSIS_FUNCTIONS_MADE_CAPTURES_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/model/stack_capture.h"

namespace fathom::diagnosis {

// A frame as "function file:line"; of PyTorch where the file says so.
inline CapturedFrame FrameOf(const std::string& text) {
  const auto space = text.find(' '), colon = text.rfind(':');
  CapturedFrame frame{text.substr(0, space), text.substr(space + 1, colon - space - 1),
                      static_cast<std::uint32_t>(std::stoul(text.substr(colon + 1))), false};
  frame.internal = frame.file.find("/torch/") != std::string::npos;
  return frame;
}

struct Stack {
  std::vector<std::string> frames;  // innermost first
  std::uint64_t samples = 0;
};

// Of so many iterations, in each of which all stacks are seen for their part.
inline std::vector<CapturedRun> OrderOf(const std::vector<CapturedStack>& stacks,
                                        std::uint64_t iterations = 40) {
  std::vector<CapturedRun> order;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    for (std::uint32_t k = 0; k < stacks.size(); ++k) {
      const std::uint64_t samples = stacks[k].samples;
      const std::uint64_t now = samples * (i + 1) / iterations - samples * i / iterations;
      if (now > 0) order.push_back({k, static_cast<std::uint32_t>(now)});
    }
  }
  return order;
}

inline RankStacks RankOf(const std::vector<Stack>& stacks,
                         std::map<std::string, std::uint64_t> doing = {}) {
  RankStacks rank;
  rank.source = "py-spy";
  rank.lasted = Nanos(4'000'000'000);
  rank.doing = std::move(doing);
  for (const Stack& stack : stacks) {
    CapturedStack told;
    told.samples = stack.samples;
    rank.samples += stack.samples;
    for (const std::string& frame : stack.frames) {
      told.frames.push_back(static_cast<std::uint32_t>(rank.frames.size()));
      rank.frames.push_back(FrameOf(frame));
    }
    rank.stacks.push_back(std::move(told));
  }
  rank.order = OrderOf(rank.stacks);
  return rank;
}

inline const std::string kMain = "main /job/train.py:120";
inline const std::string kForward = "train /job/train.py:99";
inline const std::string kBackward = "train /job/train.py:101";
inline const std::string kReduce = "train /job/train.py:108";
inline const std::string kModule = "_call_impl /v/torch/nn/modules/module.py:1";
inline const std::string kEngine = "_engine_run_backward /v/torch/autograd/graph.py:2";
inline const std::string kInAllReduce = "all_reduce /v/torch/distributed/distributed_c10d.py:3";

// 400 samples: forward, backward, waiting in a collective, and what is additional.
inline RankStacks Rank(std::uint64_t forward, std::uint64_t backward,
                       const std::vector<Stack>& more = {},
                       std::map<std::string, std::uint64_t> doing = {}) {
  std::vector<Stack> stacks = {{{kModule, kForward, kMain}, forward},
                               {{kEngine, kBackward, kMain}, backward}};
  std::uint64_t used = forward + backward;
  for (const Stack& each : more) {
    stacks.push_back(each);
    used += each.samples;
  }
  stacks.push_back({{kInAllReduce, kReduce, kMain}, 400 - std::min<std::uint64_t>(used, 400)});
  return RankOf(stacks, std::move(doing));
}

inline StackCapture Captured(RankStacks culprit, int peers = 3) {
  StackCapture capture;
  capture.accused = {RankId(2)};
  capture.ranks[RankId(2)] = std::move(culprit);
  const std::uint32_t numbers[] = {0, 1, 3};
  for (int i = 0; i < peers; ++i) {
    capture.ranks[RankId(numbers[i])] =
        Rank(60 + static_cast<std::uint64_t>(i), 120, {}, {{"lock", 60}, {"running", 40}});
  }
  return capture;
}

inline const std::vector<RankId> kPeers = {RankId(0), RankId(1), RankId(3)};

}  // namespace fathom::diagnosis

#endif  // FATHOM_TESTS_DIAGNOSIS_FUNCTIONS_MADE_CAPTURES_H_
