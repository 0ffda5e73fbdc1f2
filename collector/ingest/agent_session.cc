#include "collector/ingest/agent_session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/admission/limits.h"
#include "collector/budget/centre_work.h"
#include "collector/ingest/validate.h"
#include "collector/journal/journal.h"
#include "fathom/v1/agent.pb.h"

namespace fathom::collector {

AgentSession::AgentSession(std::uint64_t id, IngestContext& context,
                           std::weak_ptr<RowsChannel> channel, Witness witness)
    : id_(id),
      context_(context),
      channel_(std::move(channel)),
      witness_(std::move(witness)),
      kept_(context.ops) {
  ++context_.counters.streams_opened;
}

AgentSession::~AgentSession() {
  if (node_.empty()) return;
  context_.registry.Disconnect(id_, node_);
  if (!context_.registry.Connected(node_)) context_.requests.OnDisconnect(node_);
}

AgentSession::Outcome AgentSession::Malformed(RejectReason reason) {
  context_.counters.Reject(reason);
  Outcome outcome;
  outcome.close = ++malformed_ >= kMaxRejectsPerStream;
  return outcome;
}

AgentSession::Outcome AgentSession::OnMessage(const v1::AgentMessage& message) {
  const Doing taking(context_.work, CentrePart::kMessages);
  ++context_.counters.messages;
  context_.counters.bytes += message.ByteSizeLong();
  if (node_.empty()) return Greet(message);
  acknowledged_ = std::max(acknowledged_, message.number());
  context_.registry.Seen(node_);
  if (auto malformed = Validate(message)) return Malformed(*malformed);
  // What comes late or twice after a reconnection is no misbehaviour: counted, nothing more.
  last_ = {};
  const Rejection unwanted = last_.unwanted = Take(message);
  if (unwanted) context_.counters.Reject(*unwanted);
  Outcome outcome;
  // On a new stream the agent says again who takes part.
  outcome.close = std::exchange(tell_again_, false) || (unwanted == RejectReason::kUnknownRank &&
                                                        refused_ && context_.jobs.HasRoom(node_));
  return outcome;
}

AgentSession::Outcome AgentSession::Greet(const v1::AgentMessage& message) {
  const auto refuse = [this](RejectReason reason, std::string why) {
    context_.counters.Reject(reason);
    // The first of a kind is told, so that nobody can fill the log.
    if (context_.counters.streams_refused++ == 0 && context_.on_refused) {
      context_.on_refused(absl::StrCat("an agent's stream is refused: ", why));
    }
    return Outcome{.greet = true, .refused = std::move(why), .close = true};
  };
  if (!message.has_hello()) return refuse(RejectReason::kNoHello, "the first message is not Hello");
  if (auto bad = Validate(message)) return refuse(*bad, "Hello has a bad name");
  if (message.hello().protocol() != kProtocolVersion) {
    return refuse(RejectReason::kProtocol,
                  "protocol " + std::to_string(message.hello().protocol()) +
                      " is not spoken here, only " + std::to_string(kProtocolVersion));
  }
  const std::string& node = message.hello().node();
  if (auto may = witness_.MaySpeakFor(node); !may.ok()) {
    return refuse(RejectReason::kWrongName, std::string(may.message()));
  }
  const auto bad = context_.registry.Connect(id_, message.hello(), channel_, witness_.identity);
  if (bad == RejectReason::kWrongName) {
    return refuse(*bad, absl::StrCat("node ", node, " is connected as somebody else's"));
  }
  if (bad) return refuse(*bad, "too many nodes");
  node_ = node;
  boot_id_ = message.hello().boot_id();
  kept_.Greeted(node_, boot_id_);
  acknowledged_ = message.number();
  return {.greet = true, .refused = "", .close = false};
}

Rejection AgentSession::Take(const v1::AgentMessage& message) {
  switch (message.body_case()) {
    case v1::AgentMessage::kRank:
      return TakeRank(message.rank());
    case v1::AgentMessage::kGroup:
      return KeptIfTaken(message, TakeForJob(message.group()), message.group().job());
    case v1::AgentMessage::kGone:
      return KeptIfTaken(message, TakeForJob(message.gone()), message.gone().job());
    case v1::AgentMessage::kSummary:
      return TakeSummary(message);
    case v1::AgentMessage::kHealth:
      return TakeHealth(message.health());
    case v1::AgentMessage::kCounters:
      context_.registry.Counters(node_, message.counters());
      return std::nullopt;
    case v1::AgentMessage::kPlan:
      context_.registry.Plan(node_, message.plan());
      return std::nullopt;
    case v1::AgentMessage::kRows: {
      const Doing unpacking(context_.work, CentrePart::kRows);
      const Rejection rejected = context_.requests.OnReply(node_, message.rows());
      if (!rejected) Took(message.rows().job(), context_.jobs.Find(message.rows().job()).get());
      return rejected;
    }
    case v1::AgentMessage::kWindow:
      return TakeForJob(message.window());
    case v1::AgentMessage::kTrace:
      return TakeForJob(message.trace());
    case v1::AgentMessage::kStacks:
      return TakeForJob(message.stacks());
    case v1::AgentMessage::kCapture:
      return TakeCapture(message.capture());
    case v1::AgentMessage::kProbe:
      return context_.probes == nullptr ? RejectReason::kUnasked
                                        : context_.probes->OnAnswer(node_, message.probe());
    case v1::AgentMessage::kFacts:
      return StoredIfTaken(message, TakeForJob(message.facts()), message.facts().job());
    case v1::AgentMessage::kOps:
      return TakeOps(message);
    case v1::AgentMessage::kHello:
    case v1::AgentMessage::BODY_NOT_SET:
      break;
  }
  return std::nullopt;
}

void AgentSession::Took(const std::string& name, JobState* job) {
  if (!authenticated_ && job != nullptr) job->HeardFromAnybody();
  context_.on_change(name);
}

void AgentSession::Keep(const v1::AgentMessage& message, bool anew, std::int64_t newest) {
  if (context_.journal == nullptr) return;
  const Doing keeping(context_.work, CentrePart::kJournal);
  journaled_ = context_.journal->Append({node_, boot_id_, authenticated_, anew}, message, newest);
}

Rejection AgentSession::KeptIfTaken(const v1::AgentMessage& message, Rejection rejected,
                                    const std::string& job) {
  if (!rejected) Keep(message, false, -1);
  return StoredIfTaken(message, rejected, job);
}

Rejection AgentSession::StoredIfTaken(const v1::AgentMessage& message, Rejection rejected,
                                      const std::string& job) {
  if (!rejected) kept_.Keep(job, message);
  return rejected;
}

template <typename Message>
Rejection AgentSession::TakeForJob(const Message& message) {
  const auto job = context_.jobs.Find(message.job());
  if (job == nullptr) return RejectReason::kUnknownRank;
  const Rejection rejected = job->Apply(message, node_);
  if (!rejected) Took(message.job(), job.get());
  if constexpr (requires { message.rank(); }) {
    if (rejected) AnnounceAgain(message.job(), message.rank());
  }
  return rejected;
}

Rejection AgentSession::TakeCapture(const v1::CaptureReply& reply) {
  if (context_.captures == nullptr) return RejectReason::kUnasked;
  const Rejection rejected = context_.captures->OnReply(node_, reply);
  if (!rejected) context_.on_change(reply.job());
  return rejected;
}

void AgentSession::AnnounceAgain(const std::string& job, std::uint32_t rank) {
  const auto at = foreign_.find({job, rank});
  if (at == foreign_.end()) return;
  const v1::RankInfo info = at->second;
  if (!TakeRank(info)) tell_again_ = true;
}

void AgentSession::NoteForeign(const v1::RankInfo& info, const Rejection& rejected) {
  const std::pair<std::string, std::uint32_t> who(info.job(), info.rank());
  if (rejected != RejectReason::kNotOwner) {
    foreign_.erase(who);
  } else if (foreign_.size() < kMaxForeignRanks || foreign_.contains(who)) {
    foreign_[who] = info;
  }
}

void AgentSession::TellFull(const v1::RankInfo& info, const std::string& bound) {
  refused_ = true;
  if (std::exchange(told_full_, true) || !context_.on_refused) return;
  context_.on_refused(absl::StrCat("job ", info.job(), ": rank ", info.rank(), " of node ", node_,
                                   " is refused, and others may be: ", bound, " is reached"));
}

Rejection AgentSession::TakeRank(const v1::RankInfo& info) {
  const auto job = context_.jobs.FindOrAdd(info.job(), node_);
  if (job == nullptr) {
    TellFull(info, "max_jobs or max_agent_jobs");
    return RejectReason::kTooManyJobs;
  }
  const auto result = job->Apply(info, node_, context_.jobs.MakeRoom(node_), boot_id_);
  if (result.rejected == RejectReason::kTooManyRanks) {
    TellFull(info, "max_ranks or max_agent_ranks");
  }
  NoteForeign(info, result.rejected);
  if (result.rejected) return result.rejected;
  last_.anew = result.restarted;
  ranks_ = std::min(ranks_ + 1, kMostRanksCounted);
  Took(info.job(), job.get());
  v1::AgentMessage message;
  *message.mutable_rank() = info;
  Keep(message, result.restarted, -1);
  kept_.Keep(info.job(), message);
  return std::nullopt;
}

Rejection AgentSession::TakeSummary(const v1::AgentMessage& message) {
  const v1::SummaryBatch& batch = message.summary();
  const auto job = context_.jobs.Find(batch.job());
  if (job == nullptr) return RejectReason::kUnknownRank;
  const auto result = job->Apply(batch, node_);
  context_.counters.summary_rows += static_cast<std::uint64_t>(result.rows);
  context_.counters.repeated_rows += static_cast<std::uint64_t>(result.repeats);
  context_.counters.late_rows += static_cast<std::uint64_t>(result.too_old);
  if (result.rows > 0) {
    Took(batch.job(), job.get());
    Keep(message, false, result.newest);
    kept_.Keep(batch.job(), message);
  }
  if (result.rejected) AnnounceAgain(batch.job(), batch.rank());
  return result.rejected;
}

Rejection AgentSession::TakeHealth(const v1::HealthBatch& batch) {
  if (batch.has_node()) context_.registry.Health(node_, batch.node());
  if (context_.hardware != nullptr && batch.has_hardware()) {
    context_.hardware->Apply(node_, batch.hardware());
  } else if (context_.hardware != nullptr && batch.has_node()) {
    context_.hardware->NothingNew(node_, WallNs(batch.node().sampled_wall_ns()));
  }
  Rejection first;
  std::vector<const v1::RankHealth*> taken;
  for (const auto& health : batch.ranks()) {
    const Rejection bad = TakeForJob(health);
    if (!bad) taken.push_back(&health);
    if (bad && !first) first = bad;
  }
  kept_.KeepHealth(taken);
  return first;
}

Rejection AgentSession::TakeOps(const v1::AgentMessage& message) {
  const v1::OpsBlock& block = message.ops();
  if (!kept_.Holds(block.job())) return RejectReason::kUnasked;
  const auto job = context_.jobs.Find(block.job());
  if (job == nullptr) return RejectReason::kUnknownRank;
  Rejection rejected;
  job->Read([&](const RankTable& ranks, const GroupTable&, const SummaryWindow&) {
    for (const std::uint32_t rank : block.ranks()) {
      if (!rejected) rejected = ranks.CheckOwner(RankId(rank), node_);
    }
  });
  return StoredIfTaken(message, rejected, block.job());
}

}  // namespace fathom::collector
