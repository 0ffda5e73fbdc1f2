// What stands for the communicator in a summary whose iterations are told by messages alone.
//
// Set by the agent (pipeline/rank_pipeline), known to the collector (job/summaries). A job of
// nothing but sends and receives has no op that is numbered alike on all its ranks: each counts the
// iterations of its own stream of messages from its start, and that count is its anchor's sequence.
//
// Thread-safety: a constant.
#ifndef FATHOM_PROTO_TYPES_MESSAGE_ANCHORS_H_
#define FATHOM_PROTO_TYPES_MESSAGE_ANCHORS_H_

#include "proto/types/ids.h"

namespace fathom {

inline constexpr GroupId kMessageAnchors{
    0x6d65737361676573};  // "messages": no group's id is made so

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_MESSAGE_ANCHORS_H_
