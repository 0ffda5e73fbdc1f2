#include "collector/cordon/policy/ledger.h"

#include <algorithm>
#include <array>

namespace fathom::cordon {
namespace {

constexpr std::size_t kMaxAttempts = 4096;  // more than any window's cap
constexpr std::array<std::string_view, 10> kPhases = {
    "observed", "advised", "approved",     "acting", "acted",
    "undoing",  "undone",  "relinquished", "failed", "withdrawn"};

std::string OrUnsaid(const std::string& text) { return text.empty() ? "no reason given" : text; }

}  // namespace

std::string_view ToString(Phase phase) { return kPhases[static_cast<std::size_t>(phase)]; }

const Action* Ledger::Find(const std::string& id) const {
  const auto at = actions_.find(id);
  return at == actions_.end() ? nullptr : &at->second;
}

WallNs Ledger::LastOverride(const std::string& node) const {
  const auto at = overrides_.find(node);
  return at == overrides_.end() ? WallNs() : at->second;
}

void Ledger::Fold(const Record& record) {
  newest_ = std::max(newest_, record.time);
  if (record.action.empty()) {
    FoldWhole(record);
    return;
  }
  Action& action = actions_[record.action];
  if (action.id.empty()) {
    action.id = record.action;
    action.node = record.node;
    action.entity = record.entity;
    action.cause = record.cause;
    action.episode = record.episode;
    action.job = record.job;
    action.evidence = record.evidence;
  }
  if (!record.mode.empty()) action.mode = record.mode;
  action.actor = record.actor;
  action.text = record.text;
  action.changed = record.time;
  FoldAction(record, action);
}

void Ledger::FoldWhole(const Record& record) {
  switch (record.kind) {
    case RecordKind::kPaused:
      paused_ = OrUnsaid(record.text);
      break;
    case RecordKind::kResumed:
      paused_.clear();
      break;
    case RecordKind::kTripped:
      tripped_ = OrUnsaid(record.text);
      break;
    case RecordKind::kReset:
      newest_ = record.time;  // also the way out after a clock that ran far ahead
      tripped_.clear();
      failures_in_row_ = 0;
      for (auto& [id, action] : actions_) action.failures = 0;
      break;
    default:
      break;
  }
}

void Ledger::FoldAction(const Record& record, Action& action) {
  switch (record.kind) {
    case RecordKind::kObserved:
      action.phase = Phase::kObserved;
      break;
    case RecordKind::kAdvised:
    case RecordKind::kApprovalExpired:
      action.phase = Phase::kAdvised;
      break;
    case RecordKind::kApproved:
      action.phase = Phase::kApproved;
      action.approved = record.time;
      break;
    case RecordKind::kWithdrawn:
      action.phase = Phase::kWithdrawn;
      break;
    case RecordKind::kIntended:
      action.was_approved = action.phase == Phase::kApproved;
      action.phase = Phase::kActing;
      action.intended = record.time;
      attempts_.push_back(record.time);
      if (attempts_.size() > kMaxAttempts) attempts_.pop_front();
      break;
    case RecordKind::kDone:
      action.phase = Phase::kActed;
      failures_in_row_ = 0;
      break;
    case RecordKind::kFailed:
      action.phase = Phase::kFailed;
      ++action.failures;
      ++failures_in_row_;
      break;
    case RecordKind::kUndoIntended:
      action.phase = Phase::kUndoing;
      break;
    case RecordKind::kUndone:
      action.phase = Phase::kUndone;
      if (record.actor != kOwnName) overrides_[action.node] = record.time;
      break;
    case RecordKind::kRelinquished:
      action.phase = Phase::kRelinquished;
      overrides_[action.node] = record.time;
      break;
    default:
      break;
  }
}

}  // namespace fathom::cordon
