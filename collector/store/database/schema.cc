#include "collector/store/database/schema.h"

#include <absl/strings/str_cat.h>

#include <array>
#include <string>

namespace fathom::collector {
namespace {

// kSteps[n] goes from version n to n + 1.
constexpr std::array<const char*, kSchemaVersion> kSteps = {
    R"sql(
CREATE TABLE verdicts(
  id TEXT PRIMARY KEY, job TEXT NOT NULL, opened_ns INTEGER NOT NULL, updated_ns INTEGER NOT NULL,
  closed_ns INTEGER NOT NULL, active INTEGER NOT NULL, grade TEXT NOT NULL, cause TEXT NOT NULL,
  message BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX verdicts_by_job ON verdicts(job, opened_ns);
CREATE INDEX verdicts_by_time ON verdicts(opened_ns);
CREATE TABLE jobs(
  name TEXT PRIMARY KEY, ranks INTEGER NOT NULL, world_size INTEGER NOT NULL,
  nodes INTEGER NOT NULL, started_ns INTEGER NOT NULL, last_seen_ns INTEGER NOT NULL,
  iterations INTEGER NOT NULL) WITHOUT ROWID;
)sql",
    R"sql(
ALTER TABLE verdicts ADD COLUMN superseded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN report TEXT NOT NULL DEFAULT '';
)sql",
    // NULL: not looked up in the message yet (Store does).
    R"sql(
ALTER TABLE verdicts ADD COLUMN node TEXT;
CREATE INDEX verdicts_by_node ON verdicts(node, opened_ns);
)sql",
    R"sql(
CREATE TABLE learnt(job TEXT PRIMARY KEY, kept_ns INTEGER NOT NULL, message BLOB NOT NULL)
  WITHOUT ROWID;
)sql",
    R"sql(
ALTER TABLE verdicts ADD COLUMN seen_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE verdicts ADD COLUMN authenticated INTEGER NOT NULL DEFAULT 0;
CREATE TABLE notices(
  receiver TEXT NOT NULL, key TEXT NOT NULL, waits INTEGER NOT NULL, message BLOB NOT NULL,
  PRIMARY KEY(receiver, key)) WITHOUT ROWID;
)sql",
    R"sql(
CREATE TABLE runs(
  place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, job TEXT NOT NULL,
  profile TEXT NOT NULL, message BLOB NOT NULL);
CREATE INDEX runs_by_profile ON runs(profile, place);
CREATE INDEX runs_by_job ON runs(job, place);
)sql",
    R"sql(
CREATE TABLE accounts(job TEXT PRIMARY KEY, kept_ns INTEGER NOT NULL, message BLOB NOT NULL)
  WITHOUT ROWID;
)sql",
    // Of runs that are kept already: Store fills it in.
    R"sql(
CREATE TABLE run_times(
  id TEXT PRIMARY KEY, job TEXT NOT NULL, team TEXT NOT NULL, started_ns INTEGER NOT NULL,
  last_seen_ns INTEGER NOT NULL, ranks INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX run_times_by_end ON run_times(last_seen_ns);
CREATE INDEX run_times_by_job ON run_times(job);
)sql",
    R"sql(
CREATE TABLE probes(place INTEGER PRIMARY KEY AUTOINCREMENT, node TEXT NOT NULL, message BLOB NOT NULL);
CREATE INDEX probes_by_node ON probes(node, place);
)sql",
    R"sql(
CREATE TABLE recoveries(
  id TEXT PRIMARY KEY, job TEXT NOT NULL, begun_ns INTEGER NOT NULL, told_ns INTEGER NOT NULL,
  message TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX recoveries_by_job ON recoveries(job, begun_ns);
)sql"};

}  // namespace

absl::Status Migrate(Database& database) {
  Statement asked = database.Prepare("PRAGMA user_version");
  const std::int64_t version = asked.Step() ? asked.Integer(0) : -1;
  if (!asked.status().ok()) return asked.status();
  if (version < 0 || version > kSchemaVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(database.name(), ": written by a later fathom (schema ", version,
                     ", this one knows ", kSchemaVersion, ")"));
  }
  for (std::int64_t v = version; v < kSchemaVersion; ++v) {
    const std::string step = absl::StrCat("BEGIN IMMEDIATE;", kSteps[static_cast<std::size_t>(v)],
                                          "PRAGMA user_version=", v + 1, ";COMMIT;");
    if (auto status = database.Execute(step); !status.ok()) {
      database.Execute("ROLLBACK").IgnoreError();
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace fathom::collector
