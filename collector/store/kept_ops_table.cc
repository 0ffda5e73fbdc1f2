#include "collector/store/kept_ops_table.h"

namespace fathom::collector {

// Of two that make the table at once one fails, and finds it made.
absl::Status KeptOpsTable::Ready() {
  if (database_ == nullptr) {
    auto opened = Database::Open(place_);
    if (!opened.ok()) return opened.status();
    database_ = *std::move(opened);
  }
  if (absl::Status status = database_->Check(); !status.ok()) return status;
  database_
      ->Execute(
          "CREATE TABLE IF NOT EXISTS kept_ops(collector TEXT NOT NULL, job TEXT NOT NULL, "
          "from_ns BIGINT NOT NULL, to_ns BIGINT NOT NULL, ranks TEXT NOT NULL, "
          "PRIMARY KEY(collector, job, from_ns))")
      .IgnoreError();
  return absl::OkStatus();
}

absl::Status KeptOpsTable::Save(const KeptOps& kept) {
  const service::MutexLock lock(mutex_);
  if (absl::Status ready = Ready(); !ready.ok()) return ready;
  Statement put = database_->Prepare(
      "INSERT INTO kept_ops(collector, job, from_ns, to_ns, ranks) VALUES(?, ?, ?, ?, ?) "
      "ON CONFLICT(collector, job, from_ns) DO UPDATE SET to_ns = excluded.to_ns, "
      "ranks = excluded.ranks");
  put.Bind(1, kept.collector).Bind(2, kept.job).Bind(3, kept.from.ns).Bind(4, kept.to.ns);
  return put.Bind(5, kept.ranks).Run();
}

absl::Status KeptOpsTable::Forget(const std::string& collector, WallNs before) {
  const service::MutexLock lock(mutex_);
  if (absl::Status ready = Ready(); !ready.ok()) return ready;
  Statement gone = database_->Prepare("DELETE FROM kept_ops WHERE collector = ? AND to_ns < ?");
  return gone.Bind(1, collector).Bind(2, before.ns).Run();
}

absl::StatusOr<std::vector<KeptOps>> KeptOpsTable::Of(const std::string& job) {
  const service::MutexLock lock(mutex_);
  if (absl::Status ready = Ready(); !ready.ok()) return ready;
  Statement rows = database_->Prepare(
      "SELECT collector, from_ns, to_ns, ranks FROM kept_ops WHERE job = ? "
      "ORDER BY collector, from_ns");
  rows.Bind(1, job);
  std::vector<KeptOps> kept;
  while (rows.Step()) {
    kept.push_back(
        {rows.Text(0), job, WallNs(rows.Integer(1)), WallNs(rows.Integer(2)), rows.Text(3)});
  }
  if (!rows.status().ok()) return rows.status();
  return kept;
}

}  // namespace fathom::collector
