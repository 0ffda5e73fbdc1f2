// The part of Store that keeps the accounts of running jobs, so that they go on after a restart.
#include <utility>

#include "collector/store/store.h"

namespace fathom::collector {

absl::Status Store::KeepAccount(const std::string& job, WallNs kept, std::string_view bytes) {
  const service::MutexLock lock(mutex_);
  if (!database_) return Note(absl::UnavailableError("no memory"));
  Statement put = database_->Prepare(
      "INSERT INTO accounts(job, kept_ns, message) VALUES(?, ?, ?) ON CONFLICT(job) DO UPDATE SET "
      "kept_ns = excluded.kept_ns, message = excluded.message");
  put.Bind(1, job).Bind(2, kept.ns).BindBlob(3, bytes);
  absl::Status status = Note(Fenced(job, put));
  if (!absl::IsAborted(status)) RememberAccount(job, kept, bytes);
  if (!status.ok()) return status;
  // Of jobs that were never seen to end.
  Statement trim = database_->Prepare(
      "DELETE FROM accounts WHERE job NOT IN "
      "(SELECT job FROM accounts ORDER BY kept_ns DESC LIMIT ?)");
  return Note(trim.Bind(1, kMaxJobs).Run());
}

absl::Status Store::ForgetAccount(const std::string& job) {
  const service::MutexLock lock(mutex_);
  if (!database_) return Note(absl::UnavailableError("no memory"));
  Statement drop = database_->Prepare("DELETE FROM accounts WHERE job = ?");
  absl::Status status = Note(Fenced(job, drop.Bind(1, job)));
  if (!absl::IsAborted(status)) RememberAccount(job, WallNs(), "");
  return status;
}

std::optional<std::string> Store::FindAccount(const std::string& job) {
  const service::MutexLock lock(mutex_);
  auto newest = Newest(kAccountTable, job);
  if (!newest) return std::nullopt;
  return std::move(newest->second);
}

}  // namespace fathom::collector
