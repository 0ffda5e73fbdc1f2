#include "collector/store/database/database.h"

#include "collector/store/database/postgres_database.h"
#include "collector/store/database/sqlite_database.h"

namespace fathom::collector {

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& place) {
  return IsShared(place) ? PostgresDatabase::Open(place) : SqliteDatabase::Open(place);
}

absl::Status Database::Transact(const std::function<absl::Status()>& write) {
  absl::Status status = Begin();
  if (status.ok()) status = write();
  if (status.ok()) status = Execute("COMMIT");
  if (!status.ok()) Execute("ROLLBACK").IgnoreError();
  return status;
}

}  // namespace fathom::collector
