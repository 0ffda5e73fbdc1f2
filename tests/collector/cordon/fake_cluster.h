// A cluster in memory that behaves like the real back-ends, and worse: answers get lost before or
// after the change, changes arrive late, the process dies in the middle of a call.
//
// Used by the tests of fathom-cordon. Compare-and-set as in backend.h. Times are of the world's
// monotonic clock, advanced by the test. Every change of ours goes to `on_change` at once, so that
// a test can check its invariants at that instant.
// Thread-safety: single-threaded.
#ifndef FATHOM_TESTS_COLLECTOR_CORDON_FAKE_CLUSTER_H_
#define FATHOM_TESTS_COLLECTOR_CORDON_FAKE_CLUSTER_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "collector/cordon/backend/backend.h"
#include "proto/types/time_units.h"

namespace fathom::cordon {

struct Crash {};  // thrown where the process dies

class FakeCluster final : public Backend {
 public:
  enum class Fault { kNone, kRefused, kLostBefore, kLostAfter, kLate, kCrashBefore, kCrashAfter };

  absl::Status Nodes(std::map<std::string, NodeFact>& out) override;
  absl::Status HoldBack(const Hold& hold) override;
  absl::Status Release(const std::string& node, const std::string& action) override;
  std::string HoldCommand(const Hold& hold) const override { return "hold " + hold.node; }

  // What people do.
  void Drain(const std::string& node, const std::string& reason);
  void Free(const std::string& node);

  void Advance(MonoNs now);  // late changes arrive

  std::map<std::string, NodeFact> nodes;
  bool down = false;
  std::function<Fault()> fault = [] { return Fault::kNone; };
  std::function<void(const Hold&)> on_hold_asked = [](const Hold&) {};
  std::function<void()> on_change = [] {};
  Nanos lateness{20'000'000'000};
  int held = 0, released = 0;   // changes made by us
  int on_foreign = 0;           // asked to change what was not free, or not ours
  std::vector<MonoNs> held_at;  // when

 private:
  void Apply(const Hold& hold);
  struct Late {
    MonoNs due;
    Hold hold;
  };
  std::vector<Late> late_;
  MonoNs now_;
};

}  // namespace fathom::cordon

#endif  // FATHOM_TESTS_COLLECTOR_CORDON_FAKE_CLUSTER_H_
