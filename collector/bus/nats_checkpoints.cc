#include "collector/bus/nats_checkpoints.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include "collector/bus/bus_names.h"

namespace fathom::collector {
namespace {

constexpr int kTries = 3;

}  // namespace

absl::StatusOr<std::unique_ptr<NatsCheckpoints>> NatsCheckpoints::Open(NatsConnection& connection) {
  std::unique_ptr<NatsCheckpoints> checkpoints(new NatsCheckpoints);
  auto bucket = OpenBucket(connection, kBucket, kKept);
  if (!bucket.ok()) return bucket.status();
  checkpoints->bucket_ = *std::move(bucket);
  return checkpoints;
}

absl::StatusOr<NatsCheckpoints::Entry> NatsCheckpoints::Read(const std::string& job) {
  kvEntry* raw = nullptr;
  const natsStatus s = kvStore_Get(&raw, bucket_.get(), BusToken(job).c_str());
  const NatsEntry entry(raw);
  if (s == NATS_NOT_FOUND) return Entry();
  if (s != NATS_OK) return NatsFailure(absl::StrCat("checkpoint of ", job), s);
  Entry read;
  read.revision = kvEntry_Revision(raw);
  const std::string_view value(static_cast<const char*>(kvEntry_Value(raw)),
                               static_cast<std::size_t>(kvEntry_ValueLen(raw)));
  const std::size_t end = value.find('\n');
  if (end == std::string_view::npos ||
      !absl::SimpleAtoi(std::string(value.substr(0, end)), &read.token)) {
    read.token = 0;
    return read;
  }
  read.bytes = value.substr(end + 1);
  return read;
}

absl::Status NatsCheckpoints::Swap(const std::string& job, std::string_view value,
                                   std::uint64_t revision) {
  const std::string key = BusToken(job);
  const auto size = static_cast<int>(value.size());
  std::uint64_t now = 0;
  const natsStatus s =
      revision == 0
          ? kvStore_Create(&now, bucket_.get(), key.c_str(), value.data(), size)
          : kvStore_Update(&now, bucket_.get(), key.c_str(), value.data(), size, revision);
  if (s == NATS_OK) {
    const service::MutexLock lock(mutex_);
    revisions_[job] = now;
    return absl::OkStatus();
  }
  return SwapFailure(absl::StrCat("checkpoint of ", job), s);
}

absl::Status NatsCheckpoints::Put(const std::string& job, Leases::Token token,
                                  std::string_view bytes) {
  const std::string value = absl::StrCat(token, "\n", std::string(bytes));
  absl::Status status = absl::AlreadyExistsError("nothing is known of it");
  std::uint64_t revision = 0;
  {
    const service::MutexLock lock(mutex_);
    const auto at = revisions_.find(job);
    if (at != revisions_.end()) revision = at->second;
  }
  if (revision != 0) status = Swap(job, value, revision);
  for (int i = 0; i < kTries && absl::IsAlreadyExists(status); ++i) {
    const auto there = Read(job);
    if (!there.ok()) return there.status();
    if (there->token > token) {
      return absl::AbortedError(absl::StrCat("job ", job, " has a checkpoint of token ",
                                             there->token, ", ours is ", token));
    }
    status = Swap(job, value, there->revision);
  }
  return absl::IsAlreadyExists(status) ? absl::UnavailableError(std::string(status.message()))
                                       : status;
}

absl::StatusOr<std::string> NatsCheckpoints::Get(const std::string& job) {
  auto read = Read(job);
  if (!read.ok()) return read.status();
  if (read->revision == 0) return absl::NotFoundError(absl::StrCat("no checkpoint of ", job));
  if (read->token == 0) return absl::DataLossError(absl::StrCat("no token before that of ", job));
  return std::move(read->bytes);
}

void NatsCheckpoints::Forget(const std::string& job) {
  kvStore_Purge(bucket_.get(), BusToken(job).c_str(), nullptr);
  const service::MutexLock lock(mutex_);
  revisions_.erase(job);
}

}  // namespace fathom::collector
