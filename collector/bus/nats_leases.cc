#include "collector/bus/nats_leases.h"

#include <absl/strings/str_cat.h>

#include "collector/bus/bus_names.h"

namespace fathom::collector {
namespace {

using Watcher = std::unique_ptr<kvWatcher, NatsDestroy<kvWatcher, kvWatcher_Destroy>>;

constexpr std::int64_t kPatience_ms = 2000;

}  // namespace

absl::StatusOr<std::unique_ptr<NatsLeases>> NatsLeases::Open(NatsConnection& connection,
                                                             std::string holder, Nanos term,
                                                             const Clock& clock) {
  std::unique_ptr<NatsLeases> leases(new NatsLeases(std::move(holder), term, clock));
  auto bucket = OpenBucket(connection, kBucket);
  if (!bucket.ok()) return bucket.status();
  leases->bucket_ = *std::move(bucket);
  if (auto status = leases->Refresh(); !status.ok()) return status;
  return leases;
}

std::string NatsLeases::ValueOf(bool open, const std::string& holder) {
  return absl::StrCat(open ? "o" : "c", holder);
}

NatsLeases::Entry NatsLeases::EntryOf(std::string_view value, std::uint64_t revision) {
  Entry entry;
  entry.open = !value.starts_with('c');
  entry.holder = value.empty() ? "" : value.substr(1);
  entry.revision = revision;
  return entry;
}

bool NatsLeases::Stands(const Entry& entry) const {
  return !entry.holder.empty() && clock_.Mono() - entry.since < term_;
}

absl::StatusOr<std::map<std::string, NatsLeases::Entry>> NatsLeases::ReadAll() {
  kvWatchOptions options;
  kvWatchOptions_Init(&options);
  options.IgnoreDeletes = true;
  kvWatcher* raw = nullptr;
  natsStatus s = kvStore_WatchAll(&raw, bucket_.get(), &options);
  const Watcher watcher(raw);
  std::map<std::string, Entry> all;
  while (s == NATS_OK) {
    kvEntry* next = nullptr;
    s = kvWatcher_Next(&next, raw, kPatience_ms);
    const NatsEntry entry(next);
    if (s != NATS_OK) break;
    if (next == nullptr) return all;  // all of it has come
    const std::string_view value(static_cast<const char*>(kvEntry_Value(next)),
                                 static_cast<std::size_t>(kvEntry_ValueLen(next)));
    all[NameOfToken(kvEntry_Key(next))] = EntryOf(value, kvEntry_Revision(next));
  }
  return NatsFailure("leases", s);
}

absl::Status NatsLeases::Refresh() {
  auto all = ReadAll();
  if (!all.ok()) return all.status();
  const MonoNs now = clock_.Mono();
  const service::MutexLock lock(mutex_);
  for (auto& [job, entry] : *all) {
    const auto before = entries_.find(job);
    entry.since = now;
    if (before == entries_.end() || before->second.revision < entry.revision) continue;
    entry = before->second;
  }
  entries_ = *std::move(all);
  return absl::OkStatus();
}

absl::Status NatsLeases::Swap(const std::string& job, bool open, const std::string& holder,
                              std::uint64_t revision) {
  const std::string value = ValueOf(open, holder);
  const MonoNs before = clock_.Mono();
  std::uint64_t now = 0;
  const natsStatus s = kvStore_Update(&now, bucket_.get(), BusToken(job).c_str(), value.data(),
                                      static_cast<int>(value.size()), revision);
  if (s == NATS_OK) {
    const service::MutexLock lock(mutex_);
    entries_[job] = {open, holder, now, before};
    return absl::OkStatus();
  }
  return SwapFailure(absl::StrCat("lease of ", job), s);
}

absl::StatusOr<Leases::Token> NatsLeases::Take(const std::string& job) {
  std::uint64_t revision = 0;
  {
    const service::MutexLock lock(mutex_);
    const auto at = entries_.find(job);
    if (at == entries_.end() || !at->second.open) {
      return absl::AbortedError(absl::StrCat("job ", job, " is not open"));
    }
    if (Stands(at->second) && at->second.holder != holder_) {
      return absl::AlreadyExistsError(absl::StrCat(at->second.holder, " owns ", job));
    }
    revision = at->second.revision;
  }
  if (auto status = Swap(job, true, holder_, revision); !status.ok()) return status;
  const service::MutexLock lock(mutex_);
  return entries_[job].revision;
}

absl::StatusOr<NatsLeases::Entry> NatsLeases::Mine(const std::string& job) const {
  const service::MutexLock lock(mutex_);
  const auto at = entries_.find(job);
  if (at != entries_.end() && at->second.holder == holder_) return at->second;
  return absl::AbortedError(absl::StrCat("the lease of ", job, " is not held any more"));
}

absl::Status NatsLeases::Renew(const std::string& job) {
  const auto mine = Mine(job);
  if (!mine.ok()) return mine.status();
  const absl::Status status = Swap(job, mine->open, holder_, mine->revision);
  if (!absl::IsAlreadyExists(status)) return status;
  return absl::AbortedError(status.message());
}

void NatsLeases::Release(const std::string& job) {
  const auto mine = Mine(job);
  if (mine.ok()) Swap(job, mine->open, "", mine->revision).IgnoreError();
}

absl::Status NatsLeases::Open(const std::string& job) {
  Entry entry;
  {
    const service::MutexLock lock(mutex_);
    const auto at = entries_.find(job);
    if (at != entries_.end()) entry = at->second;
  }
  if (entry.revision != 0 && entry.open) return absl::OkStatus();
  if (entry.revision != 0) return Swap(job, true, entry.holder, entry.revision);
  const std::string value = ValueOf(true, "");
  std::uint64_t revision = 0;
  const natsStatus s = kvStore_Create(&revision, bucket_.get(), BusToken(job).c_str(), value.data(),
                                      static_cast<int>(value.size()));
  if (s != NATS_OK) return NatsFailure(absl::StrCat("job ", job), s);
  const service::MutexLock lock(mutex_);
  entries_[job] = {true, "", revision, clock_.Mono()};
  return absl::OkStatus();
}

absl::Status NatsLeases::Close(const std::string& job) {
  const auto mine = Mine(job);
  return mine.ok() ? Swap(job, false, holder_, mine->revision) : mine.status();
}

void NatsLeases::Forget(const std::string& job) {
  kvStore_Purge(bucket_.get(), BusToken(job).c_str(), nullptr);
  const service::MutexLock lock(mutex_);
  entries_.erase(job);
}

std::string NatsLeases::HolderOf(const std::string& job) const {
  const service::MutexLock lock(mutex_);
  const auto at = entries_.find(job);
  return at != entries_.end() && Stands(at->second) ? at->second.holder : std::string();
}

std::vector<std::string> NatsLeases::Jobs() const {
  const service::MutexLock lock(mutex_);
  std::vector<std::string> open;
  for (const auto& [job, entry] : entries_) {
    if (entry.open) open.push_back(job);
  }
  return open;
}

}  // namespace fathom::collector
