#include "collector/store/database/sqlite_database.h"

#include <absl/strings/str_cat.h>
#include <sqlite3.h>

#include <utility>

#include "collector/store/database/schema.h"

namespace fathom::collector {
namespace {

absl::Status Failure(const std::string& file, const std::string& what) {
  return absl::UnavailableError(absl::StrCat(file, ": ", what));
}

class SqlitePrepared final : public Prepared {
 public:
  SqlitePrepared(sqlite3* db, sqlite3_stmt* statement, const std::string& file)
      : db_(db), statement_(statement), file_(file) {}

  absl::Status Bind(int index, std::int64_t value) override {
    return Check(sqlite3_bind_int64(statement_.get(), index, value));
  }
  absl::Status BindText(int index, std::string_view text) override {
    return Check(sqlite3_bind_text(statement_.get(), index, text.data(),
                                   static_cast<int>(text.size()), SQLITE_TRANSIENT));
  }
  absl::Status BindBlob(int index, std::string_view bytes) override {
    return Check(sqlite3_bind_blob(statement_.get(), index, bytes.data(),
                                   static_cast<int>(bytes.size()), SQLITE_TRANSIENT));
  }
  absl::StatusOr<bool> Step() override {
    const int code = sqlite3_step(statement_.get());
    if (auto status = Check(code); !status.ok()) return status;
    return code == SQLITE_ROW;
  }
  std::int64_t Integer(int column) const override {
    return sqlite3_column_int64(statement_.get(), column);
  }
  std::string Text(int column) const override {
    const void* bytes = sqlite3_column_blob(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    if (bytes == nullptr || size <= 0) return {};
    return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  absl::Status Check(int code) const {
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return absl::OkStatus();
    return Failure(file_, sqlite3_errmsg(db_));
  }

  sqlite3* const db_;
  const std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const std::string& file_;
};

}  // namespace

void SqliteDatabase::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

absl::StatusOr<std::unique_ptr<Database>> SqliteDatabase::Open(const std::string& file) {
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(file.c_str(), &raw,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(raw, file));
  if (code != SQLITE_OK) return Failure(file, raw ? sqlite3_errmsg(raw) : "out of memory");
  sqlite3_busy_timeout(raw, 2000);
  if (auto status = database->CheckSound(); !status.ok()) return status;
  return database;
}

absl::Status SqliteDatabase::CheckSound() {
  std::string answer;
  {
    // Finalized before WAL is switched on, which no open statement allows.
    Statement check = Prepare("PRAGMA quick_check(1)");
    if (check.Step()) answer = check.Text(0);
    if (!check.status().ok()) return check.status();
  }
  if (answer != "ok") return Failure(name(), absl::StrCat("the database is damaged: ", answer));
  for (const char* pragma : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL",
                             "PRAGMA journal_size_limit=16777216"}) {
    if (auto status = Execute(pragma); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SqliteDatabase::Migrate() { return collector::Migrate(*this); }

absl::Status SqliteDatabase::Execute(const std::string& sql) {
  char* message = nullptr;
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, &message);
  if (code == SQLITE_OK) return absl::OkStatus();
  const std::string text = message ? message : sqlite3_errmsg(db_.get());
  sqlite3_free(message);
  return Failure(name(), text);
}

Statement SqliteDatabase::Prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    return Statement(Failure(name(), sqlite3_errmsg(db_.get())));
  }
  return Statement(std::make_unique<SqlitePrepared>(db_.get(), statement, name()));
}

}  // namespace fathom::collector
