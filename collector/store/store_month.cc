// The part of Store that keeps who used what over weeks, and gives verdicts by time.
#include <absl/strings/str_cat.h>

#include <utility>

#include "collector/store/run_record.h"
#include "collector/store/store.h"

namespace fathom::collector {
namespace {

constexpr char kTeam[] = "environment FATHOM_TEAM";

// A value that looked like a secret is no name.
std::string TeamOf(const RunRecord& run) {
  for (const diagnosis::SetupVariant& variant : run.setup.variants) {
    const auto at = variant.facts.find(kTeam);
    if (at != variant.facts.end() && at->second != "(masked)") return at->second;
  }
  return "";
}

}  // namespace

absl::Status Store::WriteTime(const RunRecord& run) {
  Statement put = database_->Prepare(
      "INSERT INTO run_times(id, job, team, started_ns, last_seen_ns, ranks) "
      "VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET job = excluded.job, "
      "team = excluded.team, started_ns = excluded.started_ns, "
      "last_seen_ns = excluded.last_seen_ns, ranks = excluded.ranks");
  put.Bind(1, run.id).Bind(2, run.job).Bind(3, TeamOf(run)).Bind(4, run.started.ns);
  return put.Bind(5, run.last_seen.ns).Bind(6, std::int64_t{run.ranks}).Run();
}

absl::Status Store::TrimTimes() {
  Statement times = database_->Prepare(
      "DELETE FROM run_times WHERE id NOT IN (SELECT id FROM run_times ORDER BY last_seen_ns DESC "
      "LIMIT ?)");
  return times.Bind(1, kMaxRunTimes).Run();
}

// Runs of a file that an earlier fathom wrote.
void Store::FillTimes() {
  Statement rows =
      database_->Prepare("SELECT message FROM runs WHERE id NOT IN (SELECT id FROM run_times)");
  std::vector<RunRecord> runs;
  while (rows.Step()) {
    if (auto run = RunFromBytes(rows.Text(0))) runs.push_back(*std::move(run));
  }
  for (const RunRecord& run : runs) Note(WriteTime(run)).IgnoreError();
}

std::vector<RunTime> Store::RunTimesSince(WallNs since) {
  const service::MutexLock lock(mutex_);
  std::vector<RunTime> times;
  if (!database_) return times;
  Statement rows = database_->Prepare(
      "SELECT id, job, team, started_ns, last_seen_ns, ranks FROM run_times "
      "WHERE last_seen_ns >= ?1 UNION ALL "
      "SELECT '', name, '', started_ns, last_seen_ns, ranks FROM jobs WHERE last_seen_ns >= ?1 "
      "AND NOT EXISTS (SELECT 1 FROM run_times WHERE run_times.job = jobs.name)");
  rows.Bind(1, since.ns);
  while (rows.Step()) {
    times.push_back({rows.Text(0), rows.Text(1), rows.Text(2), WallNs(rows.Integer(3)),
                     WallNs(rows.Integer(4)), static_cast<std::uint32_t>(rows.Integer(5))});
  }
  NoteRead(rows);
  return times;
}

std::vector<Episode> Store::VerdictsSince(WallNs since) {
  const service::MutexLock lock(mutex_);
  std::vector<Episode> found;
  if (!database_) return found;
  Statement rows = database_->Prepare(
      "SELECT message, opened_ns, updated_ns, closed_ns, superseded, seen_ns, authenticated "
      "FROM verdicts WHERE superseded = 0 AND (active = 1 OR closed_ns >= ?) "
      "ORDER BY opened_ns DESC, id");
  rows.Bind(1, since.ns);
  while (rows.Step()) found.push_back(EpisodeOf(rows));
  NoteRead(rows);
  unwritten_.MergeInto(found, found.size() + unwritten_.verdicts.size(), [&](const Episode& each) {
    return !each.superseded && (each.open() || each.closed >= since);
  });
  return found;
}

WallNs Store::VerdictsReachBackTo() {
  const service::MutexLock lock(mutex_);
  if (!database_) return WallNs();
  Statement row = database_->Prepare("SELECT COUNT(*), MIN(opened_ns) FROM verdicts");
  // Fewer than the bound: none has left.
  if (!row.Step() || row.Integer(0) < kMaxVerdicts) return WallNs();
  return WallNs(row.Integer(1));
}

}  // namespace fathom::collector
