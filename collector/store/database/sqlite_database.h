// A thin, owning cover over SQLite's C API: one file, or memory.
//
// Made by Database::Open. WAL with synchronous=NORMAL. Thread-safety: thread-compatible. Errors: as
// database.h, with the file. Cost: SQLite's.
#ifndef FATHOM_COLLECTOR_STORE_DATABASE_SQLITE_DATABASE_H_
#define FATHOM_COLLECTOR_STORE_DATABASE_SQLITE_DATABASE_H_

#include <memory>
#include <string>

#include "collector/store/database/database.h"

struct sqlite3;

namespace fathom::collector {

class SqliteDatabase final : public Database {
 public:
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& file);

  absl::Status Migrate() override;
  absl::Status Execute(const std::string& sql) override;
  Statement Prepare(const std::string& sql) override;
  absl::Status Check() override { return absl::OkStatus(); }

 private:
  absl::Status Begin() override { return Execute("BEGIN IMMEDIATE"); }
  struct Close {
    void operator()(sqlite3* db) const;
  };
  SqliteDatabase(sqlite3* db, const std::string& file) : Database(file), db_(db) {}
  absl::Status CheckSound();

  std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_DATABASE_SQLITE_DATABASE_H_
