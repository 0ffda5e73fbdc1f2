// The part of Store that keeps runs: what later runs of the same profile are held against.
#include "collector/store/run_record.h"
#include "collector/store/store.h"

namespace fathom::collector {
namespace {

constexpr std::uint64_t kTrimEvery = 16;  // writes of runs

std::vector<RunRecord> RunsOf(Statement& rows) {
  std::vector<RunRecord> runs;
  while (rows.Step()) {
    if (auto run = RunFromBytes(rows.Text(0))) runs.push_back(*std::move(run));
  }
  return runs;
}

}  // namespace

absl::Status Store::Save(const RunRecord& run) {
  const std::string bytes = ToBytes(run);
  const service::MutexLock lock(mutex_);
  if (!database_) return Note(absl::UnavailableError("no memory"));
  Statement put = database_->Prepare(
      "INSERT INTO runs(id, job, profile, message) VALUES(?, ?, ?, ?) ON CONFLICT(id) DO UPDATE "
      "SET profile = excluded.profile, message = excluded.message");
  put.Bind(1, run.id).Bind(2, run.job).Bind(3, ProfileId(run.profile)).BindBlob(4, bytes);
  absl::Status status = Note(Fenced(run.job, put));
  if (!absl::IsAborted(status)) Remember(run, bytes);
  if (status.ok()) status = Note(WriteTime(run));
  if (status.ok() && ++run_writes_ % kTrimEvery == 0) status = Note(TrimRuns());
  return status;
}

absl::Status Store::TrimRuns() {
  Statement of_profile = database_->Prepare(
      "DELETE FROM runs WHERE place IN (SELECT place FROM (SELECT place, ROW_NUMBER() OVER "
      "(PARTITION BY profile ORDER BY place DESC) AS number FROM runs) AS numbered "
      "WHERE number > ?)");
  if (auto status = of_profile.Bind(1, kMaxRunsOfProfile).Run(); !status.ok()) return status;
  Statement all = database_->Prepare(
      "DELETE FROM runs WHERE place NOT IN (SELECT place FROM runs ORDER BY place DESC LIMIT ?)");
  if (auto status = all.Bind(1, kMaxRuns).Run(); !status.ok()) return status;
  return TrimTimes();
}

std::vector<RunRecord> Store::RunsOfProfile(const std::string& profile) {
  const service::MutexLock lock(mutex_);
  if (!database_) return {};
  Statement rows =
      database_->Prepare("SELECT message FROM runs WHERE profile = ? ORDER BY place DESC LIMIT ?");
  rows.Bind(1, profile).Bind(2, kMaxRunsOfProfile);
  return RunsOf(rows);
}

std::vector<RunRecord> Store::Runs(const std::string& job, std::int64_t limit) {
  const service::MutexLock lock(mutex_);
  if (!database_) return {};
  Statement rows = database_->Prepare(
      "SELECT message FROM runs WHERE (?1 = '' OR job = ?1) ORDER BY place DESC LIMIT ?2");
  rows.Bind(1, job).Bind(2, limit);
  std::vector<RunRecord> runs = RunsOf(rows);
  NoteRead(rows);
  return runs;
}

std::optional<RunRecord> Store::FindRun(const std::string& id) {
  const service::MutexLock lock(mutex_);
  std::optional<RunRecord> found = FindRememberedRun(id);
  if (!database_) return found;
  Statement row = database_->Prepare("SELECT message FROM runs WHERE id = ?");
  const bool is_kept = row.Bind(1, id).Step();
  NoteRead(row);
  if (!is_kept) return found;
  auto kept = RunFromBytes(row.Text(0));
  if (!kept || (found && found->last_seen > kept->last_seen)) return found;
  return kept;
}

}  // namespace fathom::collector
