// The part of Store that lets only the owner of a job write of it.
#include <absl/strings/str_cat.h>

#include <utility>

#include "collector/store/store.h"

namespace fathom::collector {

absl::Status Store::Fence(const std::string& job, std::uint64_t token) {
  const service::MutexLock lock(mutex_);
  fences_[job] = token;
  if (!database_) return absl::UnavailableError("no memory");
  // A server that was started again meanwhile is there once it is asked.
  absl::Status status = database_->Check();
  // In a file nobody else writes it is made when it is needed.
  if (status.ok()) {
    status = database_->Execute(
        "CREATE TABLE IF NOT EXISTS fences(job TEXT PRIMARY KEY, token BIGINT NOT NULL)");
  }
  const auto check = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return CheckToken(job, token); };
  if (status.ok()) status = database_->Transact(check);
  status = Note(std::move(status));
  // A memory that stands in for it has nothing of what others wrote.
  return status.ok() && !opened_.empty() ? absl::UnavailableError(opened_) : status;
}

// Within a transaction: the row is ours until it ends, so that nobody becomes owner meanwhile.
absl::Status Store::CheckToken(const std::string& job, std::uint64_t token) {
  const auto mine = static_cast<std::int64_t>(token);
  Statement raise = database_->Prepare(
      "INSERT INTO fences(job, token) VALUES(?, ?) ON CONFLICT(job) DO UPDATE SET "
      "token = excluded.token WHERE fences.token <= excluded.token");
  if (auto status = raise.Bind(1, job).Bind(2, mine).Run(); !status.ok()) return status;
  Statement asked = database_->Prepare("SELECT token FROM fences WHERE job = ?");
  const std::int64_t newest = asked.Bind(1, job).Step() ? asked.Integer(0) : mine;
  if (!asked.status().ok()) return asked.status();
  if (newest <= mine) return absl::OkStatus();
  ++refused_;
  return absl::AbortedError(absl::StrCat("job ", job, " has another owner by now (token ", newest,
                                         ", ours is ", token, ")"));
}

absl::Status Store::Fenced(const std::string& job, Statement& statement) {
  const auto fence = fences_.find(job);
  if (fence == fences_.end()) return statement.Run();
  return database_->Transact([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    absl::Status status = CheckToken(job, fence->second);
    return status.ok() ? statement.Run() : status;
  });
}

std::uint64_t Store::refused() const {
  const service::MutexLock lock(mutex_);
  return refused_;
}

}  // namespace fathom::collector
