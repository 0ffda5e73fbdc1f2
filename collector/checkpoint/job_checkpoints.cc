#include "collector/checkpoint/job_checkpoints.h"

#include <algorithm>
#include <utility>

namespace fathom::collector {
namespace {

template <typename Rows, typename Which>
int IndexOf(const Rows& rows, const Which& which) {
  const auto at = std::find_if(rows.begin(), rows.end(), which);
  return at == rows.end() ? -1 : static_cast<int>(at - rows.begin());
}

int VerdictIn(const v1::JobMemory& memory, const std::string& id) {
  return IndexOf(memory.verdicts(), [&](const auto& each) { return each.verdict().id() == id; });
}

int ToldIn(const v1::JobMemory& memory, const std::string& receiver, const std::string& key) {
  return IndexOf(memory.told(), [&](const v1::JobMemory::Told& each) {
    return each.receiver() == receiver && each.key() == key;
  });
}

}  // namespace

const v1::JobMemory::Record& JobCheckpoints::Of(const v1::JobMemory& memory, Kind kind) {
  if (kind == Kind::kLearnt) return memory.learnt();
  return kind == Kind::kAccount ? memory.account() : memory.run();
}

v1::JobMemory::Record& JobCheckpoints::Of(v1::JobMemory& memory, Kind kind) {
  if (kind == Kind::kLearnt) return *memory.mutable_learnt();
  return kind == Kind::kAccount ? *memory.mutable_account() : *memory.mutable_run();
}

JobCheckpoints::Entry* JobCheckpoints::JobOf(const std::string& verdict) {
  for (auto& [job, entry] : jobs_) {
    if (VerdictIn(entry.memory, verdict) >= 0) return &entry;
  }
  return nullptr;
}

void JobCheckpoints::Note(Entry& entry, bool urgent) {
  entry.changed = true;
  if (!urgent || std::exchange(entry.urgent, true)) return;
  if (news_) news_();
}

void JobCheckpoints::Begin(const std::string& job, v1::JobMemory memory) {
  const service::MutexLock lock(mutex_);
  jobs_[job] = {std::move(memory), false, false};
}

void JobCheckpoints::Forget(const std::string& job) {
  const service::MutexLock lock(mutex_);
  jobs_.erase(job);
}

void JobCheckpoints::Put(const std::string& job, v1::JobMemory::Standing verdict, bool written) {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  if (at == jobs_.end()) return;
  auto& rows = *at->second.memory.mutable_verdicts();
  const int row = VerdictIn(at->second.memory, verdict.verdict().id());
  const bool open = verdict.closed_ns() == 0;
  if (row < 0) {
    if (!open && written) return;
    rows.Add(std::move(verdict));
    return Note(at->second, true);
  }
  v1::JobMemory::Standing& kept = rows[row];
  const bool turns = kept.verdict().grade() != verdict.verdict().grade() ||
                     kept.closed_ns() != verdict.closed_ns();
  if (open || !written) {
    kept = std::move(verdict);
  } else {
    rows.DeleteSubrange(row, 1);
  }
  Note(at->second, turns);
}

void JobCheckpoints::Put(const std::string& job, Kind kind, WallNs kept, std::string_view bytes,
                         bool turn) {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  if (at == jobs_.end()) return;
  v1::JobMemory::Record& record = Of(at->second.memory, kind);
  record.set_kept_ns(static_cast<std::uint64_t>(kept.ns));
  record.set_bytes(std::string(bytes));
  Note(at->second, turn);
}

void JobCheckpoints::Put(v1::JobMemory::Told told) {
  const service::MutexLock lock(mutex_);
  Entry* const entry = JobOf(told.key());
  if (entry == nullptr) return;
  const int row = ToldIn(entry->memory, told.receiver(), told.key());
  v1::JobMemory::Told& kept =
      row < 0 ? *entry->memory.add_told() : *entry->memory.mutable_told(row);
  kept = std::move(told);
  Note(*entry, true);
}

void JobCheckpoints::DropTold(const std::string& receiver, const std::string& key) {
  const service::MutexLock lock(mutex_);
  for (auto& [job, entry] : jobs_) {
    const int row = ToldIn(entry.memory, receiver, key);
    if (row < 0) continue;
    entry.memory.mutable_told()->DeleteSubrange(row, 1);
    Note(entry, false);
  }
}

std::optional<JobCheckpoints::Record> JobCheckpoints::Find(const std::string& job,
                                                           Kind kind) const {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  if (at == jobs_.end()) return std::nullopt;
  const v1::JobMemory::Record& record = Of(at->second.memory, kind);
  if (record.bytes().empty()) return std::nullopt;
  return Record{WallNs(static_cast<std::int64_t>(record.kept_ns())), record.bytes()};
}

std::vector<std::string> JobCheckpoints::Runs() const {
  const service::MutexLock lock(mutex_);
  std::vector<std::string> runs;
  for (const auto& [job, entry] : jobs_) {
    if (!entry.memory.run().bytes().empty()) runs.push_back(entry.memory.run().bytes());
  }
  return runs;
}

std::vector<v1::JobMemory::Told> JobCheckpoints::AllTold() const {
  const service::MutexLock lock(mutex_);
  std::vector<v1::JobMemory::Told> all;
  for (const auto& [job, entry] : jobs_) {
    all.insert(all.end(), entry.memory.told().begin(), entry.memory.told().end());
  }
  return all;
}

void JobCheckpoints::OnNews(std::function<void()> news) {
  const service::MutexLock lock(mutex_);
  news_ = std::move(news);
}

std::vector<std::string> JobCheckpoints::Jobs() const {
  const service::MutexLock lock(mutex_);
  std::vector<std::string> jobs;
  for (const auto& [job, entry] : jobs_) jobs.push_back(job);
  return jobs;
}

std::optional<v1::JobMemory> JobCheckpoints::TakeChanged(const std::string& job, bool only_urgent) {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  if (at == jobs_.end() || !(only_urgent ? at->second.urgent : at->second.changed)) {
    return std::nullopt;
  }
  at->second.changed = at->second.urgent = false;
  return at->second.memory;
}

void JobCheckpoints::Untake(const std::string& job) {
  const service::MutexLock lock(mutex_);
  const auto at = jobs_.find(job);
  if (at != jobs_.end()) at->second.changed = at->second.urgent = true;
}

}  // namespace fathom::collector
