// A thin, owning cover over libpq: the tables of the store on a PostgreSQL server, for several
// collectors.
//
// Made by Database::Open for postgresql://… . Model: one connection; the tables lie in the schema
// "fathom", made once by whoever comes first. A connection that broke is made again with the next
// statement, once a second at most. Parameters and rows travel in binary, so that bytes need no
// escaping.
//
// Thread-safety: thread-compatible. Errors: Unavailable with the server's words; the name has no
// password. Cost: a round trip a statement; two seconds to connect and kStatement_ms for a
// statement at most. Source: PostgreSQL 15's libpq.
#ifndef FATHOM_COLLECTOR_STORE_DATABASE_POSTGRES_DATABASE_H_
#define FATHOM_COLLECTOR_STORE_DATABASE_POSTGRES_DATABASE_H_

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/store/database/database.h"

struct pg_conn;
struct pg_result;

namespace fathom::collector {

class PostgresDatabase final : public Database {
 public:
  static constexpr int kStatement_ms = 2000;

  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& url);

  absl::Status Migrate() override;
  absl::Status Execute(const std::string& sql) override;
  Statement Prepare(const std::string& sql) override;
  absl::Status Check() override;

  struct Clear {
    void operator()(pg_result* result) const;
  };
  using Result = std::unique_ptr<pg_result, Clear>;
  struct Parameter {
    unsigned type = 0;  // an OID
    std::string bytes;
  };
  // A statement in PostgreSQL's own words, with what stands for $1, $2, …
  absl::StatusOr<Result> Ask(const std::string& sql, const std::vector<Parameter>& parameters);

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  PostgresDatabase(pg_conn* connection, std::string name)
      : Database(std::move(name)), connection_(connection) {}
  absl::Status Begin() override { return Execute("BEGIN"); }
  absl::Status Failure() const;
  absl::Status SetUp();
  absl::Status ConnectAgain();

  std::unique_ptr<pg_conn, Close> connection_;
  std::chrono::steady_clock::time_point tried_;  // when it was last connected again
};

// "a = ? AND (?2 = '' OR b = ?2)" as PostgreSQL has it: "a = $1 AND ($2 = '' OR b = $2)".
std::string WithDollars(std::string_view sql);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_DATABASE_POSTGRES_DATABASE_H_
