// The probes of a node, by name, and how long each takes in the fast and in the full set.
//
// Used by suite/main and tests. The fast set takes under 20 s, the full set about two minutes.
// Thread-safety: constant. Units: seconds.
#ifndef FATHOM_KERNELS_SUITE_SUITE_H_
#define FATHOM_KERNELS_SUITE_SUITE_H_

#include <functional>
#include <string>
#include <vector>

#include "kernels/measure/bounds.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

struct ProbeKind {
  std::string name;
  std::string measures;
  double fast_s = 1;
  double full_s = 10;
  std::function<ProbeResult(const Bounds&)> run;
};

const std::vector<ProbeKind>& NodeProbes();

// Null: there is none of that name.
const ProbeKind* FindProbe(const std::string& name);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_SUITE_SUITE_H_
