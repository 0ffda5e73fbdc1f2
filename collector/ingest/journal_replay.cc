#include "collector/ingest/journal_replay.h"

#include <memory>
#include <string>

#include "collector/ingest/validate.h"
#include "fathom/v1/agent.pb.h"

namespace fathom::collector {
namespace {

class Replayer {
 public:
  explicit Replayer(JobTable& jobs) : jobs_(jobs) {}

  std::int64_t Take(const Told& told) {
    ++replayed_.messages;
    Rejection rejected = Validate(told.message);
    std::int64_t newest = -1;
    if (!rejected) rejected = Apply(told, newest);
    if (rejected) ++replayed_.refused;
    return newest;
  }

  const Replayed& replayed() const { return replayed_; }

 private:
  Rejection Apply(const Told& told, std::int64_t& newest) {
    switch (told.message.body_case()) {
      case v1::AgentMessage::kRank:
        return TakeRank(told, told.message.rank());
      case v1::AgentMessage::kGroup:
        return TakeForJob(told, told.message.group());
      case v1::AgentMessage::kGone:
        return TakeForJob(told, told.message.gone());
      case v1::AgentMessage::kSummary:
        return TakeSummary(told, newest);
      default:
        return RejectReason::kUnasked;
    }
  }

  Rejection TakeRank(const Told& told, const v1::RankInfo& info) {
    if (told.teller.anew) jobs_.Forget(info.job());
    const auto job = jobs_.FindOrAdd(info.job(), told.teller.node);
    if (job == nullptr) return RejectReason::kTooManyJobs;
    const std::size_t room = jobs_.MakeRoom(told.teller.node);
    return Took(told, *job, job->Apply(info, told.teller.node, room, told.teller.boot_id).rejected);
  }

  template <typename Message>
  Rejection TakeForJob(const Told& told, const Message& message) {
    const auto job = jobs_.Find(message.job());
    if (job == nullptr) return RejectReason::kUnknownRank;
    return Took(told, *job, job->Apply(message, told.teller.node));
  }

  Rejection TakeSummary(const Told& told, std::int64_t& newest) {
    const auto job = jobs_.Find(told.message.summary().job());
    if (job == nullptr) return RejectReason::kUnknownRank;
    const auto result = job->Apply(told.message.summary(), told.teller.node);
    newest = result.newest;
    return Took(told, *job, result.rejected);
  }

  static Rejection Took(const Told& told, JobState& job, Rejection rejected) {
    if (rejected) return rejected;
    if (!told.teller.authenticated) job.HeardFromAnybody();
    job.HeardAt(told.when);
    return std::nullopt;
  }

  JobTable& jobs_;
  Replayed replayed_;
};

}  // namespace

Replayed ReplayJournal(Journal& journal, JobTable& jobs) {
  Replayer replayer(jobs);
  journal.Read({[&replayer](const Told& told) { return replayer.Take(told); },
                [&jobs](const std::string& job) { jobs.Forget(job); }});
  return replayer.replayed();
}

}  // namespace fathom::collector
