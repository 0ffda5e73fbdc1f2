// Runs one probe in a process of its own, which is killed when it does not end.
//
// Used by suite/main. Model: the child runs the probe and writes its result line into a pipe; the
// caller waits until the line is whole, the patience is over, or it is stopped. A child that cannot
// even be killed (a device holds it in an uninterruptible wait) is left behind after a second, and
// said to be so; the next probe runs all the same.
//
// Requires: the caller has one thread. Units: seconds. Errors: go into the line: "killed" with how
// far it came, also where the probe crashed.
// Cost: a fork; the child dies with the caller.
#ifndef FATHOM_KERNELS_SUITE_CHILD_RUN_H_
#define FATHOM_KERNELS_SUITE_CHILD_RUN_H_

#include <atomic>
#include <functional>
#include <string>

#include "kernels/measure/figure.h"

namespace fathom::kernels {

struct ChildEnd {
  Outcome outcome = Outcome::kKilled;
  std::string line;  // as suite/result_line writes it
};

ChildEnd RunInChild(const std::string& name, const std::function<ProbeResult()>& probe,
                    double patience_s, const std::atomic<bool>& stop);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_SUITE_CHILD_RUN_H_
