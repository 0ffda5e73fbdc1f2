// Reading side files that are JSON: a bounded tree, and questions to it that never throw.
//
// Used by the parsers of this folder only. Model: what is missing or of another type reads as empty
// or 0. Thread-safety: pure functions. Cost: Parse is linear in the text and holds all of it.
#ifndef FATHOM_COLLECTOR_IMPORT_SIDE_FILES_JSON_TREE_H_
#define FATHOM_COLLECTOR_IMPORT_SIDE_FILES_JSON_TREE_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::collector::side_files {

using Json = nlohmann::json;

// A tree of at most 32 levels, so that nothing recurses deep when it is taken down; null for
// anything else.
Json Parse(std::string_view text);

// Null on anything but an object that has it.
const Json* At(const Json& object, const char* key);

std::string TextAt(const Json& object, const char* key);
std::int64_t IntegerAt(const Json& object, const char* key);

// The whole of `text` as a decimal number without sign.
std::optional<std::uint64_t> Unsigned(std::string_view text);

}  // namespace fathom::collector::side_files

#endif  // FATHOM_COLLECTOR_IMPORT_SIDE_FILES_JSON_TREE_H_
