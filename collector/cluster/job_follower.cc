#include "collector/cluster/job_follower.h"

#include "collector/cluster/bus_message.h"

namespace fathom::collector {

using From = FarAgents::From;

absl::StatusOr<std::unique_ptr<JobFollower>> JobFollower::Start(const Parts& parts, std::string job,
                                                                std::function<void()> caught_up) {
  std::unique_ptr<JobFollower> follower(new JobFollower(parts, std::move(job)));
  JobFollower* const mine = follower.get();
  auto words = parts.bus.Hear(WordsOfJob(mine->job_),
                              [mine](std::string_view bytes) { mine->OnWord(bytes); });
  if (!words.ok()) return words.status();
  follower->words_ = *std::move(words);
  auto log = parts.bus.Follow(
      mine->job_, [mine](const Bus::Kept& kept) { mine->OnKept(kept); },
      [mine, caught_up = std::move(caught_up)] {
        mine->caught_up_ = true;
        caught_up();
      });
  if (!log.ok()) return log.status();
  follower->log_ = *std::move(log);
  return follower;
}

void JobFollower::OnKept(const Bus::Kept& kept) {
  const bool old = !caught_up_;
  newest_ = kept.sequence;
  behind_ = kept.behind;
  ++parts_.counters.records;
  if (old) {
    ++replayed_;
    ++parts_.counters.replayed;
  }
  const auto record = ReadBus<v1::BusRecord>(kept.bytes, parts_.counters);
  if (!record) return;
  if (parts_.agents.Take(*record, old ? From::kOldLog : From::kLog)) anew_ = kept.sequence;
  if (!old) return;
  const auto job = parts_.jobs.Find(job_);
  if (job != nullptr) job->HeardAt(WallNs(record->told_unix_ns()));
}

// While the log is read they would be of ranks that are not known yet; they come again.
void JobFollower::OnWord(std::string_view bytes) {
  if (!caught_up_) return;
  const auto record = ReadBus<v1::BusRecord>(bytes, parts_.counters);
  if (record && record->has_message()) parts_.agents.Take(*record, From::kWord);
}

}  // namespace fathom::collector
