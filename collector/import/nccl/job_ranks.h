// Which rank of the job each process is: NCCL's formats number ranks within a communicator only.
//
// Used by JobBuilder.
//
// Model: the communicator with the most members gives the ranks, if every process is in it; of
// several, that with the most ops, then the first by name. A process is a host and a pid. The
// example profiler tells no host, so a pid may stand for several processes: what such a pid wrote
// of other communicators cannot be laid to one of them and is left out.
//
// Thread-safety: pure. Errors: InvalidArgument where no communicator holds all processes: then
// which rank a process is cannot be told, and to guess would accuse the wrong one.
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_JOB_RANKS_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_JOB_RANKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/import/nccl/op_record.h"

namespace fathom::collector::nccl {

struct RankedPart {
  std::uint32_t rank = 0;  // of the job
  CommPart part;
};

struct JobRanks {
  std::string world;  // the communicator that gave the ranks
  std::uint32_t size = 0;
  std::vector<RankedPart> parts;  // by rank, the world's first
  std::vector<std::string> notes;
};

absl::StatusOr<JobRanks> RankParts(std::vector<CommPart> parts);

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_JOB_RANKS_H_
