#include "collector/cluster/checkpoint_keeper.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "collector/cluster/bus_message.h"
#include "diagnosis/model/verdict.h"

namespace fathom::collector {
namespace {

constexpr std::chrono::seconds kTurn{1};

// How strongly it accuses: the place of its grade from the lowest up.
int StrengthOf(const v1::JobMemory::Standing& standing) {
  using diagnosis::Grade;
  int strength = 0;
  for (const Grade grade : {Grade::kUnknown, Grade::kHypothesis, Grade::kSupported}) {
    if (standing.verdict().grade() == ToString(grade)) return strength;
    ++strength;
  }
  return strength;
}

}  // namespace

void FitCheckpoint(v1::JobMemory& memory, std::size_t most, ClusterCounters& counters) {
  const auto drop = [&](auto& record, ClusterCounters::Counter& left_out) {
    if (record.bytes().empty() || memory.ByteSizeLong() <= most) return;
    record.Clear();
    ++left_out;
  };
  if (memory.ByteSizeLong() <= most) return;
  counters.left_out_told += static_cast<std::uint64_t>(memory.told_size());
  memory.clear_told();
  drop(*memory.mutable_run(), counters.left_out_run);
  drop(*memory.mutable_account(), counters.left_out_account);
  drop(*memory.mutable_learnt(), counters.left_out_learnt);
  auto& rows = *memory.mutable_verdicts();
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return StrengthOf(a) > StrengthOf(b); });
  for (; !rows.empty() && memory.ByteSizeLong() > most; rows.RemoveLast()) {
    ++counters.left_out_verdicts;
  }
}

CheckpointKeeper::CheckpointKeeper(Parts parts) : parts_(std::move(parts)) {
  parts_.jobs.OnNews([this] {
    const service::MutexLock lock(mutex_);
    news_ = true;
    wake_.NotifyAll();
  });
}

void CheckpointKeeper::Start() {
  thread_ = std::thread([this] { Run(); });
}

CheckpointKeeper::~CheckpointKeeper() {
  parts_.jobs.OnNews({});
  End();
}

void CheckpointKeeper::End() {
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void CheckpointKeeper::Stop() {
  End();
  Turn(true);
}

void CheckpointKeeper::Run() {
  service::MutexLock lock(mutex_);
  while (true) {
    wake_.WaitFor(mutex_, kTurn,
                  [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || news_; });
    if (stop_) return;
    news_ = false;
    lock.Unlock();
    Turn(false);
    lock.Lock();
  }
}

void CheckpointKeeper::Turn(bool all) {
  const MonoNs now = parts_.clock.Mono();
  const std::vector<std::string> jobs = parts_.jobs.Jobs();  // by name
  {
    const service::MutexLock lock(mutex_);
    std::erase_if(last_, [&](const auto& each) {
      return !std::binary_search(jobs.begin(), jobs.end(), each.first);
    });
  }
  for (const std::string& job : jobs) {
    const std::optional<Place> place = parts_.place_of(job);
    if (!place) continue;
    bool due = all;
    {
      const service::MutexLock lock(mutex_);
      const Last& last = last_[job];
      if (last.refused == place->token) continue;
      due = due || !last.when.known() || now - last.when >= kEvery;
    }
    auto memory = parts_.jobs.TakeChanged(job, !due);
    // Asking it for each job would take too long.
    if (memory && absl::IsUnavailable(Write(job, *place, *std::move(memory)))) return;
  }
}

absl::Status CheckpointKeeper::Write(const std::string& job, const Place& place,
                                     v1::JobMemory memory) {
  FitCheckpoint(memory, parts_.most_bytes, parts_.counters);
  v1::BusCheckpoint checkpoint;
  checkpoint.set_owner(parts_.name);
  checkpoint.set_token(place.token);
  checkpoint.set_position(place.position);
  checkpoint.set_kept_ns(static_cast<std::uint64_t>(parts_.clock.Wall().ns));
  *checkpoint.mutable_memory() = std::move(memory);
  const std::string bytes = BusBytes(std::move(checkpoint));
  const absl::Status status = parts_.kept.Put(job, place.token, bytes);
  ClusterCounters& counters = parts_.counters;
  ++(status.ok()               ? counters.checkpoints_kept
     : absl::IsAborted(status) ? counters.checkpoints_refused
                               : counters.checkpoints_failed);
  if (!status.ok() && !absl::IsAborted(status)) parts_.jobs.Untake(job);
  const service::MutexLock lock(mutex_);
  Last& last = last_[job];
  if (absl::IsAborted(status)) last.refused = place.token;
  if (!status.ok()) return status;
  last.when = parts_.clock.Mono();
  last.bytes = bytes.size();
  return status;
}

absl::StatusOr<std::optional<v1::BusCheckpoint>> CheckpointKeeper::Read(const std::string& job,
                                                                        Leases::Token token) {
  const auto bytes = parts_.kept.Get(job);
  if (absl::IsNotFound(bytes.status())) return std::nullopt;
  if (absl::IsDataLoss(bytes.status())) {
    ++parts_.counters.damaged;
    return std::nullopt;
  }
  if (!bytes.ok()) return bytes.status();
  auto checkpoint = ReadBus<v1::BusCheckpoint>(*bytes, parts_.counters);
  if (!checkpoint) return std::nullopt;
  if (checkpoint->token() > token) {
    return absl::AbortedError("a later owner has a checkpoint of it");
  }
  ++parts_.counters.checkpoints_read;
  return checkpoint;
}

void CheckpointKeeper::Forget(const std::string& job) {
  parts_.jobs.Begin(job, {});  // another life of it may begin here
  parts_.kept.Forget(job);
  const service::MutexLock lock(mutex_);
  last_.erase(job);
}

std::uint64_t CheckpointKeeper::bytes() const {
  const service::MutexLock lock(mutex_);
  std::uint64_t bytes = 0;
  for (const auto& [job, last] : last_) bytes += last.bytes;
  return bytes;
}

}  // namespace fathom::collector
