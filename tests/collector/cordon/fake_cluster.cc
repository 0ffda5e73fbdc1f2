#include "tests/collector/cordon/fake_cluster.h"

namespace fathom::cordon {

absl::Status FakeCluster::Nodes(std::map<std::string, NodeFact>& out) {
  if (down) return absl::UnavailableError("the cluster does not answer");
  out = nodes;
  return absl::OkStatus();
}

void FakeCluster::Apply(const Hold& hold) {
  NodeFact& node = nodes[hold.node];
  if (node.withheld) return;
  node.withheld = true;
  node.owner = hold.action;
  node.note = "fathom:" + hold.action;
  ++held;
  held_at.push_back(now_);
  on_change();
}

absl::Status FakeCluster::HoldBack(const Hold& hold) {
  on_hold_asked(hold);
  const auto at = nodes.find(hold.node);
  if (at == nodes.end()) return absl::NotFoundError("no such node");
  if (at->second.withheld || !at->second.note.empty()) {
    ++on_foreign;
    return absl::FailedPreconditionError("not free");
  }
  switch (fault()) {
    case Fault::kRefused:
      return absl::ResourceExhaustedError("come back later");
    case Fault::kLostBefore:
      return absl::UnavailableError("no answer");
    case Fault::kLate:
      late_.push_back({now_ + lateness, hold});
      return absl::DeadlineExceededError("no answer in time");
    case Fault::kCrashBefore:
      throw Crash();
    case Fault::kLostAfter:
      Apply(hold);
      return absl::UnavailableError("no answer");
    case Fault::kCrashAfter:
      Apply(hold);
      throw Crash();
    case Fault::kNone:
      break;
  }
  Apply(hold);
  return absl::OkStatus();
}

absl::Status FakeCluster::Release(const std::string& name, const std::string& action) {
  NodeFact& node = nodes[name];
  if (node.owner != action) {
    ++on_foreign;
    return absl::FailedPreconditionError("not ours");
  }
  const Fault now = fault();
  if (now == Fault::kCrashBefore) throw Crash();
  if (now == Fault::kRefused || now == Fault::kLostBefore || now == Fault::kLate) {
    return absl::UnavailableError("no answer");
  }
  node.withheld = false;
  node.owner.clear();
  node.note.clear();
  ++released;
  if (now == Fault::kCrashAfter) throw Crash();
  return now == Fault::kLostAfter ? absl::UnavailableError("no answer") : absl::OkStatus();
}

void FakeCluster::Drain(const std::string& name, const std::string& reason) {
  NodeFact& node = nodes[name];
  node.withheld = true;
  node.owner.clear();
  node.note = reason;
}

void FakeCluster::Free(const std::string& name) {
  NodeFact& node = nodes[name];
  node.withheld = false;
  node.owner.clear();
  node.note.clear();
}

void FakeCluster::Advance(MonoNs now) {
  now_ = now;
  for (std::size_t i = 0; i < late_.size();) {
    if (late_[i].due > now) {
      ++i;
      continue;
    }
    const Hold hold = late_[i].hold;
    late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(i));
    if (nodes.contains(hold.node)) Apply(hold);
  }
}

}  // namespace fathom::cordon
