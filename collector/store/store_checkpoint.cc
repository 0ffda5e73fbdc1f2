// The part of Store that remembers what it was told of jobs that are owned here, for their
// checkpoints on the bus, and takes up what the owner before had told its own.
#include <algorithm>
#include <string_view>

#include "collector/checkpoint/job_checkpoints.h"
#include "collector/export/verdict_proto.h"
#include "collector/store/learnt_record.h"
#include "collector/store/store.h"

namespace fathom::collector {
namespace {

using Kind = JobCheckpoints::Kind;

v1::JobMemory::Standing StandingOf(const Episode& episode) {
  v1::JobMemory::Standing standing;
  ToProto(episode, *standing.mutable_verdict());
  standing.set_opened_ns(episode.opened.ns);
  standing.set_updated_ns(episode.updated.ns);
  standing.set_closed_ns(episode.closed.ns);
  standing.set_seen_ns(episode.seen.ns);
  standing.set_superseded(episode.superseded);
  standing.set_authenticated(episode.authenticated);
  return standing;
}

Episode EpisodeOfStanding(const v1::JobMemory::Standing& standing) {
  Episode episode = FromProto(standing.verdict());
  episode.opened = WallNs(standing.opened_ns());
  episode.updated = WallNs(standing.updated_ns());
  episode.closed = WallNs(standing.closed_ns());
  episode.seen = WallNs(standing.seen_ns());
  episode.superseded = standing.superseded();
  episode.authenticated = standing.authenticated();
  return episode;
}

}  // namespace

void Store::KeepCheckpoints(JobCheckpoints* checkpoints) {
  const service::MutexLock lock(mutex_);
  checkpoints_ = checkpoints;
}

void Store::Remember(const Episode& episode, bool written) {
  if (checkpoints_ != nullptr) checkpoints_->Put(episode.job, StandingOf(episode), written);
}

void Store::Remember(const std::string& job, const Learnt& learnt, std::string_view record) {
  if (checkpoints_ == nullptr) return;
  const auto before = checkpoints_->Find(job, Kind::kLearnt);
  const auto known = before ? FromRecord(before->bytes) : std::nullopt;
  const bool turn = !known || known->episode.onset != learnt.episode.onset;
  checkpoints_->Put(job, Kind::kLearnt, learnt.kept, record, turn);
}

void Store::RememberAccount(const std::string& job, WallNs kept, std::string_view bytes) {
  if (checkpoints_ != nullptr) checkpoints_->Put(job, Kind::kAccount, kept, bytes);
}

void Store::Remember(const RunRecord& run, std::string_view bytes) {
  if (checkpoints_ != nullptr) checkpoints_->Put(run.job, Kind::kRun, run.last_seen, bytes);
}

void Store::Remember(const KeptNotice& notice) {
  if (checkpoints_ == nullptr) return;
  v1::JobMemory::Told told;
  told.set_receiver(notice.receiver);
  told.set_key(notice.key);
  told.set_waits(notice.waits);
  told.set_bytes(notice.message);
  checkpoints_->Put(std::move(told));
}

std::optional<std::pair<WallNs, std::string>> Store::Newest(const std::string& table,
                                                            const std::string& job) {
  std::optional<std::pair<WallNs, std::string>> newest;
  if (checkpoints_ != nullptr) {
    const Kind kind = table == kLearntTable ? Kind::kLearnt : Kind::kAccount;
    auto record = checkpoints_->Find(job, kind);
    if (record) newest = {record->kept, std::move(record->bytes)};
  }
  if (!database_) return newest;
  Statement row = database_->Prepare("SELECT kept_ns, message FROM " + table + " WHERE job = ?");
  if (!row.Bind(1, job).Step()) return newest;
  const WallNs kept(row.Integer(0));
  if (!newest || kept >= newest->first) newest = {kept, row.Text(1)};
  return newest;
}

std::optional<RunRecord> Store::FindRememberedRun(const std::string& id) const {
  if (checkpoints_ == nullptr) return std::nullopt;
  for (const std::string& bytes : checkpoints_->Runs()) {
    auto run = RunFromBytes(bytes);
    if (run && run->id == id) return run;
  }
  return std::nullopt;
}

std::vector<KeptNotice> Store::WithRemembered(std::vector<KeptNotice> kept) const {
  if (checkpoints_ == nullptr) return kept;
  for (const v1::JobMemory::Told& told : checkpoints_->AllTold()) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const KeptNotice& each) {
      return each.receiver == told.receiver() && each.key == told.key();
    });
    KeptNotice notice{told.receiver(), told.key(), told.waits(), told.bytes()};
    if (same == kept.end()) {
      kept.push_back(std::move(notice));
    } else if (!notice.waits) {
      // Of two, the one that was sent: what has changed since is told by itself.
      *same = std::move(notice);
    }
  }
  return kept;
}

// The newer of the two; what the history lacks is written there.
void Store::TakeUp(const Episode& of_bus) {
  const auto waits = unwritten_.verdicts.find(of_bus.id);
  std::optional<Episode> known;
  if (waits != unwritten_.verdicts.end()) known = waits->second;
  if (!known) known = FindWritten(of_bus.id);
  if (known && known->updated >= of_bus.updated) {
    Remember(*known, waits == unwritten_.verdicts.end());
    return;
  }
  const absl::Status status = Note(Write(of_bus));
  if (status.ok() || absl::IsAborted(status)) return;
  errors_ += unwritten_.Put(of_bus);
  Remember(of_bus, false);
}

void Store::TakeUp(const std::string& job, const v1::JobMemory* memory) {
  const service::MutexLock lock(mutex_);
  if (checkpoints_ == nullptr) return;
  v1::JobMemory of_bus;
  if (memory != nullptr) of_bus = *memory;
  if (!FromRecord(of_bus.learnt().bytes())) of_bus.clear_learnt();
  std::vector<Episode> episodes;
  for (const auto& each : of_bus.verdicts()) episodes.push_back(EpisodeOfStanding(each));
  std::erase_if(episodes, [&](const Episode& each) { return each.job != job || each.id.empty(); });
  of_bus.clear_verdicts();
  checkpoints_->Begin(job, std::move(of_bus));
  for (const Episode& each : episodes) TakeUp(each);
  // The next checkpoint has what the history has.
  for (const Episode& each : OpenIn(job)) Remember(each, true);
  if (const auto learnt = Newest(kLearntTable, job)) {
    checkpoints_->Put(job, Kind::kLearnt, learnt->first, learnt->second);
  }
  if (const auto account = Newest(kAccountTable, job)) {
    checkpoints_->Put(job, Kind::kAccount, account->first, account->second);
  }
}

}  // namespace fathom::collector
