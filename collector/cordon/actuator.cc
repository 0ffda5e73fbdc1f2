#include "collector/cordon/actuator.h"

#include <absl/strings/str_cat.h>

#include <utility>

namespace fathom::cordon {
namespace {

std::string Text(const absl::Status& status) { return std::string(status.message()); }

std::string Title(RecordKind kind) {
  switch (kind) {
    case RecordKind::kIntended:
      return "FathomNodeActionBegins";
    case RecordKind::kDone:
      return "FathomNodeHeld";
    case RecordKind::kUndone:
      return "FathomNodeReleased";
    case RecordKind::kRelinquished:
      return "FathomNodeTakenOver";
    case RecordKind::kFailed:
      return "FathomNodeActionFailed";
    case RecordKind::kDeclined:
      return "FathomNodeActionDeclined";
    case RecordKind::kTripped:
      return "FathomCordonStopped";
    default:
      return "FathomNodeAdvice";
  }
}

bool WorthTelling(RecordKind kind) {
  switch (kind) {
    case RecordKind::kAdvised:
    case RecordKind::kIntended:
    case RecordKind::kDone:
    case RecordKind::kFailed:
    case RecordKind::kUndone:
    case RecordKind::kRelinquished:
    case RecordKind::kTripped:
      return true;
    default:
      return false;
  }
}

// Notices of one action are one matter; so are those of fathom-cordon as a whole.
std::string KeyOf(const Record& record) { return record.action.empty() ? kOwnName : record.action; }

Record Followed(const Record& record, RecordKind kind, WallNs now, std::string text) {
  Record next = record;
  next.kind = kind;
  next.time = now;
  next.text = std::move(text);
  return next;
}

}  // namespace

void Actuator::Use(Limits limits) {
  const service::MutexLock lock(mutex_);
  policy_.Use(std::move(limits));
}

void Actuator::Look() {
  View view;
  std::vector<std::string> problems;
  const absl::Status advice = parts_.advice(view);
  view.verdicts_why = Text(advice);
  const absl::Status nodes = parts_.backend.Nodes(view.nodes);
  view.nodes_known = nodes.ok();
  view.nodes_why = Text(nodes);
  for (const std::string& why : {view.verdicts_why, view.nodes_why, parts_.backend.Ailing()}) {
    if (!why.empty()) problems.push_back(why);
  }

  const service::MutexLock lock(mutex_);
  view_ = std::move(view);
  problems_ = std::move(problems);
  const Moment now = Now();
  if (view_.verdicts_known && view_.nodes_known) last_look_ = now.wall;
  for (const Step& step : policy_.Next(ledger_, view_, now)) {
    if (!Take(step)) break;
  }
  TellOfLog();
}

absl::Status Actuator::Write(const Record& record) {
  if (auto status = parts_.append(record); !status.ok()) {
    unwritable_ = "the audit log cannot be written, so nothing is done: " + Text(status);
    problems_.push_back(unwritable_);
    return status;
  }
  unwritable_.clear();
  heard_.Forget(KeyOf(record));
  ledger_.Fold(record);
  return absl::OkStatus();
}

bool Actuator::Take(const Step& step) {
  const Record& record = step.record;
  bool heard = false;  // while the log could not be written
  if (step.change == Step::Change::kHold) {
    heard = heard_.Heard(NoticeOf(record), parts_.clock.Mono());
    if (auto told = Tell(record); !told.ok()) {
      problems_.push_back("nobody could be told beforehand, so nothing is done: " + Text(told));
      return false;
    }
  }
  if (step.change == Step::Change::kHold && !StillWanted(record)) return false;
  if (step.write && !Write(record).ok()) return false;
  if (heard && !ToldAnew(record)) return false;
  switch (step.change) {
    case Step::Change::kHold:
      HoldBack(record);
      break;
    case Step::Change::kRelease:
      Release(record);
      break;
    case Step::Change::kNone:
      if (record.kind == RecordKind::kRelinquished) Forget(record);
      if (WorthTelling(record.kind)) Tell(record).IgnoreError();
      Count(record, std::string(ToString(record.kind)));
      break;
  }
  return true;
}

// Telling people takes time, in which the verdict may have closed.
bool Actuator::StillWanted(const Record& record) {
  View view;
  std::string why;
  if (auto status = parts_.advice(view); !status.ok()) {
    why = "the collector does not answer any more: " + Text(status);
  } else {
    why = policy_.WhyNotAnyMore(record, view);
  }
  if (why.empty()) return true;
  const Record declined = Followed(record, RecordKind::kDeclined, parts_.clock.Wall(), why);
  Count(declined, std::string(ToString(declined.kind)));
  Write(declined).IgnoreError();
  Tell(declined).IgnoreError();
  return false;
}

bool Actuator::ToldAnew(const Record& record) {
  const absl::Status told = Tell(record);
  if (told.ok()) return true;
  const std::string why = "nobody could be told beforehand, so nothing was done: " + Text(told);
  problems_.push_back(why);
  Count(record, std::string(ToString(RecordKind::kFailed)));
  Write(Followed(record, RecordKind::kFailed, parts_.clock.Wall(), why)).IgnoreError();
  return false;
}

void Actuator::HoldBack(const Record& record) {
  const absl::Status status = parts_.backend.HoldBack(
      {record.node, record.action, record.cause, record.episode, record.evidence});
  if (!status.ok() && !Certain(status)) {
    problems_.push_back("not known whether it was done: " + Text(status));
    Count(record, "unclear");
    return;
  }
  const RecordKind kind = status.ok() ? RecordKind::kDone : RecordKind::kFailed;
  const Record result = Followed(record, kind, parts_.clock.Wall(), Text(status));
  Count(record, std::string(ToString(kind)));
  Write(result).IgnoreError();  // else the next look settles it
  Tell(result).IgnoreError();
}

void Actuator::Release(const Record& record) {
  const absl::Status status = parts_.backend.Release(record.node, record.action);
  Count(record, status.ok() ? "undone" : "undo_failed");
  if (!status.ok()) {
    problems_.push_back("undo: " + Text(status));
    return;
  }
  const Record result =
      Followed(record, RecordKind::kUndone, parts_.clock.Wall(), "the node is free again");
  Write(result).IgnoreError();
  Tell(result).IgnoreError();
}

void Actuator::Forget(const Record& record) {
  const absl::Status status = parts_.backend.Forget(record.node, record.action);
  if (!status.ok())
    problems_.push_back("what is left of ours on " + record.node + ": " + Text(status));
}

absl::Status Actuator::Tell(const Record& record) { return TellNews(NoticeOf(record)); }

collector::Notice Actuator::NoticeOf(const Record& record) const {
  collector::Notice notice;
  notice.key = KeyOf(record);
  notice.title = Title(record.kind);
  notice.severity = collector::Severity::kWarning;
  notice.summary = record.action.empty()
                       ? record.text
                       : absl::StrCat(std::string(ToString(record.kind)), ": ", record.node, " (",
                                      record.cause, ", verdict ", record.episode, ")");
  notice.description =
      absl::StrCat(record.evidence, record.evidence.empty() ? "" : " ", record.text);
  if (record.kind == RecordKind::kAdvised) {
    notice.description +=
        " By hand: " + parts_.backend.HoldCommand({record.node, record.action, record.cause,
                                                   record.episode, record.evidence});
  }
  notice.labels = {{"node", record.node},
                   {"cause", record.cause},
                   {"job", record.job},
                   {"step", std::string(ToString(record.kind))}};
  std::erase_if(notice.labels, [](const auto& label) { return label.second.empty(); });
  notice.began = record.time;
  const bool over = record.kind == RecordKind::kUndone ||
                    record.kind == RecordKind::kRelinquished ||
                    record.kind == RecordKind::kDeclined;
  if (over) notice.over = record.time;
  return notice;
}

absl::Status Actuator::TellNews(const collector::Notice& notice) {
  const MonoNs now = parts_.clock.Mono();
  if (heard_.Heard(notice, now)) return absl::OkStatus();
  const absl::Status told = parts_.tell(notice);
  if (told.ok()) heard_.Note(notice, now);
  return told;
}

void Actuator::TellOfLog() {
  if (unwritable_.empty() && !unwritable_since_.known()) return;
  const WallNs now = parts_.clock.Wall();
  if (!unwritable_since_.known()) unwritable_since_ = now;
  collector::Notice notice;
  notice.key = absl::StrCat(kOwnName, "-log");
  notice.title = "FathomCordonCannotWrite";
  notice.severity = collector::Severity::kWarning;
  notice.began = unwritable_since_;
  notice.summary = unwritable_;
  notice.description = "What was told to begin has not begun; it is told again when it does.";
  if (unwritable_.empty()) {
    notice.summary = "the audit log can be written again";
    notice.description.clear();
    notice.over = now;
    unwritable_since_ = {};
  }
  TellNews(notice).IgnoreError();
}

void Actuator::Count(const Record& record, const std::string& result) {
  ++counts_[{record.mode.empty() ? "none" : record.mode, result}];
}

Actuator::Standing Actuator::Stand() const {
  const service::MutexLock lock(mutex_);
  Standing standing;
  for (const auto& [id, action] : ledger_.actions()) standing.actions.push_back(action);
  standing.outlooks = policy_.Outlooks(ledger_, view_, parts_.clock.Wall());
  standing.paused = ledger_.paused();
  standing.tripped = ledger_.tripped();
  standing.problems = problems_;
  standing.counts = counts_;
  standing.held = HeldNodes(ledger_, view_).size();
  standing.last_look = last_look_;
  return standing;
}

std::vector<std::string> Actuator::Problems() const {
  const service::MutexLock lock(mutex_);
  return problems_;
}

absl::Status Actuator::Approve(const std::string& action, const std::string& actor) {
  const service::MutexLock lock(mutex_);
  const auto record = policy_.Approve(ledger_, action, actor, parts_.clock.Wall());
  return record.ok() ? Write(*record) : record.status();
}

absl::Status Actuator::Undo(const std::string& action, const std::string& actor) {
  const service::MutexLock lock(mutex_);
  const auto record = policy_.Undo(ledger_, action, actor, parts_.clock.Wall());
  return record.ok() ? Write(*record) : record.status();
}

absl::Status Actuator::Command(RecordKind kind, const std::string& text, const std::string& actor) {
  const service::MutexLock lock(mutex_);
  Record record;
  record.kind = kind;
  record.time = parts_.clock.Wall();
  record.text = text;
  record.actor = actor;
  return Write(record);
}

}  // namespace fathom::cordon
