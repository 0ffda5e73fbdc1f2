// What the store keeps its tables in: a connection and its statements, of SQLite or PostgreSQL.
//
// Used by collector/store only. Model: statements are written in what both understand; parameters
// are ? or ?1. A place that begins with postgresql:// or postgres:// is a server's, everything else
// a file's. Every call's failure becomes an absl::Status that names the place.
// Thread-safety: thread-compatible. Ownership: a Statement must not outlive its Database.
#ifndef FATHOM_COLLECTOR_STORE_DATABASE_DATABASE_H_
#define FATHOM_COLLECTOR_STORE_DATABASE_DATABASE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace fathom::collector {

// A statement as the database has it.
class Prepared {
 public:
  virtual ~Prepared() = default;
  virtual absl::Status Bind(int index, std::int64_t value) = 0;
  virtual absl::Status BindText(int index, std::string_view text) = 0;
  virtual absl::Status BindBlob(int index, std::string_view bytes) = 0;
  virtual absl::StatusOr<bool> Step() = 0;  // whether a row is there
  virtual std::int64_t Integer(int column) const = 0;
  virtual std::string Text(int column) const = 0;
};

class Statement {
 public:
  explicit Statement(std::unique_ptr<Prepared> prepared) : prepared_(std::move(prepared)) {}
  explicit Statement(absl::Status why) : status_(std::move(why)) {}

  Statement& Bind(int index, std::int64_t value) {
    if (status_.ok()) status_ = prepared_->Bind(index, value);
    return *this;
  }
  Statement& Bind(int index, std::string_view text) {
    if (status_.ok()) status_ = prepared_->BindText(index, text);
    return *this;
  }
  Statement& BindBlob(int index, std::string_view bytes) {
    if (status_.ok()) status_ = prepared_->BindBlob(index, bytes);
    return *this;
  }
  // True: a row is there. False: done, or failed (then status() tells).
  bool Step() {
    if (!status_.ok()) return false;
    const auto stepped = prepared_->Step();
    if (!stepped.ok()) status_ = stepped.status();
    return stepped.ok() && *stepped;
  }
  absl::Status Run() {  // steps to the end
    while (Step()) {
    }
    return status_;
  }
  // Requires: a row is there.
  std::int64_t Integer(int column) const { return prepared_->Integer(column); }
  std::string Text(int column) const { return prepared_->Text(column); }  // also a blob's bytes
  const absl::Status& status() const { return status_; }

 private:
  std::unique_ptr<Prepared> prepared_;
  absl::Status status_;
};

class Database {
 public:
  virtual ~Database() = default;

  // Of a file or a server. ":memory:" for one without either. Checks that it is sound.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& place);
  // Whether the place is a server's, which others write too.
  static bool IsShared(std::string_view place) {
    return place.starts_with("postgresql://") || place.starts_with("postgres://");
  }

  // Makes the tables, or brings those of an earlier version up to date.
  virtual absl::Status Migrate() = 0;
  virtual absl::Status Execute(const std::string& sql) = 0;
  virtual Statement Prepare(const std::string& sql) = 0;
  // Runs what `write` does in one transaction; nothing of it stands where that fails.
  absl::Status Transact(const std::function<absl::Status()>& write);
  // Whether it answers now. Tries to connect again where it does not.
  virtual absl::Status Check() = 0;
  const std::string& name() const { return name_; }  // without secrets

 protected:
  explicit Database(std::string name) : name_(std::move(name)) {}

 private:
  virtual absl::Status Begin() = 0;  // a transaction that writes

  const std::string name_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_DATABASE_DATABASE_H_
