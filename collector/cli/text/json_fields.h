// Reading fields out of JSON that a server sent: whatever is missing or of another type reads as
// the default. proto-JSON writes 64-bit integers as strings; both forms are read.
//
// Used by everything under collector/cli that looks into a reply.
// Thread-safety: pure functions. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_TEXT_JSON_FIELDS_H_
#define FATHOM_COLLECTOR_CLI_TEXT_JSON_FIELDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace fathom::cli {

using Json = nlohmann::ordered_json;

// Text of the field, without control characters: it may come from a job's own name or path and
// end on a terminal.
std::string TextField(const Json& object, const char* name);
std::int64_t IntField(const Json& object, const char* name, std::int64_t otherwise = 0);
double NumberField(const Json& object, const char* name, double otherwise = 0);
bool BoolField(const Json& object, const char* name);
// The array, or an empty one.
const Json& ListField(const Json& object, const char* name);
// The object, or an empty one.
const Json& ObjectField(const Json& object, const char* name);
// Of a rank: the PCI bus id of its GPU, or else its number; empty where neither is told.
std::string GpuField(const Json& rank);
bool SomeTellGpu(const Json& ranks);
bool HasField(const Json& object, const char* name);
std::vector<std::int64_t> IntsField(const Json& object, const char* name);
// The texts of a list, as TextField reads one; what is no text is left out.
std::vector<std::string> TextsField(const Json& object, const char* name);

// Every C0 and C1 control character and DEL as '?', so that text cannot drive a terminal.
std::string Printable(std::string_view text);
// Its first line, likewise.
std::string PrintableLine(std::string_view text);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_TEXT_JSON_FIELDS_H_
