#include "collector/import/side_files/json_tree.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace fathom::collector::side_files {

std::optional<std::uint64_t> Unsigned(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

const Json* At(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

std::string TextAt(const Json& object, const char* key) {
  const Json* value = At(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::int64_t IntegerAt(const Json& object, const char* key) {
  const Json* value = At(object, key);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

Json Parse(std::string_view text) {
  constexpr int kDepth = 32;
  bool deep = false;
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > kDepth;
    return !deep;
  };
  Json json = Json::parse(text, shallow, false);
  return deep || json.is_discarded() ? Json() : json;
}

}  // namespace fathom::collector::side_files
