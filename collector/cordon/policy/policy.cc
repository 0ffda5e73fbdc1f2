#include "collector/cordon/policy/policy.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>
#include <utility>

namespace fathom::cordon {
namespace {

Record Of(const Action& action, RecordKind kind, WallNs now, std::string text) {
  Record record;
  record.kind = kind;
  record.time = now;
  record.action = action.id;
  record.node = action.node;
  record.entity = action.entity;
  record.cause = action.cause;
  record.episode = action.episode;
  record.job = action.job;
  record.mode = action.mode;
  record.actor = kOwnName;
  record.text = std::move(text);
  record.evidence = action.evidence;
  return record;
}

Action Planned(const VerdictFact& verdict, Mode mode) {
  Action action;
  action.id = ActionId(verdict);
  action.node = verdict.node;
  action.entity = verdict.entity;
  action.cause = verdict.cause;
  action.episode = verdict.id;
  action.job = verdict.job;
  action.mode = std::string(ToString(mode));
  action.evidence = verdict.sentence;
  return action;
}

Step Written(Record record, Step::Change change = Step::Change::kNone) {
  return {change, true, std::move(record)};
}

Record Whole(RecordKind kind, WallNs now, std::string text) {
  Record record;
  record.kind = kind;
  record.time = now;
  record.actor = kOwnName;
  record.text = std::move(text);
  return record;
}

// For whoever acts on what it was a moment ago.
std::string AsItIs(const Action& action) {
  return absl::StrCat("action ", action.id, " is ", std::string(ToString(action.phase)), " (by ",
                      action.actor, ")");
}

bool Begins(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const Step& s) { return s.change == Step::Change::kHold; });
}

}  // namespace

std::vector<Step> Policy::Next(const Ledger& ledger, const View& view, Moment now) {
  std::vector<Step> steps;
  if (view.verdicts_known) sightings_.Look(view, limits_, now.mono);
  if (view.verdicts_known) ForgetDeclined(view);
  Settle(ledger, view, now, steps);
  Trip(ledger, view, now, steps);
  last_ = now;
  WithdrawClosed(ledger, view, now, steps);
  // What this look has just written is folded in before anything new begins.
  if (!steps.empty() || !view.verdicts_known) return steps;
  const Scene scene{limits_, ledger, view, now.wall};
  for (const VerdictFact& verdict : view.verdicts) {
    if (!WhyNotANodeVerdict(verdict, limits_).empty()) continue;
    if (!sightings_.Confirmed(verdict, limits_, now.mono)) continue;
    if (Decline(verdict, now, steps)) continue;
    Consider(verdict, scene, steps);
    if (Begins(steps)) break;
  }
  return steps;
}

void Policy::Settle(const Ledger& ledger, const View& view, Moment now, std::vector<Step>& steps) {
  for (const auto& [id, action] : ledger.actions()) {
    if (action.phase == Phase::kApproved &&
        now.wall - action.approved >= Nanos::FromSeconds(limits_.approval_ttl_s)) {
      steps.push_back(Written(Of(action, RecordKind::kApprovalExpired, now.wall,
                                 "the approval could not be used in time")));
    }
    if (view.nodes_known) SettleOne(action, view, now, steps);
  }
}

void Policy::SettleOne(const Action& action, const View& view, Moment now,
                       std::vector<Step>& steps) {
  const auto at = view.nodes.find(action.node);
  const bool exists = at != view.nodes.end();
  const bool ours = exists && at->second.owner == action.id;
  const auto settled = [&](RecordKind kind, std::string text) {
    Record record = Of(action, kind, now.wall, std::move(text));
    if (kind == RecordKind::kUndone) record.actor = action.actor;
    record.after = exists ? at->second.note : "";
    steps.push_back(Written(std::move(record)));
  };
  if (action.phase == Phase::kUndoing) {
    if (!ours) return settled(RecordKind::kUndone, "the node no longer carries our tag");
    return RetryUndo(action, now, steps);
  }
  if (action.phase == Phase::kActed) {
    if (!ours) {
      return settled(RecordKind::kRelinquished,
                     exists ? "somebody changed the node" : "the node is gone");
    }
    if (limits_.auto_undo &&
        sightings_.TakenBackFor(action.episode, now.mono) >=
            Nanos::FromSeconds(limits_.undo_delay_s) &&
        sightings_.TakenBackFor(action.episode, now.mono).count > 0) {
      steps.push_back(
          Written(Of(action, RecordKind::kUndoIntended, now.wall, "fathom took the verdict back"),
                  Step::Change::kRelease));
      undo_tried_[action.id] = now.mono;
    }
    return;
  }
  // Also a change that arrived after it was given up for lost.
  if (ours) return settled(RecordKind::kDone, "the node carries our tag");
  if (action.phase != Phase::kActing) return;
  if (now.wall - action.intended < Nanos::FromSeconds(limits_.doubt_s)) return;
  settled(RecordKind::kFailed, "the node does not carry our tag");
}

void Policy::RetryUndo(const Action& action, Moment now, std::vector<Step>& steps) {
  MonoNs& tried = undo_tried_[action.id];
  if (tried.known() && now.mono - tried < kUndoRetry) return;
  tried = now.mono;
  Record record = Of(action, RecordKind::kUndoIntended, now.wall, action.text);
  record.actor = action.actor;
  steps.push_back({Step::Change::kRelease, false, std::move(record)});
}

void Policy::WithdrawClosed(const Ledger& ledger, const View& view, Moment now,
                            std::vector<Step>& steps) const {
  if (!view.verdicts_known) return;
  for (const VerdictFact& verdict : view.verdicts) {
    if (verdict.open) continue;
    const Action* action = ledger.Find(ActionId(verdict));
    if (action == nullptr) continue;
    if (action->phase != Phase::kObserved && action->phase != Phase::kAdvised &&
        action->phase != Phase::kApproved) {
      continue;
    }
    steps.push_back(Written(Of(*action, RecordKind::kWithdrawn, now.wall,
                               "the verdict is over: " + verdict.closed_because)));
  }
}

void Policy::Trip(const Ledger& ledger, const View& view, Moment now, std::vector<Step>& steps) {
  if (!ledger.tripped().empty()) return;
  const auto trip = [&](std::string why) {
    steps.push_back(Written(Whole(RecordKind::kTripped, now.wall, std::move(why))));
  };
  if (last_.mono.known()) {
    const Nanos jump = (now.wall - last_.wall) - (now.mono - last_.mono);
    if (std::max(jump, -jump) > Nanos::FromSeconds(limits_.clock_jump_s)) {
      return trip(absl::StrCat("the wall clock jumped by ", jump.Seconds(), " s"));
    }
  }
  if (ledger.failures_in_row() >= limits_.breaker_failures) {
    return trip(absl::StrCat(ledger.failures_in_row(), " actions in a row failed"));
  }
  const std::size_t suspects = SuspectNodes(view, limits_).size();
  if (suspects >= static_cast<std::size_t>(limits_.breaker_suspects)) {
    trip(absl::StrCat(suspects, " nodes are suspect at once"));
  }
}

bool Policy::Willing(const Action* action, Mode mode, WallNs now) const {
  const bool retry =
      action != nullptr && action->phase == Phase::kFailed && action->failures < kMaxTries;
  if (mode == Mode::kAuto) {
    return action == nullptr || retry || action->phase == Phase::kObserved ||
           action->phase == Phase::kAdvised || action->phase == Phase::kApproved;
  }
  if (mode != Mode::kApprove || action == nullptr) return false;
  const bool fresh = now - action->approved < Nanos::FromSeconds(limits_.approval_ttl_s);
  return fresh && (action->phase == Phase::kApproved || (retry && action->was_approved));
}

void Policy::ForgetDeclined(const View& view) {
  std::set<std::string> open;
  for (const VerdictFact& verdict : view.verdicts) {
    if (verdict.open) open.insert(ActionId(verdict));
  }
  std::erase_if(declined_, [&](const auto& entry) { return !open.contains(entry.first); });
}

bool Policy::Decline(const VerdictFact& verdict, Moment now, std::vector<Step>& steps) {
  const NodeGroup* group = limits_.GroupOf(verdict.node);
  const std::string why = WhyNotTrusted(verdict, limits_);
  const std::string id = ActionId(verdict);
  if (why.empty()) return declined_.erase(id), false;
  if (group == nullptr || std::exchange(declined_[id], why) == why) return true;
  steps.push_back(Written(Of(Planned(verdict, group->mode), RecordKind::kDeclined, now.wall, why)));
  return true;
}

std::string Policy::WhyNotAnyMore(const Record& intended, const View& view) const {
  if (!view.verdicts_known) return "the collector does not answer any more";
  for (const VerdictFact& verdict : view.verdicts) {
    if (ActionId(verdict) != intended.action) continue;
    const std::string why = WhyNotANodeVerdict(verdict, limits_);
    return why.empty() ? WhyNotTrusted(verdict, limits_) : why;
  }
  return "the collector does not tell of the verdict any more";
}

void Policy::Consider(const VerdictFact& verdict, const Scene& scene,
                      std::vector<Step>& steps) const {
  const NodeGroup* group = limits_.GroupOf(verdict.node);
  if (group == nullptr) return;
  const Action* known = scene.ledger.Find(ActionId(verdict));
  const Action planned = Planned(verdict, group->mode);
  if (Willing(known, group->mode, scene.now) && WhyNotNow(verdict, scene).empty()) {
    Record record = Of(planned, RecordKind::kIntended, scene.now, verdict.sentence);
    record.before = scene.view.nodes.at(verdict.node).note;
    if (known != nullptr && known->phase == Phase::kApproved) {
      record.text = absl::StrCat("approved by ", known->actor);
    }
    steps.push_back(Written(std::move(record), Step::Change::kHold));
    return;
  }
  if (group->mode == Mode::kObserve && known == nullptr) {
    steps.push_back(Written(Of(planned, RecordKind::kObserved, scene.now, "would be held back")));
  }
  const bool unsaid = known == nullptr || known->phase == Phase::kObserved;
  if (group->mode != Mode::kObserve && unsaid) {
    steps.push_back(Written(Of(planned, RecordKind::kAdvised, scene.now, "should be held back")));
  }
}

std::string Policy::WhyUnwilling(const Action* known, Mode mode) {
  if (mode != Mode::kAuto && mode != Mode::kApprove) {
    return absl::StrCat("mode ", std::string(ToString(mode)), " does not act");
  }
  if (known != nullptr && known->phase == Phase::kFailed && known->failures >= kMaxTries) {
    return absl::StrCat("it failed ", known->failures,
                        " times; it is tried again after fathom action reset");
  }
  if (mode == Mode::kApprove) return "waits for a person: fathom action approve";
  return known == nullptr ? "" : AsItIs(*known);
}

std::vector<Outlook> Policy::Outlooks(const Ledger& ledger, const View& view, WallNs now) const {
  std::vector<Outlook> outlooks;
  const Scene scene{limits_, ledger, view, now};
  for (const VerdictFact& verdict : view.verdicts) {
    if (!verdict.open) continue;
    const NodeGroup* group = limits_.GroupOf(verdict.node);
    const Mode mode = group == nullptr ? Mode::kObserve : group->mode;
    const Action* known = ledger.Find(ActionId(verdict));
    Outlook look{ActionId(verdict),
                 verdict.node,
                 verdict.entity,
                 verdict.cause,
                 verdict.id,
                 verdict.job,
                 std::string(ToString(mode)),
                 known == nullptr ? "new" : std::string(ToString(known->phase)),
                 verdict.sentence,
                 WhyNotANodeVerdict(verdict, limits_)};
    if (look.hindrance.empty()) look.hindrance = WhyNotTrusted(verdict, limits_);
    if (look.hindrance.empty() && !sightings_.Confirmed(verdict, limits_, last_.mono)) {
      look.hindrance = "not seen for long enough yet";
    }
    if (look.hindrance.empty()) look.hindrance = WhyNotNow(verdict, scene);
    if (look.hindrance.empty() && !Willing(known, mode, now)) {
      look.hindrance = WhyUnwilling(known, mode);
    }
    outlooks.push_back(std::move(look));
  }
  return outlooks;
}

absl::StatusOr<Record> Policy::Approve(const Ledger& ledger, const std::string& id,
                                       const std::string& actor, WallNs now) const {
  const Action* action = ledger.Find(id);
  if (action == nullptr) return absl::NotFoundError("there is no action " + id);
  const NodeGroup* group = limits_.GroupOf(action->node);
  if (group == nullptr || group->mode != Mode::kApprove) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the group of ", action->node, " is in mode ",
        std::string(group == nullptr ? "observe" : ToString(group->mode)), ", not approve"));
  }
  if (action->phase != Phase::kAdvised) {
    return absl::FailedPreconditionError(
        absl::StrCat(AsItIs(*action), "; only an advised one can be approved"));
  }
  Record record = Of(*action, RecordKind::kApproved, now, "");
  record.actor = actor;
  return record;
}

absl::StatusOr<Record> Policy::Undo(const Ledger& ledger, const std::string& id,
                                    const std::string& actor, WallNs now) const {
  const Action* action = ledger.Find(id);
  if (action == nullptr) return absl::NotFoundError("there is no action " + id);
  if (action->phase != Phase::kActed && action->phase != Phase::kActing) {
    return absl::FailedPreconditionError(
        absl::StrCat(AsItIs(*action), "; fathom does not hold ", action->node));
  }
  Record record = Of(*action, RecordKind::kUndoIntended, now, "undo was asked for");
  record.actor = actor;
  return record;
}

}  // namespace fathom::cordon
