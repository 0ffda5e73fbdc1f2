#include "collector/import/fathom/replay.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/config/collector_config.h"
#include "collector/ingest/validate.h"
#include "diagnosis/engine/diagnose.h"
#include "fathom/v1/agent.pb.h"
#include "proto/packing/unpack_ops.h"

namespace fathom::collector {
// Stands at the newest entry.
class Replay::ReplayClock final : public Clock {
 public:
  WallNs Wall() const override { return WallNs(now_); }
  MonoNs Mono() const override { return MonoNs(now_); }
  Nanos ThreadCpu() const override { return Nanos(); }  // a replay need not spare the machine
  void MoveTo(std::int64_t wall_ns) { now_ = std::max(now_, wall_ns); }
  void Advance(Nanos by) { now_ += by.count; }

 private:
  std::int64_t now_ = 1;  // 0 means: not known
};

struct Replay::Parts {
  explicit Parts(const ImportLimits& limits)
      : topology(limits.topology),
        jobs(clock, {.max_ranks = limits.ranks}),
        registry(clock),
        requests(registry, counters, clock),
        ledger([](VerdictChange, const Episode&) {}),
        diagnoser({jobs, registry, requests, ledger, clock, nullptr, nullptr},
                  {diagnosis::Watch,
                   [this](const diagnosis::JobView& view, const diagnosis::Suspicion& suspicion,
                          const diagnosis::DiagnosisConfig& config) {
                     return DiagnoseWithRows(view, suspicion, config);
                   }},
                  limits.thresholds != nullptr ? *limits.thresholds : diagnosis::DiagnosisConfig{},
                  Nanos::FromSeconds(CollectorConfig{}.job_timeout_s)),
        context{jobs, registry, requests, counters,
                [this](const std::string& job) { diagnoser.Notify(job); }} {}

  diagnosis::Diagnosis DiagnoseWithRows(diagnosis::JobView view,
                                        const diagnosis::Suspicion& suspicion,
                                        const diagnosis::DiagnosisConfig& config) {
    const auto whole = wholes.find(view.name);
    if (whole != wholes.end()) view.rows = whole->second.Rows(suspicion.rows);
    return diagnosis::DiagnoseWired(view, suspicion, config, topology);
  }

  const diagnosis::Topology* const topology;
  ReplayClock clock;
  JobTable jobs;
  SessionRegistry registry;
  IngestCounters counters;
  RowRequests requests;
  VerdictLedger ledger;
  Diagnoser diagnoser;
  IngestContext context;
  std::map<std::string, WholeJob, std::less<>> wholes;
  std::map<std::string, std::uint32_t, std::less<>> incarnations;
};

Replay::Replay(const ImportLimits& limits) : parts_(std::make_unique<Parts>(limits)) {}

Replay::~Replay() { sessions_.clear(); }  // they refer to parts_

// A node that greets again has connected anew.
AgentSession& Replay::SessionOf(std::size_t file, const v1::RecordingEntry& entry) {
  const bool of_many = !entry.node().empty();
  auto& session = sessions_[{of_many ? 0 : file, entry.node()}];
  if (of_many && entry.message().has_hello()) session.reset();
  if (session == nullptr) {
    session = std::make_unique<AgentSession>(++last_session_, parts_->context,
                                             std::weak_ptr<RowsChannel>());
  }
  return *session;
}

absl::Status Replay::Add(std::size_t file, const v1::RecordingEntry& entry) {
  AgentSession& session = SessionOf(file, entry);
  parts_->clock.MoveTo(entry.wall_ns());
  if (parts_->clock.Mono() >= next_look_) Look();
  if (entry.message().has_rows()) {
    KeepRows(entry.message().rows());
    return absl::OkStatus();
  }
  if (entry.message().has_capture()) {
    KeepCapture(entry.message());
    return absl::OkStatus();
  }
  if (entry.message().has_ops()) {
    KeepOps(entry.node(), entry.message().ops());
    return absl::OkStatus();
  }
  const auto outcome = session.OnMessage(entry.message());
  if (!outcome.refused.empty()) return absl::InvalidArgumentError(outcome.refused);
  if (outcome.close) return absl::InvalidArgumentError("too many messages make no sense");
  if (Validate(entry.message())) {
    ++rejected_;
  } else {
    Keep(entry);
  }
  return absl::OkStatus();
}

void Replay::Keep(const v1::RecordingEntry& entry) {
  const v1::AgentMessage& message = entry.message();
  if (message.has_rank()) {
    const std::string& name = message.rank().job();
    const auto job = parts_->jobs.Find(name);
    if (job == nullptr) return;
    const std::uint32_t incarnation = job->Figures().incarnation;
    WholeJob& whole = parts_->wholes[name];
    if (std::exchange(parts_->incarnations[name], incarnation) != incarnation) whole.Clear();
    if (entry.mono_ns() > 0) {
      whole.SetClock(RankId(message.rank().rank()), entry.wall_ns() - entry.mono_ns());
    }
  }
  if (!message.has_summary()) return;
  const v1::SummaryBatch& batch = message.summary();
  const auto whole = parts_->wholes.find(batch.job());
  if (whole == parts_->wholes.end()) return;
  if (entry.mono_ns() == 0) whole->second.SetClock(RankId(batch.rank()), batch.mono_to_wall_ns());
  whole->second.Add(batch);
}

// What a collector of several keeps it took in without asking whose the ranks are.
bool Replay::OfAnother(const std::string& node, const v1::OpsBlock& block) const {
  const auto job = parts_->jobs.Find(block.job());
  bool another = false;
  if (job == nullptr) return another;
  job->Read([&](const RankTable& ranks, const GroupTable&, const SummaryWindow&) {
    for (const std::uint32_t rank : block.ranks()) {
      another = another || ranks.CheckOwner(RankId(rank), node) == RejectReason::kNotOwner;
    }
  });
  return another;
}

// A block that the disk had when its collector died is sent again to the next one.
void Replay::KeepOps(const std::string& node, const v1::OpsBlock& block) {
  if (serials_.Repeated(node, block.serial())) return;
  if (!node.empty() && OfAnother(node, block)) {
    ++rejected_;
    return;
  }
  const auto rows = UnpackOps(block);
  if (rows.ok()) {
    KeepRows(*rows);
  } else {
    ++rejected_;
  }
}

void Replay::KeepRows(const v1::RowsReply& reply) {
  v1::AgentMessage message;
  *message.mutable_rows() = reply;
  message.mutable_rows()->set_request_id(1);  // asked for by nobody, checked all the same
  const auto whole = parts_->wholes.find(reply.job());
  if (Validate(message) || whole == parts_->wholes.end()) {
    ++rejected_;
    return;
  }
  for (const v1::RankRows& rows : reply.ranks()) whole->second.Add(rows);
}

void Replay::KeepCapture(const v1::AgentMessage& message) {
  if (Validate(message)) {
    ++rejected_;
  } else {
    captures_.Take(message.capture(), parts_->clock);
  }
}

void Replay::Look() {
  const MonoNs now = parts_->clock.Mono();
  if (!first_.known()) first_ = now;
  next_look_ = now + std::max(kLook, Nanos((now - first_).count / kLooksAnEpoch));
  parts_->diagnoser.RunDue();
  captures_.Tell(parts_->jobs, parts_->ledger, parts_->clock, false);
}

std::vector<ReplayedJob> Replay::Finish() {
  parts_->diagnoser.RunDue();
  // What came in the last moment waits for the gap between two looks.
  parts_->clock.Advance(kLook + kLook);
  parts_->diagnoser.RunDue();
  captures_.Tell(parts_->jobs, parts_->ledger, parts_->clock, true);
  std::vector<ReplayedJob> out;
  for (const auto& job : parts_->jobs.All()) {
    if (job->rank_count() == 0) continue;
    ReplayedJob replayed;
    replayed.name = job->name();
    replayed.view = job->View([](std::string_view) { return true; });
    WholeJob& whole = parts_->wholes[job->name()];
    whole.TakeInto(replayed.view);
    replayed.forgotten = whole.forgotten();
    replayed.incarnations = job->Figures().incarnation;
    replayed.episodes = parts_->ledger.Of(job->name());
    out.push_back(std::move(replayed));
  }
  std::stable_sort(out.begin(), out.end(), [](const ReplayedJob& a, const ReplayedJob& b) {
    return a.view.ranks.size() > b.view.ranks.size();
  });
  return out;
}

}  // namespace fathom::collector
