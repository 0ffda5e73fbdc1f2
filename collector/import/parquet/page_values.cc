#include "collector/import/parquet/page_values.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/import/parquet/run_decoder.h"

namespace fathom::collector::parquet {
namespace {

absl::Status TooFew(std::size_t count, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the page ends before its ", count, " ", std::string(what)));
}

// The bytes of the definition levels, and what follows them.
absl::StatusOr<std::pair<std::string_view, std::string_view>> SplitLevels(const Page& page) {
  const std::string_view bytes = page.bytes;
  const PageHeader& header = page.header;
  if (header.kind == PageKind::kDataV2) {
    const std::size_t before = header.repetition_bytes;
    if (before + header.definition_bytes > bytes.size()) return TooFew(header.values, "levels");
    return std::pair(bytes.substr(before, header.definition_bytes),
                     bytes.substr(before + header.definition_bytes));
  }
  if (header.level_encoding != Encoding::kRle) {
    return absl::UnimplementedError(absl::StrCat(
        "levels in encoding ", static_cast<int>(header.level_encoding), " are not read"));
  }
  std::uint32_t length = 0;
  if (bytes.size() < sizeof length) return TooFew(header.values, "levels");
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length) return TooFew(header.values, "levels");
  return std::pair(bytes.substr(sizeof length, length), bytes.substr(sizeof length + length));
}

template <typename Stored, typename Kept>
absl::Status ReadNumbers(std::string_view bytes, std::size_t count, std::vector<Kept>& out) {
  if (count > bytes.size() / sizeof(Stored)) return TooFew(count, "values");
  out.reserve(out.size() + count);
  for (std::size_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    out.push_back(static_cast<Kept>(value));
  }
  return absl::OkStatus();
}

absl::Status ReadTexts(std::string_view bytes, std::size_t count,
                       std::vector<std::string_view>& out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t length = 0;
    if (bytes.size() < sizeof length) return TooFew(count, "texts");
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (length > bytes.size()) return TooFew(count, "texts");
    out.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Levels> ReadLevels(const Page& page, bool optional) {
  Levels out;
  const std::size_t values = page.header.values;
  if (!optional) {
    out.present.assign(values, 1);
    out.count = values;
    out.rest = page.bytes;
    return out;
  }
  const auto split = SplitLevels(page);
  if (!split.ok()) return split.status();
  std::vector<std::uint32_t> levels;
  if (!DecodeRuns(split->first, 1, values, levels)) return TooFew(values, "levels");
  out.present.reserve(values);
  for (const std::uint32_t level : levels) {
    out.present.push_back(level == 0 ? 0 : 1);
    out.count += level == 0 ? 0 : 1;
  }
  out.rest = split->second;
  return out;
}

absl::Status ReadPlain(std::string_view bytes, PhysicalType type, std::size_t count, Values& out) {
  switch (type) {
    case PhysicalType::kInt32:
      return ReadNumbers<std::int32_t>(bytes, count, out.integers);
    case PhysicalType::kInt64:
      return ReadNumbers<std::int64_t>(bytes, count, out.integers);
    case PhysicalType::kFloat:
      return ReadNumbers<float>(bytes, count, out.reals);
    case PhysicalType::kDouble:
      return ReadNumbers<double>(bytes, count, out.reals);
    case PhysicalType::kByteArray:
      return ReadTexts(bytes, count, out.texts);
    default:
      return absl::UnimplementedError(
          absl::StrCat("values of physical type ", static_cast<int>(type), " are not read"));
  }
}

absl::StatusOr<std::vector<std::uint32_t>> ReadIndices(std::string_view bytes, std::size_t count,
                                                       std::size_t size) {
  std::vector<std::uint32_t> indices;
  if (count == 0) return indices;
  if (bytes.empty()) return TooFew(count, "indices");
  const auto width = static_cast<std::uint8_t>(bytes.front());
  if (!DecodeRuns(bytes.substr(1), width, count, indices)) return TooFew(count, "indices");
  const std::uint32_t largest = *std::max_element(indices.begin(), indices.end());
  if (largest >= size) {
    return absl::InvalidArgumentError(
        absl::StrCat("index ", largest, " into a dictionary of ", size));
  }
  return indices;
}

}  // namespace fathom::collector::parquet
