#include "collector/store/database/database.h"

#include <absl/strings/str_cat.h>
#include <sqlite3.h>

#include <utility>

namespace fathom::collector {
namespace {

absl::Status Failure(const std::string& file, const std::string& what) {
  return absl::UnavailableError(absl::StrCat(file, ": ", what));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::Check(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE || !status_.ok()) return;
  status_ = Failure(file_, sqlite3_errmsg(db_));
}

Statement& Statement::Bind(int index, std::int64_t value) {
  if (statement_) Check(sqlite3_bind_int64(statement_.get(), index, value));
  return *this;
}

Statement& Statement::Bind(int index, std::string_view text) {
  if (statement_) {
    Check(sqlite3_bind_text(statement_.get(), index, text.data(), static_cast<int>(text.size()),
                            SQLITE_TRANSIENT));
  }
  return *this;
}

Statement& Statement::BindBlob(int index, std::string_view bytes) {
  if (statement_) {
    Check(sqlite3_bind_blob(statement_.get(), index, bytes.data(), static_cast<int>(bytes.size()),
                            SQLITE_TRANSIENT));
  }
  return *this;
}

bool Statement::Step() {
  if (!statement_ || !status_.ok()) return false;
  const int code = sqlite3_step(statement_.get());
  Check(code);
  return code == SQLITE_ROW;
}

absl::Status Statement::Run() {
  while (Step()) {
  }
  return status_;
}

std::int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr || size <= 0) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

void Database::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& file) {
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(file.c_str(), &raw,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<Database> database(new Database(raw, file));
  if (code != SQLITE_OK) return Failure(file, raw ? sqlite3_errmsg(raw) : "out of memory");
  sqlite3_busy_timeout(raw, 2000);
  if (auto status = database->CheckSound(); !status.ok()) return status;
  return database;
}

absl::Status Database::CheckSound() {
  std::string answer;
  {
    // Finalized before WAL is switched on, which no open statement allows.
    Statement check = Prepare("PRAGMA quick_check(1)");
    if (check.Step()) answer = check.Text(0);
    if (!check.status().ok()) return check.status();
  }
  if (answer != "ok") return Failure(file_, absl::StrCat("the database is damaged: ", answer));
  for (const char* pragma : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL",
                             "PRAGMA journal_size_limit=16777216"}) {
    if (auto status = Execute(pragma); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Database::Execute(const std::string& sql) {
  char* message = nullptr;
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, &message);
  if (code == SQLITE_OK) return absl::OkStatus();
  const std::string text = message ? message : sqlite3_errmsg(db_.get());
  sqlite3_free(message);
  return Failure(file_, text);
}

Statement Database::Prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  absl::Status status;
  if (sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    status = Failure(file_, sqlite3_errmsg(db_.get()));
  }
  return Statement(db_.get(), statement, file_, std::move(status));
}

}  // namespace fathom::collector
