#include "collector/import/parquet/table_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/import/parquet/column_reader.h"
#include "collector/import/parquet/footer.h"

namespace fathom::collector::parquet {
namespace {

const LeafColumn* FindLeaf(const Footer& footer, const std::string& name) {
  const auto at = std::find_if(footer.columns.begin(), footer.columns.end(),
                               [&](const LeafColumn& leaf) { return leaf.name == name; });
  return at == footer.columns.end() ? nullptr : &*at;
}

absl::StatusOr<Column> ReadWanted(std::string_view file, const Footer& footer,
                                  const RowGroup& group, const std::string& name,
                                  std::uint64_t inflate_ratio) {
  const LeafColumn* leaf = FindLeaf(footer, name);
  if (leaf == nullptr) return Column{};
  if (!leaf->flat) {
    return absl::UnimplementedError(
        absl::StrCat("column ", name, " is nested or repeated, which is not read"));
  }
  const auto chunk = std::find_if(group.chunks.begin(), group.chunks.end(),
                                  [&](const ColumnChunk& c) { return c.column == name; });
  if (chunk == group.chunks.end() || chunk->values != group.rows) {
    return absl::InvalidArgumentError(
        absl::StrCat("column ", name, " has not the ", group.rows, " values of its row group"));
  }
  return ReadColumn(file, *leaf, *chunk, inflate_ratio);
}

}  // namespace

absl::Status ReadTable(std::string_view file, const std::vector<std::string>& wanted,
                       const TableLimits& limits,
                       const std::function<absl::Status(const RowBlock&)>& sink) {
  const auto footer = ReadFooter(file);
  if (!footer.ok()) return footer.status();
  std::uint64_t rows = 0;
  for (const RowGroup& group : footer->groups) {
    rows += static_cast<std::uint64_t>(group.rows);
    if (static_cast<std::uint64_t>(group.rows) > limits.rows || rows > limits.rows) {
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", limits.rows, " rows; raise the limit"));
    }
    RowBlock block;
    block.rows = static_cast<std::size_t>(group.rows);
    for (const std::string& name : wanted) {
      auto column = ReadWanted(file, *footer, group, name, limits.inflate_ratio);
      if (!column.ok()) return column.status();
      block.columns.push_back(*std::move(column));
    }
    if (absl::Status taken = sink(block); !taken.ok()) return taken;
  }
  return absl::OkStatus();
}

}  // namespace fathom::collector::parquet
