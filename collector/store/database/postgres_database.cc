#include "collector/store/database/postgres_database.h"

#include <absl/strings/str_cat.h>
#include <endian.h>
#include <libpq-fe.h>

#include <cctype>
#include <cstring>

#include "collector/net/masked_url.h"
#include "collector/store/database/postgres_schema.h"

namespace fathom::collector {
namespace {

// Of PostgreSQL's catalogue; they never change.
constexpr unsigned kInt8 = 20, kText = 25, kBytea = 17;
constexpr std::chrono::seconds kTryEvery{1};

std::string OneLine(const char* words) {
  std::string text = words == nullptr ? "no words" : words;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text;
}

class PostgresPrepared final : public Prepared {
 public:
  PostgresPrepared(PostgresDatabase& database, std::string sql)
      : database_(database), sql_(std::move(sql)) {}

  absl::Status Bind(int index, std::int64_t value) override {
    const std::uint64_t big = htobe64(static_cast<std::uint64_t>(value));
    return Put(index, kInt8, {reinterpret_cast<const char*>(&big), sizeof(big)});
  }
  absl::Status BindText(int index, std::string_view text) override {
    return Put(index, kText, text);
  }
  absl::Status BindBlob(int index, std::string_view bytes) override {
    return Put(index, kBytea, bytes);
  }

  absl::StatusOr<bool> Step() override {
    if (result_ == nullptr) {
      auto result = database_.Ask(sql_, parameters_);
      if (!result.ok()) return result.status();
      result_ = *std::move(result);
    }
    return ++row_ < PQntuples(result_.get());
  }

  std::int64_t Integer(int column) const override {
    if (PQgetisnull(result_.get(), row_, column) != 0) return 0;
    const char* bytes = PQgetvalue(result_.get(), row_, column);
    if (PQgetlength(result_.get(), row_, column) == sizeof(std::int32_t)) {
      std::uint32_t small = 0;
      std::memcpy(&small, bytes, sizeof(small));
      return static_cast<std::int32_t>(be32toh(small));
    }
    std::uint64_t big = 0;
    std::memcpy(&big, bytes, sizeof(big));
    return static_cast<std::int64_t>(be64toh(big));
  }

  std::string Text(int column) const override {
    return {PQgetvalue(result_.get(), row_, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row_, column))};
  }

 private:
  absl::Status Put(int index, unsigned type, std::string_view bytes) {
    const auto place = static_cast<std::size_t>(index);
    if (parameters_.size() < place) parameters_.resize(place);
    parameters_[place - 1] = {type, std::string(bytes)};
    return absl::OkStatus();
  }

  PostgresDatabase& database_;
  const std::string sql_;
  std::vector<PostgresDatabase::Parameter> parameters_;
  PostgresDatabase::Result result_;
  int row_ = -1;
};

}  // namespace

std::string WithDollars(std::string_view sql) {
  std::string out;
  int next = 1;
  bool quoted = false;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    quoted ^= sql[i] == '\'';
    if (quoted || sql[i] != '?') {
      out += sql[i];
      continue;
    }
    out += '$';
    const bool numbered =
        i + 1 < sql.size() && std::isdigit(static_cast<unsigned char>(sql[i + 1]));
    if (!numbered) absl::StrAppend(&out, next++);
  }
  return out;
}

void PostgresDatabase::Clear::operator()(pg_result* result) const { PQclear(result); }
void PostgresDatabase::Close::operator()(pg_conn* connection) const { PQfinish(connection); }

absl::StatusOr<std::unique_ptr<Database>> PostgresDatabase::Open(const std::string& url) {
  // What the address says itself comes after these, and counts.
  const char* const keys[] = {"connect_timeout", "application_name", "tcp_user_timeout", "dbname",
                              nullptr};
  const char* const values[] = {"2", "fathom-collector", "2000", url.c_str(), nullptr};
  std::unique_ptr<PostgresDatabase> database(
      new PostgresDatabase(PQconnectdbParams(keys, values, 1), MaskedDatabase(url)));
  if (PQstatus(database->connection_.get()) != CONNECTION_OK) return database->Failure();
  if (auto status = database->SetUp(); !status.ok()) return status;
  return database;
}

absl::Status PostgresDatabase::Failure() const {
  return absl::UnavailableError(
      absl::StrCat(name(), ": ", OneLine(PQerrorMessage(connection_.get()))));
}

absl::Status PostgresDatabase::SetUp() {
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  return Execute(
      absl::StrCat("SET search_path TO fathom, public; SET statement_timeout TO ", kStatement_ms));
}

absl::Status PostgresDatabase::ConnectAgain() {
  const auto now = std::chrono::steady_clock::now();
  if (now - tried_ < kTryEvery) return Failure();
  tried_ = now;
  PQreset(connection_.get());
  return PQstatus(connection_.get()) == CONNECTION_OK ? SetUp() : Failure();
}

absl::Status PostgresDatabase::Check() {
  if (PQstatus(connection_.get()) != CONNECTION_OK) return ConnectAgain();
  return Execute("SELECT 1");
}

absl::Status PostgresDatabase::Migrate() { return MigratePostgres(*this); }

absl::Status PostgresDatabase::Execute(const std::string& sql) {
  const Result result(PQexec(connection_.get(), sql.c_str()));
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return absl::OkStatus();
  return Failure();
}

absl::StatusOr<PostgresDatabase::Result> PostgresDatabase::Ask(
    const std::string& sql, const std::vector<Parameter>& parameters) {
  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> lengths, formats;
  for (const Parameter& each : parameters) {
    types.push_back(each.type);
    values.push_back(each.bytes.data());
    lengths.push_back(static_cast<int>(each.bytes.size()));
    formats.push_back(1);
  }
  Result result(PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(types.size()),
                             types.data(), values.data(), lengths.data(), formats.data(), 1));
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return result;
  return Failure();
}

Statement PostgresDatabase::Prepare(const std::string& sql) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    if (auto status = ConnectAgain(); !status.ok()) return Statement(std::move(status));
  }
  return Statement(std::make_unique<PostgresPrepared>(*this, WithDollars(sql)));
}

}  // namespace fathom::collector
