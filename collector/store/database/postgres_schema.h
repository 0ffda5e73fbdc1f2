// The tables of the store on PostgreSQL, and how those of an earlier version become today's.
//
// Used by PostgresDatabase. The columns are those of schema.h; beside them:
//
//   fathom.version(number)       of these tables
//   fathom.fences(job, token)    the newest lease of each job (bus/leases.h): whoever writes with
//                                an older one is refused
//
// Collectors that start at once wait for one another. Tables of a later version are refused.
// Thread-safety: thread-compatible. Errors: of Database; FailedPrecondition for a later version.
#ifndef FATHOM_COLLECTOR_STORE_DATABASE_POSTGRES_SCHEMA_H_
#define FATHOM_COLLECTOR_STORE_DATABASE_POSTGRES_SCHEMA_H_

#include <absl/status/status.h>

#include "collector/store/database/database.h"

namespace fathom::collector {

inline constexpr std::int64_t kPostgresVersion = 2;

absl::Status MigratePostgres(Database& database);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_DATABASE_POSTGRES_SCHEMA_H_
