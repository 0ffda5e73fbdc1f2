#include "collector/import/nccl/json_objects.h"

#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace fathom::collector::nccl {

static_assert(ObjectSplitter::kPadding >= simdjson::SIMDJSON_PADDING);

absl::StatusOr<FileRecord> ReadObjects(
    const ByteSource& source, std::size_t chunk_bytes, std::uint64_t max_ops,
    const std::function<bool()>& full,
    const std::function<bool(const simdjson::dom::object&)>& take,
    bool (*needless)(std::string_view text)) {
  const auto until_full = [&](char* to, std::size_t size) -> absl::StatusOr<std::size_t> {
    if (!full()) return source(to, size);
    return absl::ResourceExhaustedError(absl::StrCat("holds more than ", max_ops, " ops"));
  };
  FileRecord record;
  ObjectSplitter splitter(until_full, chunk_bytes);
  simdjson::dom::parser parser;
  while (true) {
    const auto text = splitter.Next();
    if (!text.ok()) return text.status();
    if (text->empty()) break;
    ++record.objects;
    simdjson::dom::object object;
    const bool parsed =
        parser.parse(text->data(), text->size(), false).get(object) == simdjson::SUCCESS;
    if (parsed ? take(object) : needless != nullptr && needless(*text)) continue;
    if (record.skipped++ == 0) record.first_skipped_at = splitter.offset();
  }
  record.skipped += splitter.given_up();
  record.cut = splitter.cut();
  return record;
}

std::int64_t IntegerIn(const simdjson::dom::object& from, std::string_view key,
                       std::int64_t otherwise) {
  const auto element = from[key];
  std::int64_t value = 0;
  if (element.get(value) == simdjson::SUCCESS) return value;
  constexpr double kExact = 9007199254740992;  // 2^53
  double real = 0;
  if (element.get(real) != simdjson::SUCCESS || !(std::abs(real) < kExact)) return otherwise;
  return std::llround(real);
}

std::string_view TextIn(const simdjson::dom::object& from, std::string_view key) {
  std::string_view value;
  return from[key].get(value) == simdjson::SUCCESS ? value : std::string_view();
}

std::int64_t SmallIn(const simdjson::dom::object& from, std::string_view key) {
  const std::int64_t value = IntegerIn(from, key);
  return value >= 0 && value <= std::numeric_limits<std::int32_t>::max() ? value : kUnknown;
}

}  // namespace fathom::collector::nccl
