// What the environment asks of the tracer: FATHOM_* read once into a checked value.
//
// Read by activation.cc when the process makes its first group, and by interpose/cuda at the first
// CUDA look-up. The table of variables is in docs/tracer/README.md.
//
// Model: a bad value turns its own feature off, or back to the default, and is counted in
// `bad_settings` (later DropReason::kBadSetting); it never ends or alters the host.
// Thread-safety: ReadSettings reads the environment, so it must not run beside setenv; values.
// Ownership: `shm_dir` points into the environment and is only valid during activation.
// Cost: cold path; no heap.
#ifndef FATHOM_DAEMON_TRACER_CORE_HOST_SETTINGS_H_
#define FATHOM_DAEMON_TRACER_CORE_HOST_SETTINGS_H_

#include <cstdint>

#include "daemon/abi/ring_layout.h"

namespace fathom::tracer {

using EnvLookup = const char* (*)(const char* name);  // null when not set, like getenv

struct Settings {
  bool disabled = false;          // FATHOM_DISABLE: anything but "" and "0"
  const char* shm_dir = nullptr;  // FATHOM_SHM_DIR; null: bad, so no region
  std::uint32_t records = abi::kDefaultRecords;
  // SourceBit that may be on.
  std::uint32_t sources = abi::kSourceGloo | abi::kSourcePython | abi::kSourceCuda |
                          abi::kSourceCupti | abi::kSourceNccl | abi::kSourceNcclPlugin |
                          abi::kSourceNcclTransfers |
                          abi::kSourceProducts;  // FATHOM_TRACE, FATHOM_NCCL_TRANSFERS
  char job[abi::kNameBytes] = {};                // FATHOM_JOB; empty: not given
  std::uint32_t bad_settings = 0;
};

// Requires: env is not null.
Settings ReadSettings(EnvLookup env);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_HOST_SETTINGS_H_
