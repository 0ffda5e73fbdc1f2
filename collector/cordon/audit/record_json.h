// A record as the members of a JSON object, and back.
//
// Used by the audit log and by the API. Thread-safety: pure functions. Errors: ReadRecord gives
// InvalidArgument for text that is no record; unknown members are left alone.
#ifndef FATHOM_COLLECTOR_CORDON_AUDIT_RECORD_JSON_H_
#define FATHOM_COLLECTOR_CORDON_AUDIT_RECORD_JSON_H_

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/cordon/policy/record.h"

namespace fathom::cordon {

// The place of a record in the chain.
struct Link {
  std::uint64_t sequence = 0;
  std::string previous;
};

std::string WriteRecord(const Record& record, const Link& link);
absl::Status ReadRecord(std::string_view json, Record& record, Link& link);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_AUDIT_RECORD_JSON_H_
