// The part of Store that keeps records of recoveries.
#include <utility>

#include "collector/store/store.h"

namespace fathom::collector {
namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;

}  // namespace

absl::Status Store::Save(const ToldRecovery& recovery) {
  const service::MutexLock lock(mutex_);
  absl::Status status = Note(Write(recovery));
  return status.ok() ? Note(TrimRecoveries(recovery)) : status;
}

absl::Status Store::Write(const ToldRecovery& recovery) {
  if (!database_) return absl::UnavailableError("no memory");
  Statement put = database_->Prepare(
      "INSERT INTO recoveries(id, job, begun_ns, told_ns, message) VALUES(?, ?, ?, ?, ?) "
      "ON CONFLICT(id) DO UPDATE SET job = excluded.job, begun_ns = excluded.begun_ns, "
      "told_ns = excluded.told_ns, message = excluded.message");
  put.Bind(1, recovery.id).Bind(2, recovery.job).Bind(3, recovery.times.begun_ns);
  return put.Bind(4, recovery.told_ns).Bind(5, ToldRecoveryText(recovery)).Run();
}

absl::Status Store::TrimRecoveries(const ToldRecovery& newest) {
  Statement of_job = database_->Prepare(
      "DELETE FROM recoveries WHERE job = ?1 AND id NOT IN (SELECT id FROM recoveries "
      "WHERE job = ?1 ORDER BY begun_ns DESC LIMIT ?2)");
  if (auto status = of_job.Bind(1, newest.job).Bind(2, kMaxRecoveriesOfJob).Run(); !status.ok()) {
    return status;
  }
  Statement old = database_->Prepare("DELETE FROM recoveries WHERE told_ns < ?");
  if (auto status = old.Bind(1, newest.told_ns - kMaxRecoveryDays * kDayNs).Run(); !status.ok()) {
    return status;
  }
  Statement all = database_->Prepare(
      "DELETE FROM recoveries WHERE id NOT IN (SELECT id FROM recoveries ORDER BY begun_ns DESC "
      "LIMIT ?)");
  return all.Bind(1, kMaxRecoveries).Run();
}

std::vector<ToldRecovery> Store::ReadRecoveries(const std::string& job, std::int64_t since_ns,
                                                std::int64_t limit) {
  std::vector<ToldRecovery> recoveries;
  if (!database_) return recoveries;
  Statement rows = database_->Prepare(
      "SELECT message FROM recoveries WHERE (?1 = '' OR job = ?1) AND told_ns >= ?2 "
      "ORDER BY begun_ns DESC, id LIMIT ?3");
  rows.Bind(1, job).Bind(2, since_ns).Bind(3, limit);
  while (rows.Step()) {
    auto told = ReadToldRecovery(rows.Text(0));
    if (told.ok()) recoveries.push_back(*std::move(told));
  }
  return recoveries;
}

std::vector<ToldRecovery> Store::Recoveries(const std::string& job, std::int64_t limit) {
  const service::MutexLock lock(mutex_);
  return ReadRecoveries(job, 0, limit);
}

std::vector<ToldRecovery> Store::RecoveriesSince(WallNs since) {
  const service::MutexLock lock(mutex_);
  return ReadRecoveries("", since.ns, kMaxRecoveries);
}

}  // namespace fathom::collector
