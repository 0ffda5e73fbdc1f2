#include "collector/store/store.h"

#include <absl/strings/str_cat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "collector/export/verdict_proto.h"
#include "collector/store/learnt_record.h"
#include "collector/store/schema.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

constexpr char kInMemory[] = ":memory:";
constexpr std::uint64_t kTrimEvery = 64;  // writes

constexpr char kSelectVerdicts[] =
    "SELECT message, opened_ns, updated_ns, closed_ns, superseded FROM verdicts ";

absl::StatusOr<std::unique_ptr<Database>> OpenSound(const std::string& file) {
  auto database = Database::Open(file);
  if (!database.ok()) return database;
  if (auto status = Migrate(**database); !status.ok()) return status;
  return database;
}

std::unique_ptr<Database> OpenInMemory() {
  auto database = OpenSound(kInMemory);
  return database.ok() ? *std::move(database) : nullptr;
}

void MakeFolder(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code ignored;  // Open() will say what is wrong
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
}

}  // namespace

std::unique_ptr<Store> Store::Open(const std::string& file) {
  if (file != kInMemory) MakeFolder(file);
  auto database = OpenSound(file);
  if (database.ok()) {
    std::unique_ptr<Store> store(new Store(*std::move(database), file, ""));
    store->FillNodes();
    return store;
  }
  const std::string why = absl::StrCat("cannot use the store ", database.status().message(),
                                       "; history is kept in memory only");
  return std::unique_ptr<Store>(new Store(OpenInMemory(), file, why));
}

absl::Status Store::Note(absl::Status status) {
  errors_ += !status.ok();
  failing_ = status.ok() ? "" : absl::StrCat("cannot write the store ", status.message());
  return status;
}

absl::Status Store::Save(const Episode& episode) {
  v1::Verdict message;
  ToProto(episode, message);
  const std::lock_guard lock(mutex_);
  if (!database_) return Note(absl::UnavailableError("no memory"));
  Statement put = database_->Prepare(
      "INSERT OR REPLACE INTO verdicts(id, job, opened_ns, updated_ns, closed_ns, active, grade, "
      "cause, message, superseded, node) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  put.Bind(1, episode.id).Bind(2, episode.job).Bind(3, episode.opened.ns);
  put.Bind(4, episode.updated.ns).Bind(5, episode.closed.ns);
  put.Bind(6, std::int64_t{episode.open()}).Bind(7, message.grade()).Bind(8, message.cause());
  put.BindBlob(9, message.SerializeAsString()).Bind(10, std::int64_t{episode.superseded});
  put.Bind(11, episode.verdict.entity.node);
  absl::Status status = put.Run();
  if (status.ok() && ++writes_ % kTrimEvery == 0) status = Trim();
  return Note(std::move(status));
}

absl::Status Store::Save(const StoredJob& job) {
  const std::lock_guard lock(mutex_);
  if (!database_) return Note(absl::UnavailableError("no memory"));
  Statement put = database_->Prepare(
      "INSERT OR REPLACE INTO jobs(name, ranks, world_size, nodes, started_ns, last_seen_ns, "
      "iterations, report) VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  put.Bind(1, job.name).Bind(2, std::int64_t{job.ranks}).Bind(3, std::int64_t{job.world_size});
  put.Bind(4, std::int64_t{job.nodes}).Bind(5, job.started.ns).Bind(6, job.last_seen.ns);
  put.Bind(7, job.iterations).Bind(8, job.report_json);
  absl::Status status = put.Run();
  if (status.ok() && ++writes_ % kTrimEvery == 0) status = Trim();
  return Note(std::move(status));
}

absl::Status Store::Save(const std::string& job, const Learnt& learnt) {
  const std::string record = ToRecord(learnt);
  const std::lock_guard lock(mutex_);
  if (!database_) return Note(absl::UnavailableError("no memory"));
  Statement put =
      database_->Prepare("INSERT OR REPLACE INTO learnt(job, kept_ns, message) VALUES(?, ?, ?)");
  // Trimmed with the rest: this comes often, and mostly in place of what was there.
  return Note(put.Bind(1, job).Bind(2, learnt.kept.ns).BindBlob(3, record).Run());
}

absl::Status Store::Trim() {
  Statement verdicts = database_->Prepare(
      "DELETE FROM verdicts WHERE active = 0 AND id NOT IN "
      "(SELECT id FROM verdicts ORDER BY opened_ns DESC LIMIT ?)");
  if (auto status = verdicts.Bind(1, kMaxVerdicts).Run(); !status.ok()) return status;
  Statement jobs = database_->Prepare(
      "DELETE FROM jobs WHERE name NOT IN "
      "(SELECT name FROM jobs ORDER BY last_seen_ns DESC LIMIT ?)");
  if (auto status = jobs.Bind(1, kMaxJobs).Run(); !status.ok()) return status;
  Statement learnt = database_->Prepare(
      "DELETE FROM learnt WHERE job NOT IN (SELECT job FROM learnt ORDER BY kept_ns DESC LIMIT ?)");
  return learnt.Bind(1, kMaxJobs).Run();
}

Episode Store::EpisodeOf(const Statement& row) {
  v1::Verdict message;
  message.ParseFromString(row.Text(0));
  Episode episode = FromProto(message);
  episode.opened = WallNs(row.Integer(1));
  episode.updated = WallNs(row.Integer(2));
  episode.closed = WallNs(row.Integer(3));
  episode.superseded = row.Integer(4) != 0;
  return episode;
}

std::vector<Episode> Store::Verdicts(const std::string& job, bool only_active, std::int64_t limit) {
  const std::lock_guard lock(mutex_);
  std::vector<Episode> found;
  if (!database_) return found;
  Statement rows = database_->Prepare(
      absl::StrCat(kSelectVerdicts, "WHERE (?1 = '' OR job = ?1) AND (?2 = 0 OR active = 1) ",
                   "ORDER BY opened_ns DESC, id LIMIT ?3"));
  rows.Bind(1, job).Bind(2, std::int64_t{only_active}).Bind(3, limit);
  while (rows.Step()) found.push_back(EpisodeOf(rows));
  return found;
}

std::vector<Episode> Store::VerdictsOnNode(const std::string& node, std::int64_t limit) {
  const std::lock_guard lock(mutex_);
  std::vector<Episode> found;
  if (!database_ || node.empty()) return found;
  Statement rows = database_->Prepare(
      absl::StrCat(kSelectVerdicts, "WHERE node = ? ORDER BY opened_ns DESC, id LIMIT ?"));
  rows.Bind(1, node).Bind(2, limit);
  while (rows.Step()) found.push_back(EpisodeOf(rows));
  return found;
}

NodeRecords Store::NodeRecordsSince(WallNs since) {
  const std::lock_guard lock(mutex_);
  NodeRecords records;
  if (!database_) return records;
  std::string causes;
  for (const auto cause : kNodeCauses) {
    absl::StrAppend(&causes, causes.empty() ? "'" : ", '", std::string(cause), "'");
  }
  Statement rows = database_->Prepare(absl::StrCat(
      "SELECT node, COUNT(DISTINCT job), MAX(opened_ns) FROM verdicts WHERE node <> '' AND "
      "opened_ns >= ? AND superseded = 0 AND grade = 'established' AND cause IN (",
      causes, ") GROUP BY node"));
  rows.Bind(1, since.ns);
  while (rows.Step()) records[rows.Text(0)] = {rows.Integer(1), WallNs(rows.Integer(2))};
  return records;
}

// Rows of a file that an earlier fathom wrote.
void Store::FillNodes() {
  std::vector<std::pair<std::string, std::string>> nodes;
  Statement rows = database_->Prepare("SELECT id, message FROM verdicts WHERE node IS NULL");
  while (rows.Step()) {
    v1::Verdict message;
    message.ParseFromString(rows.Text(1));
    nodes.emplace_back(rows.Text(0), message.entity().node());
  }
  if (nodes.empty()) return;
  absl::Status status = database_->Execute("BEGIN IMMEDIATE");
  for (const auto& [id, node] : nodes) {
    if (!status.ok()) break;
    status = database_->Prepare("UPDATE verdicts SET node = ? WHERE id = ?")
                 .Bind(1, node)
                 .Bind(2, id)
                 .Run();
  }
  if (status.ok()) status = database_->Execute("COMMIT");
  if (!status.ok()) database_->Execute("ROLLBACK").IgnoreError();
  Note(std::move(status)).IgnoreError();
}

std::optional<Episode> Store::Find(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (!database_) return std::nullopt;
  Statement row = database_->Prepare(absl::StrCat(kSelectVerdicts, "WHERE id = ?"));
  if (!row.Bind(1, id).Step()) return std::nullopt;
  return EpisodeOf(row);
}

std::optional<StoredJob> Store::FindJob(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (!database_) return std::nullopt;
  Statement row = database_->Prepare(
      "SELECT name, ranks, world_size, nodes, started_ns, last_seen_ns, iterations, report "
      "FROM jobs WHERE name = ?");
  if (!row.Bind(1, name).Step()) return std::nullopt;
  const auto u32 = [&](int column) { return static_cast<std::uint32_t>(row.Integer(column)); };
  return StoredJob{
      row.Text(0),    u32(1),     u32(2), u32(3), WallNs(row.Integer(4)), WallNs(row.Integer(5)),
      row.Integer(6), row.Text(7)};
}

std::optional<Learnt> Store::FindLearnt(const std::string& job) {
  const std::lock_guard lock(mutex_);
  if (!database_) return std::nullopt;
  Statement row = database_->Prepare("SELECT message FROM learnt WHERE job = ?");
  if (!row.Bind(1, job).Step()) return std::nullopt;
  return FromRecord(row.Text(0));
}

std::string Store::degraded() const {
  const std::lock_guard lock(mutex_);
  return opened_.empty() ? failing_ : opened_;
}

std::uint64_t Store::errors() const {
  const std::lock_guard lock(mutex_);
  return errors_;
}

}  // namespace fathom::collector
