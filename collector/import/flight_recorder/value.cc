#include "collector/import/flight_recorder/value.h"

#include <utility>

namespace fathom::collector::flight_recorder {

std::optional<std::int64_t> Value::Integer() const {
  if (kind != ValueKind::kInteger) return std::nullopt;
  return integer;
}

std::optional<bool> Value::Bool() const {
  if (kind != ValueKind::kBool) return std::nullopt;
  return integer != 0;
}

std::optional<std::string_view> Value::Text() const {
  if (kind != ValueKind::kText) return std::nullopt;
  return text;
}

const std::vector<const Value*>& Value::Items() const {
  static const std::vector<const Value*> kNothing;
  return kind == ValueKind::kList ? items : kNothing;
}

const Value* Value::Find(std::string_view key) const {
  if (kind != ValueKind::kDict) return nullptr;
  for (std::size_t i = items.size(); i >= 2; i -= 2) {
    const Value& k = *items[i - 2];
    if (k.kind == ValueKind::kText && k.text == key) return items[i - 1];
  }
  return nullptr;
}

Value* Document::Add(ValueKind kind) {
  values_.emplace_back().kind = kind;
  return &values_.back();
}

std::string_view Document::Keep(std::string text) {
  texts_.push_back(std::move(text));
  return texts_.back();
}

}  // namespace fathom::collector::flight_recorder
