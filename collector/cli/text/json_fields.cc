#include "collector/cli/text/json_fields.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

const Json* Find(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::int64_t AsInt(const Json& value, std::int64_t otherwise) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) {
    const double number = value.get<double>();
    return std::abs(number) < 9e18 ? static_cast<std::int64_t>(number) : otherwise;
  }
  std::int64_t parsed = 0;
  if (value.is_string() && ReadNumber(value.get_ref<const std::string&>(), &parsed)) {
    return parsed;
  }
  return otherwise;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 = byte == 0xC2 && i + 1 < text.size() &&
                    static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                    static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) ++i;
    out.push_back(c1 || byte < 0x20 || byte == 0x7F ? '?' : text[i]);
  }
  return out;
}

std::string PrintableLine(std::string_view text) {
  return Printable(text.substr(0, text.find('\n')));
}

std::string TextField(const Json& object, const char* name) {
  const Json* value = Find(object, name);
  return value != nullptr && value->is_string() ? Printable(value->get_ref<const std::string&>())
                                                : std::string();
}

std::int64_t IntField(const Json& object, const char* name, std::int64_t otherwise) {
  const Json* value = Find(object, name);
  return value == nullptr ? otherwise : AsInt(*value, otherwise);
}

double NumberField(const Json& object, const char* name, double otherwise) {
  const Json* value = Find(object, name);
  if (value == nullptr) return otherwise;
  if (value->is_number()) return value->get<double>();
  double parsed = 0;
  if (value->is_string() && ReadNumber(value->get_ref<const std::string&>(), &parsed)) {
    return parsed;  // "NaN" and "Infinity", as proto-JSON writes them, stay what they are
  }
  return otherwise;
}

bool BoolField(const Json& object, const char* name) {
  const Json* value = Find(object, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const Json& ListField(const Json& object, const char* name) {
  static const Json& empty = *new Json(Json::array());
  const Json* value = Find(object, name);
  return value != nullptr && value->is_array() ? *value : empty;
}

const Json& ObjectField(const Json& object, const char* name) {
  static const Json& empty = *new Json(Json::object());
  const Json* value = Find(object, name);
  return value != nullptr && value->is_object() ? *value : empty;
}

std::string GpuField(const Json& rank) {
  const Json& gpu = ObjectField(rank, "gpu");
  const std::string bus_id = TextField(gpu, "bus_id");
  if (!bus_id.empty() || !HasField(gpu, "number")) return bus_id;
  return std::to_string(IntField(gpu, "number"));
}

bool SomeTellGpu(const Json& ranks) {
  return std::any_of(ranks.begin(), ranks.end(),
                     [](const Json& rank) { return !GpuField(rank).empty(); });
}

bool HasField(const Json& object, const char* name) {
  const Json* value = Find(object, name);
  return value != nullptr && !value->is_null();
}

std::vector<std::int64_t> IntsField(const Json& object, const char* name) {
  std::vector<std::int64_t> out;
  for (const Json& value : ListField(object, name)) out.push_back(AsInt(value, -1));
  return out;
}

std::vector<std::string> TextsField(const Json& object, const char* name) {
  std::vector<std::string> out;
  for (const Json& value : ListField(object, name)) {
    if (value.is_string()) out.push_back(Printable(value.get_ref<const std::string&>()));
  }
  return out;
}

}  // namespace fathom::cli
