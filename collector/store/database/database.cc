#include "collector/store/database/database.h"

#include "collector/store/database/postgres_database.h"
#include "collector/store/database/sqlite_database.h"

namespace fathom::collector {

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& place) {
  return IsShared(place) ? PostgresDatabase::Open(place) : SqliteDatabase::Open(place);
}

}  // namespace fathom::collector
