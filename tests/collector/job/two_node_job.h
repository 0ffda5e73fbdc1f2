// A job of four ranks on two nodes, fed with the same iterations of each, for tests of what is
// ordered of its agents.
//
// Used by detail_windows_test and source_switches_test.
#ifndef FATHOM_TESTS_COLLECTOR_JOB_TWO_NODE_JOB_H_
#define FATHOM_TESTS_COLLECTOR_JOB_TWO_NODE_JOB_H_

#include <gtest/gtest.h>

#include "collector/job/state/job_state.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {

class TwoNodeJob : public testing::Test {
 protected:
  static constexpr std::uint64_t kOtherGroup = 0x77;

  TwoNodeJob() : job_("train", clock_) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) job_.Apply(RankOf(rank, 4), Node(rank), 100);
  }
  static const char* Node(std::uint32_t rank) { return rank < 2 ? "a" : "b"; }
  // Iterations 0 to 19, whose anchor's sequence moves by `step` an iteration from 1000 on.
  void Feed(std::uint32_t rank, std::uint64_t group = kWorldGroup, std::int64_t step = 5) {
    BatchShape shape;
    shape.rank = rank;
    shape.count = 20;
    shape.group = group;
    shape.step = step;
    job_.Apply(Batch(shape), Node(rank));
  }

  FakeClock clock_;
  JobState job_;
};

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_JOB_TWO_NODE_JOB_H_
