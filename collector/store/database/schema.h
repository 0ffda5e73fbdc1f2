// The tables of the store in a SQLite file, and how an older file becomes today's.
//
// Used by SqliteDatabase. The version stands in SQLite's user_version; each step goes from one
// version to the next, in one transaction. A file of a later version is refused.
//
//   verdicts(id, job, opened_ns, updated_ns, closed_ns, active, grade, cause, superseded, message,
//            node, seen_ns, authenticated)
//     message: a fathom.v1.Verdict
//     node: its entity's, '' where it has none; NULL until Store has looked it up
//   jobs(name, ranks, world_size, nodes, started_ns, last_seen_ns, iterations, report)
//     report: fathom.v1.Report of the ended job as proto-JSON
//   runs(place, id, job, profile, message)
//     place: rises with each run that is kept for the first time
//     message: a fathom.v1.RunRecord
//   accounts(job, kept_ns, message)
//     message: a fathom.v1.KeptAccount, of jobs that run
//   learnt(job, kept_ns, message)
//     message: see learnt_record.h
//   notices(receiver, key, waits, message)
//     message: see KeptNotice
//   run_times(id, job, team, started_ns, last_seen_ns, ranks)
//   probes(place, node, message)
//     message: a fathom.v1.NodeProbe
//   recoveries(id, job, begun_ns, told_ns, message)
//     message: JSON, see recovery/told_recovery.h
//
// Thread-safety: thread-compatible. Errors: of Database; FailedPrecondition for a later version.
#ifndef FATHOM_COLLECTOR_STORE_DATABASE_SCHEMA_H_
#define FATHOM_COLLECTOR_STORE_DATABASE_SCHEMA_H_

#include <absl/status/status.h>

#include "collector/store/database/database.h"

namespace fathom::collector {

inline constexpr std::int64_t kSchemaVersion = 10;

absl::Status Migrate(Database& database);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_DATABASE_SCHEMA_H_
