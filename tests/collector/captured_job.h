// A job of four ranks on one node whose stacks are captured: what its agents tell and answer.
//
// Used by tests of captures. Rank 2 sleeps in write_metrics for as many of its 400 samples as a
// test says.
#ifndef FATHOM_TESTS_COLLECTOR_CAPTURED_JOB_H_
#define FATHOM_TESTS_COLLECTOR_CAPTURED_JOB_H_

#include <cstdint>
#include <vector>

#include "collector/agents/session_registry.h"
#include "collector/job/state/job_state.h"
#include "fathom/v1/capture.pb.h"
#include "tests/collector/messages.h"

namespace fathom::collector {

// To an agent that takes orders to capture, and none else.
struct CaptureChannel final : RowsChannel {
  bool Pass(v1::CollectorMessage message) override {
    if (!message.has_capture()) return false;
    sent.push_back(message.capture());
    return true;
  }
  std::vector<v1::CaptureRequest> sent;
};

inline constexpr std::uint32_t kCapturedRanks = 4;

inline void TellCapturedRanks(JobState& job) {
  for (std::uint32_t r = 0; r < kCapturedRanks; ++r) {
    job.Apply(RankOf(r, kCapturedRanks), "n0", 10);
    BatchShape shape;
    shape.rank = r;
    shape.count = 20;
    job.Apply(Batch(shape), "n0");
  }
}

inline v1::RankCapture CapturedStacks(std::uint32_t rank, std::uint32_t asleep) {
  v1::RankCapture capture;
  capture.set_rank(rank);
  capture.set_state("done");
  capture.set_seconds(4);
  capture.set_samples(400);
  const auto add = [&](const char* function, std::uint32_t line, std::uint32_t count) {
    auto& frame = *capture.add_frames();
    frame.set_function(function);
    frame.set_file("/job/train.py");
    frame.set_line(line);
    auto& stack = *capture.add_stacks();
    stack.add_frames(static_cast<std::uint32_t>(capture.frames_size() - 1));
    stack.set_count(count);
  };
  add("backward", 101, 400 - asleep);
  if (asleep > 0) add("write_metrics", 85, asleep);
  return capture;
}

inline v1::CaptureReply CaptureReplyOf(std::uint64_t request, const v1::RankCapture& capture) {
  v1::CaptureReply reply;
  reply.set_request_id(request);
  reply.set_job("train");
  *reply.add_ranks() = capture;
  return reply;
}

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_CAPTURED_JOB_H_
