// A simulated job with streams: some iterations of a scenario, as the profilers of all ranks would
// record them.
//
// Used by kineto/trace_files. Model: the programs, wires and faults are those of simulate/play;
// here they are played with a host that runs ahead and a stream for each use of a communicator, so
// that what a program launches (gradients layer by layer, in buckets; parameters of FSDP a layer
// ahead) overlaps the computing. Parameters that were launched are waited for where the program
// says so, gradients behind the last backward pass. An iteration begins with its batch and ends
// with the loss read by the host. A process or host that is slow takes `factor` times as long to
// launch a kernel as the kernel takes, so that its device idles for the rest.
//
// Units: µs of one true clock. Thread-safety: thread-compatible. Errors: false where the job comes
// to a standstill, which is an error of the program. Cost: some 100 ns an event.
#ifndef FATHOM_COLLECTOR_SIMULATE_KINETO_JOB_PLAY_H_
#define FATHOM_COLLECTOR_SIMULATE_KINETO_JOB_PLAY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "collector/simulate/kineto/rank_play.h"
#include "collector/simulate/play/layout.h"
#include "collector/simulate/play/program.h"
#include "collector/simulate/play/slowness.h"
#include "collector/simulate/play/wires.h"
#include "collector/simulate/scenario/scenario.h"

namespace fathom::simulate::kineto {

class JobPlay {
 public:
  // The scenario must outlive it. Requires: Finalize(scenario) is ok, and it has no hang.
  explicit JobPlay(const Scenario& scenario);

  bool Play(std::int64_t first, std::int64_t iterations);

  const Layout& layout() const { return layout_; }
  const RankPlay& rank(std::uint32_t rank) const { return ranks_[rank]; }
  // When the last rank has ended.
  double end_us() const;

 private:
  // Of an op in the iteration at hand: dimension, group (of a message: the rank that gets it),
  // place.
  using OpKey = std::tuple<std::uint8_t, std::uint32_t, std::uint32_t>;
  struct Progress {
    std::size_t step = 0;
    bool launched = false;      // the step's op, which is waited for
    double begin_us = 0;        // of the iteration
    std::vector<Op*> gathered;  // launched, and not waited for yet
    std::vector<Op*> reduced;
    std::uint64_t pieces = 0;  // of computing
  };

  bool PlayIteration(std::int64_t iteration);
  void Begin(std::uint32_t rank);
  // Whether something was done.
  bool GoOn(std::uint32_t rank);
  bool Do(std::uint32_t rank, const Step& step);
  void Compute(std::uint32_t rank, const Step& step);
  bool Collective(std::uint32_t rank, const Step& step);
  bool Message(std::uint32_t rank, const Step& step);
  bool WaitForLaunched(std::uint32_t rank, bool all);
  bool End(std::uint32_t rank);
  Op& OpAt(const OpKey& key);
  double LoadOf(std::uint32_t rank, const Step& step, std::uint64_t key) const;
  const Program& ProgramOf(std::uint32_t rank) const { return programs_[layout_.StageOf(rank)]; }

  const Scenario& scenario_;
  const Layout layout_;
  const std::vector<Program> programs_;
  Wires wires_;
  Slowness slowness_;
  const LogNormal kernels_, transfers_, hosts_;
  std::int64_t iteration_ = 0;
  std::uint64_t key_ = 0;  // of random numbers of the iteration
  std::vector<RankPlay> ranks_;
  std::vector<Progress> progress_;
  std::map<OpKey, Op*> open_;  // of the iteration at hand
  std::vector<std::unique_ptr<Op>> ops_;
};

}  // namespace fathom::simulate::kineto

#endif  // FATHOM_COLLECTOR_SIMULATE_KINETO_JOB_PLAY_H_
