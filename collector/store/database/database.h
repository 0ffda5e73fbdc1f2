// A thin, owning cover over SQLite's C API: a connection and its statements.
//
// Used by collector/store only. Every call's failure becomes an absl::Status that names the file.
// Thread-safety: thread-compatible. Ownership: a Statement must not outlive its Database.
#ifndef FATHOM_COLLECTOR_STORE_DATABASE_DATABASE_H_
#define FATHOM_COLLECTOR_STORE_DATABASE_DATABASE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace fathom::collector {

class Statement {
 public:
  Statement& Bind(int index, std::int64_t value);
  Statement& Bind(int index, std::string_view text);
  Statement& BindBlob(int index, std::string_view bytes);
  // True: a row is there. False: done, or failed (then status() tells).
  bool Step();
  absl::Status Run();  // steps to the end
  std::int64_t Integer(int column) const;
  std::string Text(int column) const;  // also a blob's bytes
  const absl::Status& status() const { return status_; }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3* db, sqlite3_stmt* statement, std::string file, absl::Status status)
      : db_(db), statement_(statement), file_(std::move(file)), status_(std::move(status)) {}
  void Check(int code);

  sqlite3* db_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string file_;
  absl::Status status_;
};

class Database {
 public:
  // ":memory:" for one without a file. Checks that the file is a sound database and writable.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& file);

  absl::Status Execute(const std::string& sql);
  Statement Prepare(const std::string& sql);
  const std::string& file() const { return file_; }

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  Database(sqlite3* db, std::string file) : db_(db), file_(std::move(file)) {}
  absl::Status CheckSound();

  std::unique_ptr<sqlite3, Close> db_;
  std::string file_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_DATABASE_DATABASE_H_
