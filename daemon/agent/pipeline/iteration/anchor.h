// The op whose end closes an iteration, and how to recognise it in a stream of ops.
//
// Chosen by iteration_finder from one period of keys; matched by rank_pipeline, live and when it
// labels old rows again.
//
// Model: of the numbered ops of the largest group, the key that comes least often in a period, all
// else equal the smallest (a loss or a norm closes a step, gradients do not). In a job of one rank
// the optimizer's steps come first, then ops of any group. A choice that depends
// on nothing but the group's own op order is the same on all its members. Where no key comes once a
// period, the anchor is a key with what came before it in its group (`context`).
//
//   tensor group   a a a             a a a             each alone repeats within an iteration;
//   data group           w b w b w b       w b w b …   "a, w, b" comes once in an iteration
//
// Where equal layers leave no group with such a context, what came before it in all groups is one,
// ops of other groups by what the members of this one can agree on (OpKey::from_outside): those
// that do the same work choose alike.
//
// Where a period holds nothing that is numbered, messages alone tell it: the anchor is the message
// that comes least often, a receive before a send, for who receives waits. Nothing makes ranks
// agree on one; each counts its own (proto/types/message_anchors.h).
//
// Thread-safety: values. Errors: no anchor is an answer (the finder abstains).
// Cost: matching is one compare an op.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_ANCHOR_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_ANCHOR_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "daemon/agent/pipeline/iteration/op_key.h"

namespace fathom::agent {

struct Anchor {
  GroupId group;
  bool sizeless = false;               // compare keys without bytes
  bool messages = false;               // they alone tell: nothing is numbered
  bool across = false;                 // the context holds ops of other groups as well
  std::vector<std::uint64_t> context;  // last element: the anchor's own key

  friend bool operator==(const Anchor&, const Anchor&) = default;
};

// `period`: the keys of one iteration, any rotation.
[[nodiscard]] std::optional<Anchor> ChooseAnchor(std::span<const OpKey> period, bool sizeless);

class AnchorMatcher {
 public:
  explicit AnchorMatcher(Anchor anchor) : anchor_(std::move(anchor)) {}

  // True if this op is the anchor of an iteration. Ops must come in API order.
  bool Take(const OpKey& key);

  const Anchor& anchor() const { return anchor_; }

 private:
  Anchor anchor_;
  std::deque<std::uint64_t> recent_;  // keys that the context is of, at most its size
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_ITERATION_ANCHOR_H_
