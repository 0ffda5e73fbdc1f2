// The objects of a file, parsed one after the other.
//
// Used by inspector_reader.cc and profiler_trace_reader.cc. An object that does not parse, or that
// the callback refuses, is counted in the record and left out; what is needless is not counted.
//
// Thread-safety: pure. Errors: those of the source. Cost: one pass; memory of one object.
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_JSON_OBJECTS_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_JSON_OBJECTS_H_

#include <simdjson.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/import/nccl/object_splitter.h"
#include "collector/import/nccl/op_record.h"

namespace fathom::collector::nccl {

// Gives `take` the objects until full() says that there are more than `max_ops` ops, which is
// ResourceExhausted. The parts are left to the caller. An object that does not parse and of whose
// text needless() says that nobody wants it is not counted.
absl::StatusOr<FileRecord> ReadObjects(
    const ByteSource& source, std::size_t chunk_bytes, std::uint64_t max_ops,
    const std::function<bool()>& full,
    const std::function<bool(const simdjson::dom::object&)>& take,
    bool (*needless)(std::string_view text) = nullptr);

// What stands in a map of parts, in its order.
template <typename Map>
std::vector<CommPart> TakeValues(Map& parts) {
  std::vector<CommPart> out;
  for (auto& [key, part] : parts) out.push_back(std::move(part));
  return out;
}

// The field, a decimal rounded, or `otherwise` where it is absent or of another type.
std::int64_t IntegerIn(const simdjson::dom::object& from, std::string_view key,
                       std::int64_t otherwise = kUnknown);
std::string_view TextIn(const simdjson::dom::object& from, std::string_view key);

// A rank, or the number of a channel or of members: kUnknown where it is beyond 2^31.
std::int64_t SmallIn(const simdjson::dom::object& from, std::string_view key);

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_JSON_OBJECTS_H_
