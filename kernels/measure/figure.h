// What a probe measured: figures with their unit, and how the probe ended.
//
// Made by the probes of kernels/cpu, memory, disk and network; written by suite/result_line.
//
// Model: a figure is the median of many short slices, so that one slice that was disturbed does not
// move it, and carries the spread of those slices. `where` names the part of the node that it is
// of ("cpu3", "node1"); empty: the node as a whole. A digest is of results that must have the same
// bits on every core and on every node that computes them by the same instructions.
//
// Units: written beside each figure; base units. Thread-safety: plain values.
#ifndef FATHOM_KERNELS_MEASURE_FIGURE_H_
#define FATHOM_KERNELS_MEASURE_FIGURE_H_

#include <string>
#include <vector>

namespace fathom::kernels {

struct Figure {
  std::string name = {};
  std::string where = {};
  double value = 0;
  double spread = 0;  // scaled median absolute deviation of the slices; 0: a single reading
  std::string unit =
      {};  // "flop/s", "B/s", "s", "ratio", "1/s"; told and not judged: "B", "1", "Hz"
  bool less_is_better = false;
  unsigned slices = 0;  // that it is the median of; 0: not told
};

enum class Outcome {
  kDone,
  kFaulty,   // the hardware did wrong: a bit flipped, a file came back changed
  kSkipped,  // it cannot run here
  kStopped,  // by its stop path, before it had anything to tell
  kKilled,   // it did not end within its time
};

struct ProbeResult {
  std::string probe = {};
  Outcome outcome = Outcome::kDone;
  std::string reason = {};  // of every outcome but kDone
  std::string digest = {};  // empty: none is made
  std::vector<Figure> figures = {};
  double seconds = 0;  // it took
};

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_MEASURE_FIGURE_H_
