// Checks the shape of one message of an agent before anything of it is used.
//
// Called by AgentSession for every message. Looks at the message alone: lengths, ranges, counts,
// printable names. Whether job and rank exist is for collector/job to say.
// Thread-safety: pure function. Errors: the first reason found. Cost: O(message).
#ifndef FATHOM_COLLECTOR_INGEST_VALIDATE_H_
#define FATHOM_COLLECTOR_INGEST_VALIDATE_H_

#include "collector/admission/reject_reason.h"

namespace fathom::v1 {
class AgentMessage;
}

namespace fathom::collector {

Rejection Validate(const v1::AgentMessage& message);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_INGEST_VALIDATE_H_
