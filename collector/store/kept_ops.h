// What a collector of several keeps of a job's ops, as it told the history.
//
// Written by serve/kept_ops_teller, read by api/ops/kept_ops_answer for what a collector that does
// not answer has. Units: wall ns of that collector. Thread-safety: plain value.
#ifndef FATHOM_COLLECTOR_STORE_KEPT_OPS_H_
#define FATHOM_COLLECTOR_STORE_KEPT_OPS_H_

#include <string>

#include "proto/types/time_units.h"

namespace fathom::collector {

struct KeptOps {
  std::string collector, job;
  WallNs from, to;
  std::string ranks;  // "0-3,7"
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_KEPT_OPS_H_
