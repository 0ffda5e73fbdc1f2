// A capture of stacks: what the training threads of some ranks were in, for the same few seconds.
//
// Made by collector/job/orders from the agents' replies, read by diagnosis/functions. The stacks
// are patterns: each once, with how many samples showed it, over the frames of its rank.
// Thread-safety: plain values; shared as const.
#ifndef FATHOM_DIAGNOSIS_MODEL_STACK_CAPTURE_H_
#define FATHOM_DIAGNOSIS_MODEL_STACK_CAPTURE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/types/ids.h"
#include "proto/types/time_units.h"

namespace fathom::diagnosis {

struct CapturedFrame {
  std::string function;
  std::string file;  // a whole path, mostly
  std::uint32_t line = 0;
  bool internal = false;  // of Python itself, of PyTorch, of the tracer
};

struct CapturedStack {
  std::vector<std::uint32_t> frames;  // places in RankStacks::frames, innermost first
  std::uint64_t samples = 0;
};

// Samples on end that show one stack.
struct CapturedRun {
  std::uint32_t stack = 0;  // a place in the stacks, or none of them
  std::uint32_t samples = 0;
};

struct RankStacks {
  std::string refused;  // why there are none; else empty
  std::string source;   // "py-spy"
  Nanos lasted;
  std::uint64_t samples = 0;  // those left out for want of room included
  std::uint64_t left_out = 0;
  std::uint64_t raw_bytes = 0;  // before they were reduced
  std::vector<CapturedFrame> frames;
  std::vector<CapturedStack> stacks;
  std::vector<CapturedRun> order;  // in which they were seen; empty: not told
  // Of the processes that the rank started (a loader's workers), over the same frames.
  std::uint64_t worker_samples = 0;
  std::vector<CapturedStack> worker_stacks;
  // Of other threads of its process that used a core, likewise; each thread's sample is one.
  std::uint64_t beside_samples = 0;
  std::vector<CapturedStack> beside_stacks;
  double core_wait = 0;  // share of the time that the thread waited for a core; 0: or not known
  // Looks at the thread, by what it was in: "running", "sleep", "lock", "network", "file", "child".
  std::map<std::string, std::uint64_t> doing;
};

struct StackCapture {
  WallNs at;                          // when it was asked for
  std::vector<RankId> accused;        // whom it was made for; the others are there to compare with
  std::int64_t first_iteration = -1;  // all ranks began with it; -1: as their agents heard of it
  std::int64_t iterations = 0;
  Nanos iteration;      // how long one took as it was asked for; 0: not known
  bool native = false;  // frames of native code are among them
  std::map<RankId, RankStacks> ranks;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_STACK_CAPTURE_H_
