// What a collector needs for a job or a cluster of a given size: `fathom doctor --size`.
//
// Used by collector/cli/command/doctor_command. docs/operations/sizing.md explains each figure and
// has the measurements that the constants come from.
//
// Model: products of the workload with what one rank, summary, op and look were measured to cost; a
// core is one of the machine they were measured on. Units: bytes, seconds, cores. Thread-safety:
// pure functions. Errors: InvalidArgument that names the key and what would do.
#ifndef FATHOM_COLLECTOR_CLI_DOCTOR_SIZING_H_
#define FATHOM_COLLECTOR_CLI_DOCTOR_SIZING_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

struct Workload {
  double ranks = 0;
  double per_node = 8;     // ranks of a node
  double iteration_s = 1;  // of an iteration
  double groups = 4;       // communicators of a rank
  double ops = 0;          // of a rank in an iteration; 0: ops are not kept
  double days = 7;         // that they are kept
};

// "ranks=8192,ops=400,iteration=2.5,groups=6,node=8,days=14", in any order; ranks must be there.
absl::StatusOr<Workload> ReadWorkload(std::string_view text);

struct Sizing {
  double agents = 0;
  double summary_bytes_s = 0;  // on the wire, of the whole job, health included
  double ops_s = 0;
  double ops_bytes_s = 0;
  double disk_bytes = 0;    // of the store of ops, for all days
  double memory_bytes = 0;  // of the collector
  double ingest_cores = 0;  // of the collector
  double look_s = 0;        // CPU of one look
  double agent_cores = 0;   // of one agent, beyond what it uses anyway
  double collectors = 1;    // that share the ranks, so that none is beyond what was measured
};

Sizing SizeOf(const Workload& workload);

std::string SizingText(const Workload& workload, const Sizing& sizing);
Json SizingJson(const Workload& workload, const Sizing& sizing);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_DOCTOR_SIZING_H_
