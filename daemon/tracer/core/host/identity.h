// Who this process is in its job, from the variables its launcher set.
//
// Read by activation.cc when the process makes its first group; goes into RegionHeader.
//
// Model: the first launcher that tells a rank wins: torchrun (RANK), Slurm (SLURM_PROCID), MPI
// (OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK). A number that does not parse is as if not set. Where
// nothing tells, rank and local_rank are kNoPeer and world_size 0: the agent then takes the rank
// inside the default group.
// Thread-safety: must not run beside setenv; values. Cost: cold path; no heap.
#ifndef FATHOM_DAEMON_TRACER_CORE_HOST_IDENTITY_H_
#define FATHOM_DAEMON_TRACER_CORE_HOST_IDENTITY_H_

#include <cstdint>

#include "daemon/abi/ring_layout.h"
#include "daemon/tracer/core/host/settings.h"

namespace fathom::tracer {

struct Identity {
  std::uint32_t rank = abi::kNoPeer;
  std::uint32_t world_size = 0;
  std::uint32_t local_rank = abi::kNoPeer;
  std::uint32_t restart_count = 0;
  abi::IdentitySource source = abi::IdentitySource::kNone;
  char run_id[abi::kNameBytes] = {};
  char job[abi::kNameBytes] = {};  // made from the launcher's variables; "job" when none tells
};

// Requires: env is not null.
Identity ReadIdentity(EnvLookup env);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_HOST_IDENTITY_H_
