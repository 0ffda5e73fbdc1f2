#include "collector/ops/op_store.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fathom/v1/recording.pb.h"
#include "proto/packing/recording_block.h"

namespace fathom::collector {
namespace {

constexpr std::chrono::milliseconds kTick{250};
constexpr char kEntryTag = (1 << 3) | 2;  // RecordingBlock.entries

// A block is its entries one behind the other, each with tag and length: so it grows as bytes.
void AppendEntry(const std::string& entry, std::string& raw) {
  raw += kEntryTag;
  std::size_t length = entry.size();
  while (length >= 0x80) {
    raw += static_cast<char>(length | 0x80);
    length >>= 7;
  }
  raw += static_cast<char>(length);
  raw += entry;
}

bool TellsWho(const v1::AgentMessage& message) {
  return message.has_rank() || message.has_group() || message.has_facts() || message.has_gone();
}

std::string EntryOf(WallNs now, std::string_view node, const v1::AgentMessage& message) {
  v1::RecordingEntry entry;
  entry.set_wall_ns(now.ns);
  entry.set_node(std::string(node));
  *entry.mutable_message() = message;
  entry.mutable_message()->clear_number();
  return entry.SerializeAsString();
}

v1::AgentMessage HelloOf(const OpStore::Teller& teller) {
  v1::AgentMessage message;
  message.mutable_hello()->set_node(std::string(teller.node));
  message.mutable_hello()->set_boot_id(std::string(teller.boot_id));
  message.mutable_hello()->set_protocol(1);
  return message;
}

}  // namespace

absl::StatusOr<std::unique_ptr<OpStore>> OpStore::Open(const OpStoreSettings& settings,
                                                       const Clock& clock) {
  std::unique_ptr<OpStore> store(new OpStore(settings, clock));
  if (absl::Status opened = store->files_.Open(); !opened.ok()) return opened;
  {
    const service::MutexLock lock(store->mutex_);
    store->counters_.files = store->files_.counters();
  }
  store->thread_ = std::thread([raw = store.get()] { raw->Run(); });
  return store;
}

OpStore::~OpStore() {
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t OpStore::Keep(const std::string& job, const Teller& teller,
                            const v1::AgentMessage& message) {
  const service::MutexLock lock(mutex_);
  Job& held = jobs_[job];
  held.heard = clock_.Mono();
  const std::string key = absl::StrCat(std::string(teller.node), "\n", std::string(teller.boot_id));
  if (held.said.insert(std::hash<std::string>()(key)).second) {
    Append(held.who, job, true, EntryOf(clock_.Wall(), teller.node, HelloOf(teller)));
  }
  if (TellsWho(message)) {
    SayOnce(held, job, teller, message);
  } else if (message.has_ops() && held.serials.Repeated(teller.node, message.ops().serial())) {
    ++counters_.repeats;
  } else {
    if (message.has_ops()) {
      stretches_.Heard(job, {message.ops().ranks().begin(), message.ops().ranks().end()},
                       clock_.Wall());
    }
    counters_.ops += message.ops().rows();
    held.data.ops += message.ops().rows();
    Append(held.data, job, false, EntryOf(clock_.Wall(), teller.node, message));
  }
  return kept_;
}

// On each stream messages are numbered anew: what an agent says again after a reconnection has
// another number.
void OpStore::SayOnce(Job& job, const std::string& name, const Teller& teller,
                      const v1::AgentMessage& message) {
  const std::string entry = EntryOf(WallNs(), teller.node, message);
  if (!job.said.insert(std::hash<std::string>()(entry)).second) return;
  Append(job.who, name, true, EntryOf(clock_.Wall(), teller.node, message));
}

void OpStore::Append(Block& block, const std::string& name, bool who, const std::string& entry) {
  if (block.raw.empty()) {
    block.begin = clock_.Wall();
    block.since = clock_.Mono();
    block.first = kept_ + 1;
  }
  ++kept_;
  const std::size_t before = block.raw.size();
  AppendEntry(entry, block.raw);
  pending_bytes_ += block.raw.size() - before;
  if (block.raw.size() >= kBlockBytes) Seal(block, name, who);
  if (pending_bytes_ > kMaxPendingBytes) SealAll(clock_.Mono());
}

void OpStore::Seal(Block& block, const std::string& name, bool who) {
  pending_bytes_ -= block.raw.size();
  if (queued_bytes_ + block.raw.size() > kMaxQueuedBytes) {
    ++counters_.dropped_blocks;
    counters_.dropped_ops += block.ops;
  } else {
    queued_bytes_ += block.raw.size();
    queue_.push_back({name, who, std::move(block)});
    wake_.NotifyAll();
  }
  block = Block();
}

// Who takes part comes first, so that it is on the disk before what they did.
void OpStore::SealAll(MonoNs begun_before) {
  for (auto& [name, job] : jobs_) {
    const auto due = [&](const Block& block) {
      return !block.raw.empty() && block.since <= begun_before;
    };
    const bool data = due(job.data);
    if (!job.who.raw.empty() && (data || due(job.who))) Seal(job.who, name, true);
    if (data) Seal(job.data, name, false);
  }
}

void OpStore::Run() {
  service::MutexLock lock(mutex_);
  while (true) {
    wake_.WaitFor(mutex_, kTick, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stop_ || !queue_.empty();
    });
    const bool last = stop_;  // once: what comes to wait meanwhile is written in another round
    SealAll(last ? clock_.Mono() : clock_.Mono() - kBlockAge);
    std::erase_if(jobs_, [this](const auto& each) {
      return clock_.Mono() - each.second.heard > kIdle && each.second.data.raw.empty() &&
             each.second.who.raw.empty();
    });
    WriteQueue();
    settled_ = SettledNow();
    CallSettled();
    lock.Unlock();
    files_.LetGo(clock_.Wall());
    lock.Lock();
    counters_.files = files_.counters();
    if (last) return;
  }
}

void OpStore::WriteQueue() {
  if (queue_.empty()) return;
  while (!queue_.empty()) {
    const Sealed sealed = std::move(queue_.front());
    queue_.pop_front();
    mutex_.Unlock();
    Write(sealed);
    mutex_.Lock();
    queued_bytes_ -= sealed.block.raw.size();
  }
  mutex_.Unlock();
  const absl::Status synced = files_.Sync();
  mutex_.Lock();
  if (!synced.ok()) Note(synced);
}

// All records before the oldest one that waits.
std::uint64_t OpStore::SettledNow() const {
  std::uint64_t settled = kept_;
  const auto waits = [&settled](const Block& block) {
    if (!block.raw.empty()) settled = std::min(settled, block.first - 1);
  };
  for (const auto& [name, job] : jobs_) waits(job.who), waits(job.data);
  for (const Sealed& sealed : queue_) waits(sealed.block);
  return settled;
}

void OpStore::CallSettled() {
  std::vector<std::function<void()>> done;
  const auto end = waiting_.upper_bound(settled_);
  for (auto at = waiting_.begin(); at != end; ++at) done.push_back(std::move(at->second));
  waiting_.erase(waiting_.begin(), end);
  mutex_.Unlock();
  for (const auto& each : done) each();
  mutex_.Lock();
}

bool OpStore::WhenSettled(std::uint64_t record, std::function<void()> done) {
  const service::MutexLock lock(mutex_);
  if (record <= settled_) return false;
  waiting_.emplace(record, std::move(done));
  return true;
}

void OpStore::Write(const Sealed& sealed) {
  const std::string bytes = PackRecordingBlock(sealed.block.raw);
  const absl::Status written =
      sealed.who ? files_.AppendWho(sealed.job, bytes)
                 : files_.Append(sealed.job, sealed.block.begin, clock_.Wall(), bytes);
  const service::MutexLock lock(mutex_);
  Note(written);
  if (written.ok()) return;
  ++counters_.dropped_blocks;
  counters_.dropped_ops += sealed.block.ops;
  // It is said again when it comes again.
  if (const auto at = jobs_.find(sealed.job); sealed.who && at != jobs_.end()) {
    at->second.said.clear();
  }
}

void OpStore::Note(const absl::Status& written) {
  const std::string why = written.ok() ? "" : std::string(written.message());
  if (why.empty() != failing_.empty() && settings_.log) {
    settings_.log(!why.empty(), why.empty() ? "the store of ops is written again"
                                            : absl::StrCat("the store of ops: ", why));
  }
  failing_ = why;
}

std::vector<KeptStretch> OpStore::TakeStretches() {
  const service::MutexLock lock(mutex_);
  return stretches_.TakeChanged();
}

std::string OpStore::failing() const {
  const service::MutexLock lock(mutex_);
  return failing_;
}

OpStoreCounters OpStore::counters() const {
  const service::MutexLock lock(mutex_);
  return counters_;
}

}  // namespace fathom::collector
