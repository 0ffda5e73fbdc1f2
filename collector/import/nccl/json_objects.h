// The objects of a file, parsed one after the other.
//
// Used by inspector_reader.cc and profiler_trace_reader.cc. An object that does not parse, or that
// the callback refuses, is counted in the record and left out.
//
// Thread-safety: pure. Errors: those of the source. Cost: one pass; memory of one object.
#ifndef FATHOM_COLLECTOR_IMPORT_NCCL_JSON_OBJECTS_H_
#define FATHOM_COLLECTOR_IMPORT_NCCL_JSON_OBJECTS_H_

#include <simdjson.h>

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "collector/import/nccl/object_splitter.h"
#include "collector/import/nccl/op_record.h"

namespace fathom::collector::nccl {

absl::Status ForEachObject(ByteSource source, std::size_t chunk_bytes, FileRecord& record,
                           const std::function<bool(const simdjson::dom::object&)>& take);

// The field, or `otherwise` where it is absent or of another type.
std::int64_t IntegerIn(const simdjson::dom::object& from, std::string_view key,
                       std::int64_t otherwise = kUnknown);
std::string_view TextIn(const simdjson::dom::object& from, std::string_view key);

// A rank, or the number of a channel or of members: kUnknown where it is beyond 2^31.
std::int64_t SmallIn(const simdjson::dom::object& from, std::string_view key);

}  // namespace fathom::collector::nccl

#endif  // FATHOM_COLLECTOR_IMPORT_NCCL_JSON_OBJECTS_H_
