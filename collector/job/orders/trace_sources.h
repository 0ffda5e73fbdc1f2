// The sources of the tracer by name, as the API, the command line and metrics write them.
//
// Used by job_json, trace_json and JobState's figures, which the exporter shows. The bits are
// abi::SourceBit, told by agents. Thread-safety: constants. Errors: none.
#ifndef FATHOM_COLLECTOR_JOB_ORDERS_TRACE_SOURCES_H_
#define FATHOM_COLLECTOR_JOB_ORDERS_TRACE_SOURCES_H_

#include <cstdint>
#include <string_view>

#include "collector/job/ranks/rank_state.h"

namespace fathom::collector {

struct TraceSource {
  const char* name;
  std::uint32_t bit;
  bool switchable;  // while a job runs; of the others design/0011 tells why not
};

inline constexpr TraceSource kTraceSources[] = {{"gloo", kGloo, false},
                                                {"nccl", kNccl, false},
                                                {"nccl_plugin", kNcclPlugin, true},
                                                {"cuda", kCuda, true},
                                                {"gpu_window", kCupti, true},
                                                {"python", kPython, true},
                                                {"nccl_transfers", kNcclTransfers, true},
                                                {"products", kProducts, true}};

// Null where there is none of that name.
constexpr const TraceSource* TraceSourceNamed(std::string_view name) {
  for (const TraceSource& source : kTraceSources) {
    if (source.name == name) return &source;
  }
  return nullptr;
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_ORDERS_TRACE_SOURCES_H_
