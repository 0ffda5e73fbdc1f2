#include "collector/import/parquet/column_reader.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collector/import/parquet/page.h"
#include "collector/import/parquet/page_values.h"

namespace fathom::collector::parquet {
namespace {

ColumnKind KindOf(PhysicalType type) {
  switch (type) {
    case PhysicalType::kInt32:
    case PhysicalType::kInt64:
      return ColumnKind::kIntegers;
    case PhysicalType::kFloat:
    case PhysicalType::kDouble:
      return ColumnKind::kReals;
    case PhysicalType::kByteArray:
      return ColumnKind::kTexts;
    default:
      return ColumnKind::kAbsent;
  }
}

class ChunkReader {
 public:
  ChunkReader(const LeafColumn& leaf, const ColumnChunk& chunk, std::uint64_t inflate_ratio)
      : leaf_(leaf), chunk_(chunk), inflate_ratio_(inflate_ratio) {
    column_.kind = KindOf(chunk.type);
  }

  absl::StatusOr<Column> Read(std::string_view file) {
    std::string_view rest = file.substr(chunk_.begin, chunk_.bytes);
    std::uint64_t at = chunk_.begin;
    if (column_.kind == ColumnKind::kAbsent) {
      return At(at,
                absl::UnimplementedError(absl::StrCat(
                    "values of physical type ", static_cast<int>(chunk_.type), " are not read")));
    }
    while (column_.rows() < static_cast<std::uint64_t>(chunk_.values)) {
      auto page = ReadPage(rest, chunk_.codec, inflate_ratio_);
      const absl::Status taken = page.ok() ? Take(*page) : page.status();
      if (!taken.ok()) return At(at, taken);
      rest.remove_prefix(page->size);
      at += page->size;
    }
    return std::move(column_);
  }

 private:
  absl::Status At(std::uint64_t offset, const absl::Status& why) const {
    return absl::Status(why.code(), absl::StrCat("column ", leaf_.name, ", page at byte ", offset,
                                                 ": ", std::string(why.message())));
  }

  absl::Status Take(const Page& page) {
    switch (page.header.kind) {
      case PageKind::kDictionary:
        return TakeDictionary(page);
      case PageKind::kData:
      case PageKind::kDataV2:
        return TakeData(page);
      default:
        return absl::OkStatus();
    }
  }

  absl::Status TakeDictionary(const Page& page) {
    Values read;
    const absl::Status plain = ReadPlain(page.bytes, chunk_.type, page.header.values, read);
    if (!plain.ok()) return plain;
    dictionary_.integers = std::move(read.integers);
    dictionary_.reals = std::move(read.reals);
    dictionary_words_.clear();
    for (const std::string_view text : read.texts) dictionary_words_.push_back(WordOf(text));
    dictionary_size_ = page.header.values;
    return absl::OkStatus();
  }

  absl::Status TakeData(const Page& page) {
    if (page.header.values > static_cast<std::uint64_t>(chunk_.values) - column_.rows()) {
      return absl::InvalidArgumentError(
          absl::StrCat("more values than the ", chunk_.values, " that its column has"));
    }
    auto levels = ReadLevels(page, leaf_.optional);
    if (!levels.ok()) return levels.status();
    switch (page.header.encoding) {
      case Encoding::kPlain: {
        Values values;
        const absl::Status plain = ReadPlain(levels->rest, chunk_.type, levels->count, values);
        if (!plain.ok()) return plain;
        std::vector<std::uint32_t> words;
        for (const std::string_view text : values.texts) words.push_back(WordOf(text));
        Append(
            *levels, [](std::size_t i) { return i; }, values, words);
        return absl::OkStatus();
      }
      case Encoding::kPlainDictionary:
      case Encoding::kRleDictionary: {
        const auto indices = ReadIndices(levels->rest, levels->count, dictionary_size_);
        if (!indices.ok()) return indices.status();
        Append(
            *levels, [&](std::size_t i) { return (*indices)[i]; }, dictionary_, dictionary_words_);
        return absl::OkStatus();
      }
      default:
        return absl::UnimplementedError(absl::StrCat(
            "encoding ", static_cast<int>(page.header.encoding),
            " is not read (known: PLAIN, PLAIN_DICTIONARY, RLE_DICTIONARY); write it without"));
    }
  }

  // `place` maps the n-th value that is there to its place in `values` or `words`.
  template <typename Place>
  void Append(const Levels& levels, const Place& place, const Values& values,
              const std::vector<std::uint32_t>& words) {
    std::size_t next = 0;
    for (const std::uint8_t present : levels.present) {
      const std::size_t from = present == 0 ? 0 : place(next++);
      column_.present.push_back(present);
      if (column_.kind == ColumnKind::kIntegers) {
        column_.integers.push_back(present == 0 ? 0 : values.integers[from]);
      } else if (column_.kind == ColumnKind::kReals) {
        column_.reals.push_back(present == 0 ? 0 : values.reals[from]);
      } else {
        column_.words.push_back(present == 0 ? 0 : words[from]);
      }
    }
  }

  std::uint32_t WordOf(std::string_view text) {
    const auto [at, added] = word_of_.try_emplace(
        std::string(text), static_cast<std::uint32_t>(column_.dictionary.size()));
    if (added) column_.dictionary.emplace_back(text);
    return at->second;
  }

  const LeafColumn& leaf_;
  const ColumnChunk& chunk_;
  const std::uint64_t inflate_ratio_;
  Column column_;
  Values dictionary_;
  std::vector<std::uint32_t> dictionary_words_;
  std::size_t dictionary_size_ = 0;
  absl::flat_hash_map<std::string, std::uint32_t> word_of_;
};

}  // namespace

absl::StatusOr<Column> ReadColumn(std::string_view file, const LeafColumn& leaf,
                                  const ColumnChunk& chunk, std::uint64_t inflate_ratio) {
  return ChunkReader(leaf, chunk, inflate_ratio).Read(file);
}

}  // namespace fathom::collector::parquet
