// The JSON form of a Flight Recorder dump, read into the same tree as the pickle.
//
// Used by dump.cc. Streams through nlohmann's SAX parser, which does not recurse. A file that ends
// early keeps what was built. Thread-safety: pure. Errors: InvalidArgument (no JSON at all),
// ResourceExhausted (limits). Cost: O(bytes); text is copied.
#ifndef FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_JSON_READER_H_
#define FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_JSON_READER_H_

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "collector/import/flight_recorder/value.h"

namespace fathom::collector::flight_recorder {

struct JsonLimits {
  std::size_t values = 32'000'000;
  std::size_t depth = 64;
};

// Builds `document` from its own bytes. The result is the offset where the JSON broke, if it did.
absl::StatusOr<std::optional<std::size_t>> ReadJson(Document& document,
                                                    const JsonLimits& limits = {});

}  // namespace fathom::collector::flight_recorder

#endif  // FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_JSON_READER_H_
