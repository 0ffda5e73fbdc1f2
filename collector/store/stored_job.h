// The row that the store keeps of a job that ended.
//
// Made by Collector when a job ends, read by the API. Units: wall time. Thread-safety: plain value.
#ifndef FATHOM_COLLECTOR_STORE_STORED_JOB_H_
#define FATHOM_COLLECTOR_STORE_STORED_JOB_H_

#include <cstdint>
#include <string>

#include "proto/types/time_units.h"

namespace fathom::collector {

struct StoredJob {
  std::string name;
  std::uint32_t ranks = 0, world_size = 0, nodes = 0;
  WallNs started, last_seen;
  std::int64_t iterations = 0;
  std::string report_json;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_STORED_JOB_H_
