// What was learnt of a job as the bytes of the store, and back.
//
// Used by store. Field by field in proto/fathom/v1/learnt.proto. Thread-safety: pure functions.
// Errors: nothing of bytes that are no record, or whose columns differ in length.
#ifndef FATHOM_COLLECTOR_STORE_LEARNT_RECORD_H_
#define FATHOM_COLLECTOR_STORE_LEARNT_RECORD_H_

#include <optional>
#include <string>
#include <string_view>

#include "collector/job/summaries/learnt.h"

namespace fathom::collector {

std::string ToRecord(const Learnt& learnt);
std::optional<Learnt> FromRecord(std::string_view bytes);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_LEARNT_RECORD_H_
