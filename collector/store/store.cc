#include "collector/store/store.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "collector/export/verdict_proto.h"
#include "collector/store/database/schema.h"
#include "collector/store/learnt_record.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

constexpr std::uint64_t kTrimEvery = 64;  // writes

constexpr char kSelectVerdicts[] =
    "SELECT message, opened_ns, updated_ns, closed_ns, superseded, seen_ns, authenticated "
    "FROM verdicts ";

}  // namespace

absl::Status Store::Save(const Episode& episode) {
  const service::MutexLock lock(mutex_);
  unwritten_.verdicts.erase(episode.id);
  const absl::Status status = Note(Write(episode));
  if (status.ok()) {
    Flush();
  } else if (!absl::IsAborted(status)) {
    errors_ += unwritten_.Put(episode);
    Remember(episode, false);
  }
  return status;
}

absl::Status Store::Save(const StoredJob& job) {
  const service::MutexLock lock(mutex_);
  unwritten_.jobs.erase(job.name);
  const absl::Status status = Note(Write(job));
  if (status.ok()) {
    Flush();
  } else if (!absl::IsAborted(status)) {
    errors_ += unwritten_.Put(job);
  }
  return status;
}

absl::Status Store::Write(const Episode& episode) {
  if (!database_) return absl::UnavailableError("no memory");
  v1::Verdict message;
  ToProto(episode, message);
  Statement put = database_->Prepare(
      "INSERT INTO verdicts(id, job, opened_ns, updated_ns, closed_ns, active, grade, "
      "cause, message, superseded, node, seen_ns, authenticated) "
      "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET "
      "job = excluded.job, opened_ns = excluded.opened_ns, updated_ns = excluded.updated_ns, "
      "closed_ns = excluded.closed_ns, active = excluded.active, grade = excluded.grade, "
      "cause = excluded.cause, message = excluded.message, superseded = excluded.superseded, "
      "node = excluded.node, seen_ns = excluded.seen_ns, authenticated = excluded.authenticated");
  put.Bind(1, episode.id).Bind(2, episode.job).Bind(3, episode.opened.ns);
  put.Bind(4, episode.updated.ns).Bind(5, episode.closed.ns);
  put.Bind(6, std::int64_t{episode.open()}).Bind(7, message.grade()).Bind(8, message.cause());
  put.BindBlob(9, message.SerializeAsString()).Bind(10, std::int64_t{episode.superseded});
  put.Bind(11, episode.verdict.entity.node).Bind(12, episode.seen.ns);
  put.Bind(13, std::int64_t{episode.authenticated});
  absl::Status status = Fenced(episode.job, put);
  if (status.ok()) Remember(episode, true);
  if (status.ok() && ++writes_ % kTrimEvery == 0) status = Trim();
  return status;
}

absl::Status Store::Write(const StoredJob& job) {
  if (!database_) return absl::UnavailableError("no memory");
  Statement put = database_->Prepare(
      "INSERT INTO jobs(name, ranks, world_size, nodes, started_ns, last_seen_ns, "
      "iterations, report) VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(name) DO UPDATE SET "
      "ranks = excluded.ranks, world_size = excluded.world_size, nodes = excluded.nodes, "
      "started_ns = excluded.started_ns, last_seen_ns = excluded.last_seen_ns, "
      "iterations = excluded.iterations, report = excluded.report");
  put.Bind(1, job.name).Bind(2, std::int64_t{job.ranks}).Bind(3, std::int64_t{job.world_size});
  put.Bind(4, std::int64_t{job.nodes}).Bind(5, job.started.ns).Bind(6, job.last_seen.ns);
  put.Bind(7, job.iterations).Bind(8, job.report_json);
  absl::Status status = Fenced(job.name, put);
  if (status.ok() && ++writes_ % kTrimEvery == 0) status = Trim();
  return status;
}

absl::Status Store::Save(const std::string& job, const Learnt& learnt) {
  const std::string record = ToRecord(learnt);
  const service::MutexLock lock(mutex_);
  if (!database_) return Note(absl::UnavailableError("no memory"));
  Statement put = database_->Prepare(
      "INSERT INTO learnt(job, kept_ns, message) VALUES(?, ?, ?) ON CONFLICT(job) DO UPDATE SET "
      "kept_ns = excluded.kept_ns, message = excluded.message");
  // Trimmed with the rest: this comes often, and mostly in place of what was there.
  put.Bind(1, job).Bind(2, learnt.kept.ns).BindBlob(3, record);
  absl::Status status = Note(Fenced(job, put));
  if (!absl::IsAborted(status)) Remember(job, learnt, record);
  return status;
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
  episode.seen = WallNs(row.Integer(5));
  episode.authenticated = row.Integer(6) != 0;
  return episode;
}

std::vector<Episode> Store::OpenIn(const std::string& job) {
  std::vector<Episode> open;
  if (!database_) return open;
  Statement rows =
      database_->Prepare(absl::StrCat(kSelectVerdicts, "WHERE job = ? AND active = 1"));
  rows.Bind(1, job);
  while (rows.Step()) {
    Episode each = EpisodeOf(rows);
    if (!unwritten_.verdicts.contains(each.id)) open.push_back(std::move(each));
  }
  NoteRead(rows);
  return open;
}

std::vector<Episode> Store::Verdicts(const std::string& job, bool only_active, std::int64_t limit) {
  const service::MutexLock lock(mutex_);
  std::vector<Episode> found;
  if (!database_) return found;
  Statement rows = database_->Prepare(
      absl::StrCat(kSelectVerdicts, "WHERE (?1 = '' OR job = ?1) AND (?2 = 0 OR active = 1) ",
                   "ORDER BY opened_ns DESC, id LIMIT ?3"));
  const auto more = static_cast<std::int64_t>(unwritten_.verdicts.size());
  rows.Bind(1, job).Bind(2, std::int64_t{only_active}).Bind(3, limit + more);
  while (rows.Step()) found.push_back(EpisodeOf(rows));
  NoteRead(rows);
  unwritten_.MergeInto(found, static_cast<std::size_t>(limit), [&](const Episode& each) {
    return (job.empty() || each.job == job) && (!only_active || each.open());
  });
  return found;
}

std::vector<Episode> Store::VerdictsOnNode(const std::string& node, std::int64_t limit) {
  const service::MutexLock lock(mutex_);
  std::vector<Episode> found;
  if (!database_ || node.empty()) return found;
  Statement rows = database_->Prepare(
      absl::StrCat(kSelectVerdicts, "WHERE node = ? ORDER BY opened_ns DESC, id LIMIT ?"));
  const auto more = static_cast<std::int64_t>(unwritten_.verdicts.size());
  rows.Bind(1, node).Bind(2, limit + more);
  while (rows.Step()) found.push_back(EpisodeOf(rows));
  NoteRead(rows);
  unwritten_.MergeInto(found, static_cast<std::size_t>(limit),
                       [&](const Episode& each) { return each.verdict.entity.node == node; });
  return found;
}

NodeRecords Store::NodeRecordsSince(WallNs since) {
  const service::MutexLock lock(mutex_);
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
  NoteRead(rows);
  return records;
}

std::optional<Episode> Store::Find(const std::string& id) {
  const service::MutexLock lock(mutex_);
  const auto waits = unwritten_.verdicts.find(id);
  return waits != unwritten_.verdicts.end() ? waits->second : FindWritten(id);
}

std::optional<Episode> Store::FindWritten(const std::string& id) {
  if (!database_) return std::nullopt;
  Statement row = database_->Prepare(absl::StrCat(kSelectVerdicts, "WHERE id = ?"));
  const bool found = row.Bind(1, id).Step();
  NoteRead(row);
  return found ? std::optional(EpisodeOf(row)) : std::nullopt;
}

StoredJob Store::JobOf(const Statement& row) {
  const auto u32 = [&](int column) { return static_cast<std::uint32_t>(row.Integer(column)); };
  return {
      row.Text(0),    u32(1),     u32(2), u32(3), WallNs(row.Integer(4)), WallNs(row.Integer(5)),
      row.Integer(6), row.Text(7)};
}

std::optional<StoredJob> Store::FindJob(const std::string& name) {
  const service::MutexLock lock(mutex_);
  const auto waits = unwritten_.jobs.find(name);
  if (waits != unwritten_.jobs.end()) return waits->second;
  if (!database_) return std::nullopt;
  Statement row = database_->Prepare(
      "SELECT name, ranks, world_size, nodes, started_ns, last_seen_ns, iterations, report "
      "FROM jobs WHERE name = ?");
  const bool found = row.Bind(1, name).Step();
  NoteRead(row);
  return found ? std::optional(JobOf(row)) : std::nullopt;
}

std::optional<Learnt> Store::FindLearnt(const std::string& job) {
  const service::MutexLock lock(mutex_);
  const auto newest = Newest(kLearntTable, job);
  return newest ? FromRecord(newest->second) : std::nullopt;
}

std::string Store::degraded() const {
  const service::MutexLock lock(mutex_);
  if (!opened_.empty()) return opened_;
  if (!moved_.empty()) return moved_;
  if (unwritten_.empty()) return failing_;
  return absl::StrCat(failing_, "; ", unwritten_.size(), " verdicts and jobs wait to be written");
}

std::string Store::unread() const {
  const service::MutexLock lock(mutex_);
  return unread_;
}

std::string Store::lacks() const {
  const service::MutexLock lock(mutex_);
  return opened_.empty() ? unread_ : opened_;
}

std::uint64_t Store::unwritten() const {
  const service::MutexLock lock(mutex_);
  return unwritten_.size();
}

std::uint64_t Store::errors() const {
  const service::MutexLock lock(mutex_);
  return errors_;
}

}  // namespace fathom::collector
