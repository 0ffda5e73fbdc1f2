// Draws captures of jobs whose samples hang together, as those of real ones do.
//
// Used by chance_test. Model: ranks compute forward and backward; within backward each waits for
// the others, where no stack tells it from computing, and after it inside a collective, where the
// stack tells. What a phase takes is spread about its usual time; now and then it stalls, by a time
// with a heavy tail; while others use the cores, which comes and goes, all takes longer on a rank.
// The tool looks 100 times a second, and is at times kept from it: then it looks as often as it
// should have done, all at one moment.
//
// Units: seconds. Thread-safety: plain values; the same seed draws the same capture.
#ifndef FATHOM_TESTS_DIAGNOSIS_FUNCTIONS_DRAWN_CAPTURES_H_
#define FATHOM_TESTS_DIAGNOSIS_FUNCTIONS_DRAWN_CAPTURES_H_

#include <cstdint>
#include <string>

#include "diagnosis/model/stack_capture.h"

namespace fathom::diagnosis {

struct DrawnJob {
  std::string name;
  std::uint32_t ranks = 4;
  double iteration = 0.05;  // without waiting
  double lasts = 4;
  double spread = 0.1;        // of a phase, relative
  double stalls = 0;          // of phases, part
  double stall = 0.05;        // the shortest
  double tail = 1.5;          // of stalls: the smaller, the heavier
  double crowded = 0;         // part of the time in which others use a rank's cores
  double crowd = 0.3;         // how long on end, mean
  double slower = 3;          // by so much is then all that it does
  std::uint32_t unlucky = 0;  // so many ranks are crowded three times as often
  double blind = 0;           // part of the looks after which the tool stands still, 0.1 s in mean
  bool tells_core_wait = true;  // what of this is waiting for a core
  // What rank 0 does more, of an iteration: in a function of its own, or in forward as all do.
  double fault = 0;
  bool own_function = true;
};

StackCapture Draw(const DrawnJob& job, std::uint32_t seed);

}  // namespace fathom::diagnosis

#endif  // FATHOM_TESTS_DIAGNOSIS_FUNCTIONS_DRAWN_CAPTURES_H_
