#include "collector/import/flight_recorder/json_reader.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace fathom::collector::flight_recorder {
namespace {

// Every container is linked to its parent as soon as it opens, so that a file cut short leaves a
// tree that can be walked.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(Document& document, const JsonLimits& limits) : document_(document), limits_(limits) {}

  std::optional<std::size_t> broke_at() const { return broke_at_; }
  bool exhausted() const { return exhausted_; }

  bool null() override { return Add(ValueKind::kNone) != nullptr; }
  bool boolean(bool value) override { return AddInteger(ValueKind::kBool, value ? 1 : 0); }
  bool number_integer(number_integer_t value) override {
    return AddInteger(ValueKind::kInteger, value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return AddInteger(ValueKind::kInteger, static_cast<std::int64_t>(value));
    }
    return AddReal(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return AddReal(value); }
  bool string(string_t& value) override { return AddText(ValueKind::kText, value); }
  bool binary(binary_t&) override { return false; }  // not in JSON text
  bool start_object(std::size_t) override { return Open(ValueKind::kDict); }
  bool start_array(std::size_t) override { return Open(ValueKind::kList); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& value) override {
    key_ = Node(ValueKind::kText);
    if (key_ == nullptr) return false;
    key_->text = document_.Keep(std::move(value));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    broke_at_ = position;
    return false;
  }

 private:
  Value* Node(ValueKind kind) {
    exhausted_ = exhausted_ || document_.size() >= limits_.values;
    return exhausted_ ? nullptr : document_.Add(kind);
  }

  Value* Add(ValueKind kind) {
    Value* value = Node(kind);
    if (value == nullptr) return nullptr;
    if (open_.empty()) {
      document_.set_root(value);
      return value;
    }
    if (open_.back()->kind == ValueKind::kDict) open_.back()->items.push_back(key_);
    open_.back()->items.push_back(value);
    return value;
  }

  bool AddInteger(ValueKind kind, std::int64_t integer) {
    Value* value = Add(kind);
    if (value != nullptr) value->integer = integer;
    return value != nullptr;
  }

  bool AddReal(double real) {
    Value* value = Add(ValueKind::kReal);
    if (value != nullptr) value->real = real;
    return value != nullptr;
  }

  bool AddText(ValueKind kind, std::string& text) {
    Value* value = Add(kind);
    if (value != nullptr) value->text = document_.Keep(std::move(text));
    return value != nullptr;
  }

  bool Open(ValueKind kind) {
    exhausted_ = exhausted_ || open_.size() >= limits_.depth;
    Value* value = exhausted_ ? nullptr : Add(kind);
    if (value != nullptr) open_.push_back(value);
    return value != nullptr;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  Document& document_;
  const JsonLimits& limits_;
  std::vector<Value*> open_;
  Value* key_ = nullptr;
  std::optional<std::size_t> broke_at_;
  bool exhausted_ = false;
};

}  // namespace

absl::StatusOr<std::optional<std::size_t>> ReadJson(Document& document, const JsonLimits& limits) {
  Builder builder(document, limits);
  nlohmann::json::sax_parse(document.bytes(), &builder);
  if (builder.exhausted()) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("more than %d values or %d levels of JSON", limits.values, limits.depth));
  }
  if (document.root() == nullptr) return absl::InvalidArgumentError("offset 0: not JSON");
  return builder.broke_at();
}

}  // namespace fathom::collector::flight_recorder
