#include "collector/import/parquet/footer.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collector/import/parquet/thrift_reader.h"

namespace fathom::collector::parquet {
namespace {

constexpr std::size_t kTailBytes = 8;
constexpr std::int64_t kRequired = 0;
constexpr std::int64_t kOptional = 1;

struct SchemaElement {
  std::string name;
  std::optional<std::int64_t> type;
  std::int64_t repetition = kRequired;
  std::int64_t children = 0;
};

SchemaElement ReadElement(ThriftReader& in) {
  SchemaElement out;
  ThriftField field;
  while (in.NextField(field)) {
    if (field.id == 1 && field.type == ThriftType::kI32) {
      out.type = in.ReadI64();
    } else if (field.id == 3 && field.type == ThriftType::kI32) {
      out.repetition = in.ReadI64();
    } else if (field.id == 4 && field.type == ThriftType::kBinary) {
      out.name = std::string(in.ReadBinary());
    } else if (field.id == 5 && field.type == ThriftType::kI32) {
      out.children = in.ReadI64();
    } else {
      in.Skip(field.type);
    }
  }
  return out;
}

std::string ReadPath(ThriftReader& in) {
  std::string path;
  const ThriftList list = in.ReadList();
  for (std::size_t i = 0; i < list.size && in.ok(); ++i) {
    if (i > 0) path += '.';
    path += std::string(in.ReadBinary());
  }
  return path;
}

void ReadChunkMetadata(ThriftReader& in, ColumnChunk& out) {
  std::int64_t data = 0;
  std::int64_t dictionary = 0;
  std::int64_t bytes = 0;
  ThriftField field;
  while (in.NextField(field)) {
    const bool number = field.type == ThriftType::kI32 || field.type == ThriftType::kI64;
    if (field.id == 3 && field.type == ThriftType::kList) {
      out.column = ReadPath(in);
    } else if (!number) {
      in.Skip(field.type);
    } else {
      const std::int64_t value = in.ReadI64();
      if (field.id == 1) out.type = static_cast<PhysicalType>(value);
      if (field.id == 4) out.codec = static_cast<Codec>(value);
      if (field.id == 5) out.values = value;
      if (field.id == 7) bytes = value;
      if (field.id == 9) data = value;
      if (field.id == 11) dictionary = value;
    }
  }
  // Some writers leave a dictionary offset of 0 where there is no dictionary.
  const std::int64_t begin = dictionary > 0 && dictionary < data ? dictionary : data;
  if (begin < 0 || bytes < 0 || out.values < 0) return in.Fail();
  out.begin = static_cast<std::uint64_t>(begin);
  out.bytes = static_cast<std::uint64_t>(bytes);
}

ColumnChunk ReadChunk(ThriftReader& in) {
  ColumnChunk out;
  ThriftField field;
  while (in.NextField(field)) {
    if (field.id == 3 && field.type == ThriftType::kStruct) {
      ReadChunkMetadata(in, out);
    } else {
      in.Skip(field.type);
    }
  }
  return out;
}

RowGroup ReadGroup(ThriftReader& in) {
  RowGroup out;
  ThriftField field;
  while (in.NextField(field)) {
    if (field.id == 1 && field.type == ThriftType::kList) {
      const ThriftList list = in.ReadList();
      for (std::size_t i = 0; i < list.size && in.ok(); ++i) out.chunks.push_back(ReadChunk(in));
    } else if (field.id == 3 && field.type == ThriftType::kI64) {
      out.rows = in.ReadI64();
    } else {
      in.Skip(field.type);
    }
  }
  return out;
}

std::size_t ChildrenOf(const SchemaElement& element, const std::vector<SchemaElement>& schema) {
  return std::min(static_cast<std::size_t>(std::max<std::int64_t>(element.children, 0)),
                  schema.size());
}

// The tree of columns comes in depth-first order, each node with the count of its children.
std::vector<LeafColumn> LeavesOf(const std::vector<SchemaElement>& schema) {
  std::vector<LeafColumn> leaves;
  std::size_t at = 1;
  while (at < schema.size()) {
    const SchemaElement& top = schema[at++];
    LeafColumn leaf;
    leaf.name = top.name;
    leaf.optional = top.repetition == kOptional;
    leaf.flat = top.children == 0 && top.repetition <= kOptional && top.type.has_value();
    if (top.type.has_value()) leaf.type = static_cast<PhysicalType>(*top.type);
    leaves.push_back(leaf);
    for (std::size_t below = ChildrenOf(top, schema); below > 0 && at < schema.size(); --below) {
      below = std::min(below + ChildrenOf(schema[at++], schema), schema.size());
    }
  }
  return leaves;
}

Footer ReadMetadata(ThriftReader& in) {
  Footer out;
  std::vector<SchemaElement> schema;
  ThriftField field;
  while (in.NextField(field)) {
    if (field.id == 2 && field.type == ThriftType::kList) {
      const ThriftList list = in.ReadList();
      for (std::size_t i = 0; i < list.size && in.ok(); ++i) schema.push_back(ReadElement(in));
    } else if (field.id == 3 && field.type == ThriftType::kI64) {
      out.rows = in.ReadI64();
    } else if (field.id == 4 && field.type == ThriftType::kList) {
      const ThriftList list = in.ReadList();
      for (std::size_t i = 0; i < list.size && in.ok(); ++i) out.groups.push_back(ReadGroup(in));
    } else {
      in.Skip(field.type);
    }
  }
  out.columns = LeavesOf(schema);
  return out;
}

absl::Status CheckChunks(const Footer& footer, std::uint64_t end) {
  for (const RowGroup& group : footer.groups) {
    if (group.rows < 0) return absl::InvalidArgumentError("a row group with fewer than no rows");
    for (const ColumnChunk& chunk : group.chunks) {
      if (chunk.begin > end || chunk.bytes > end - chunk.begin) {
        return absl::InvalidArgumentError(
            absl::StrCat("column ", chunk.column, " lies at byte ", chunk.begin, " to ",
                         chunk.begin + chunk.bytes, ", past the end of the data at ", end));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Footer> ReadFooter(std::string_view file) {
  if (file.size() < kMagic.size() + kTailBytes || !file.starts_with(kMagic)) {
    return absl::InvalidArgumentError("no Parquet file: it does not begin with PAR1");
  }
  if (!file.ends_with(kMagic)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the footer is missing: the file is cut off, or still being written, at byte ",
                     file.size()));
  }
  const std::size_t tail = file.size() - kTailBytes;
  std::uint32_t length = 0;
  std::memcpy(&length, file.data() + tail, sizeof length);
  if (length > tail - kMagic.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the footer would be ", length, " bytes long, in a file of ", file.size()));
  }
  const std::size_t begin = tail - length;
  ThriftReader in(file.substr(begin, length));
  Footer footer = ReadMetadata(in);
  if (!in.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the footer cannot be read at byte ", begin + in.offset()));
  }
  if (absl::Status inside = CheckChunks(footer, begin); !inside.ok()) return inside;
  return footer;
}

}  // namespace fathom::collector::parquet
