#include "collector/cluster/door_session.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "collector/admission/limits.h"
#include "collector/bus/bus_names.h"
#include "collector/cluster/bus_message.h"
#include "collector/ingest/validate.h"
#include "fathom/v1/agent.pb.h"

namespace fathom::collector {
namespace {

// Where a message stands in the log of its job.
struct Kept {
  std::string job, key;
};

std::string OfRank(std::uint32_t rank, const std::string& kind) {
  return absl::StrCat("r", rank, ".", kind);
}

// Nothing: it is of the moment.
std::optional<Kept> PlaceOf(const v1::AgentMessage& message) {
  switch (message.body_case()) {
    case v1::AgentMessage::kRank:
      return Kept{message.rank().job(), OfRank(message.rank().rank(), "i")};
    case v1::AgentMessage::kGroup:
      return Kept{message.group().job(),
                  OfRank(message.group().rank(), absl::StrCat("g", message.group().id()))};
    case v1::AgentMessage::kGone:
      return Kept{message.gone().job(), OfRank(message.gone().rank(), "d")};
    case v1::AgentMessage::kSummary:
      return Kept{message.summary().job(), OfRank(message.summary().rank(), "s")};
    case v1::AgentMessage::kFacts:
      return Kept{message.facts().job(), OfRank(message.facts().rank(), "f")};
    default:
      return std::nullopt;
  }
}

// The job of an answer to an order.
const std::string* JobAnswered(const v1::AgentMessage& message) {
  switch (message.body_case()) {
    case v1::AgentMessage::kRows:
      return &message.rows().job();
    case v1::AgentMessage::kWindow:
      return &message.window().job();
    case v1::AgentMessage::kTrace:
      return &message.trace().job();
    case v1::AgentMessage::kStacks:
      return &message.stacks().job();
    case v1::AgentMessage::kCapture:
      return &message.capture().job();
    default:
      return nullptr;
  }
}

}  // namespace

DoorSession::DoorSession(std::uint64_t id, DoorContext& context, std::weak_ptr<RowsChannel> channel,
                         const Witness& witness)
    : context_(context),
      near_(id, context.ingest, channel, witness),
      kept_(context.ingest.ops),
      connection_(context.doors.Add(std::move(channel), again_)) {
  record_.set_door(context_.name);
  record_.set_connection(connection_);
  record_.set_identity(witness.identity);
}

// Its jobs' owners hear that it is gone.
DoorSession::~DoorSession() {
  context_.doors.Remove(connection_);
  for (const std::string& job : jobs_) {
    context_.bus.Append({job, absl::StrCat("n.", BusToken(near_.node()))}, Record(nullptr));
  }
}

std::string DoorSession::Record(const v1::AgentMessage* message) {
  record_.set_told_unix_ns(context_.clock.Wall().ns);
  if (message != nullptr) {
    *record_.mutable_message() = *message;
  } else {
    record_.clear_message();
  }
  return BusBytes(record_);
}

void DoorSession::Authenticate() {
  near_.Authenticate();
  record_.set_authenticated(true);
}

StreamSession::Outcome DoorSession::Greet(const v1::AgentMessage& message) {
  const Outcome outcome = near_.OnMessage(message);
  acknowledged_ = near_.acknowledged();
  if (!near_.node().empty()) {
    *record_.mutable_hello() = message.hello();
    kept_.Greeted(near_.node(), message.hello().boot_id());
  }
  return outcome;
}

StreamSession::Outcome DoorSession::Malformed(RejectReason reason) {
  context_.ingest.counters.Reject(reason);
  Outcome outcome;
  outcome.close = ++malformed_ >= kMaxRejectsPerStream;
  return outcome;
}

StreamSession::Outcome DoorSession::OnMessage(const v1::AgentMessage& message) {
  if (near_.node().empty()) return Greet(message);
  acknowledged_ = std::max(acknowledged_, message.number());
  Outcome outcome;
  if (auto malformed = Validate(message)) {
    outcome = Malformed(*malformed);
  } else {
    outcome = OnSound(message);
  }
  // On a new stream the agent says again who takes part.
  outcome.close = outcome.close || again_->exchange(false);
  return outcome;
}

StreamSession::Outcome DoorSession::OnSound(const v1::AgentMessage& message) {
  if (const auto kept = PlaceOf(message)) {
    if (!Admit(kept->job)) return Malformed(RejectReason::kTooManyJobs);
    if (message.has_rank()) ranks_ = std::min(ranks_ + 1, AgentSession::kMostRanksCounted);
    Append(kept->job, kept->key, message);
    kept_.Keep(kept->job, message);
    return {};
  }
  if (message.has_ops()) return TakeOps(message);
  if (const std::string* const job = JobAnswered(message)) {
    TellWord(WordsOfJob(*job), message);
    return {};
  }
  if (message.has_probe()) {
    TellWord(kProbesTopic, message);
    return {};
  }
  if (message.has_health()) {
    TellHealth(message);
    return {};
  }
  return near_.OnMessage(message);
}

// They may be of a rank that has died, which is not announced again on a new stream.
StreamSession::Outcome DoorSession::TakeOps(const v1::AgentMessage& message) {
  const std::string& job = message.ops().job();
  if (!kept_.Holds(job)) {
    context_.ingest.counters.Reject(RejectReason::kUnasked);
    return {};
  }
  if (jobs_of_ops_.size() >= context_.max_jobs && !jobs_of_ops_.contains(job)) {
    return Malformed(RejectReason::kTooManyJobs);
  }
  jobs_of_ops_.insert(job);
  context_.ingest.registry.Seen(near_.node());
  kept_.Keep(job, message);
  return {};
}

bool DoorSession::Admit(const std::string& job) {
  if (!jobs_.contains(job)) {
    if (jobs_.size() >= context_.max_jobs) return false;
    jobs_.insert(job);
  }
  context_.heard(job);
  return true;
}

void DoorSession::Append(const std::string& job, const std::string& key,
                         const v1::AgentMessage& message) {
  context_.ingest.registry.Seen(near_.node());
  appended_ = context_.bus.Append({job, key}, Record(&message));
}

void DoorSession::TellWord(const std::string& topic, const v1::AgentMessage& message) {
  context_.bus.Tell(topic, Record(&message));
}

// Of each job what is of it, with what is of the node; the latter is taken in here as well.
void DoorSession::TellHealth(const v1::AgentMessage& message) {
  v1::AgentMessage of_node;
  of_node.set_number(message.number());
  *of_node.mutable_health() = message.health();
  of_node.mutable_health()->clear_ranks();
  near_.OnMessage(of_node);
  std::map<std::string, v1::AgentMessage> of_jobs;
  std::vector<const v1::RankHealth*> taken;
  for (const v1::RankHealth& rank : message.health().ranks()) {
    if (!jobs_.contains(rank.job())) continue;
    taken.push_back(&rank);
    *of_jobs.try_emplace(rank.job(), of_node).first->second.mutable_health()->add_ranks() = rank;
  }
  for (const auto& [job, told] : of_jobs) TellWord(WordsOfJob(job), told);
  kept_.KeepHealth(taken);
}

}  // namespace fathom::collector
