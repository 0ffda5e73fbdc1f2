#include "collector/import/parquet/page.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collector/import/parquet/codec.h"
#include "collector/import/parquet/thrift_reader.h"

namespace fathom::collector::parquet {
namespace {

constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{16} << 20;

std::uint64_t ReadSize(ThriftReader& in) {
  const std::int64_t value = in.ReadI64();
  if (value < 0 || value > INT32_MAX) in.Fail();
  return in.ok() ? static_cast<std::uint64_t>(value) : 0;
}

// The headers of the three kinds number their first two fields alike, but for version 2.
void ReadKindHeader(ThriftReader& in, bool version_2, PageHeader& out) {
  ThriftField field;
  const std::int16_t encoding = version_2 ? 4 : 2;
  while (in.NextField(field)) {
    if (field.type == ThriftType::kTrue || field.type == ThriftType::kFalse) {
      if (version_2 && field.id == 7) out.is_packed = field.type == ThriftType::kTrue;
    } else if (field.type != ThriftType::kI32) {
      in.Skip(field.type);
    } else if (field.id == 1) {
      out.values = ReadSize(in);
    } else if (field.id == encoding) {
      out.encoding = static_cast<Encoding>(in.ReadI64());
    } else if (version_2 && field.id == 5) {
      out.definition_bytes = ReadSize(in);
    } else if (version_2 && field.id == 6) {
      out.repetition_bytes = ReadSize(in);
    } else if (!version_2 && field.id == 3) {
      out.level_encoding = static_cast<Encoding>(in.ReadI64());
    } else {
      in.ReadI64();
    }
  }
}

PageHeader ReadHeader(ThriftReader& in) {
  PageHeader out;
  ThriftField field;
  while (in.NextField(field)) {
    const bool number = field.type == ThriftType::kI32;
    if (field.id == 1 && number) {
      out.kind = static_cast<PageKind>(in.ReadI64());
    } else if (field.id == 2 && number) {
      out.unpacked = ReadSize(in);
    } else if (field.id == 3 && number) {
      out.packed = ReadSize(in);
    } else if ((field.id == 5 || field.id == 7 || field.id == 8) &&
               field.type == ThriftType::kStruct) {
      ReadKindHeader(in, field.id == 8, out);
    } else {
      in.Skip(field.type);
    }
  }
  return out;
}

absl::Status UnpackPage(std::string_view packed, Codec codec, Page& page) {
  const PageHeader& header = page.header;
  std::uint64_t plain = 0;
  if (header.kind == PageKind::kDataV2) plain = header.definition_bytes + header.repetition_bytes;
  if (plain > packed.size() || plain > header.unpacked) {
    return absl::InvalidArgumentError(
        absl::StrCat("levels of ", plain, " bytes in a page of ", packed.size()));
  }
  page.bytes = std::string(packed.substr(0, plain));
  packed.remove_prefix(plain);
  const std::uint64_t size = header.unpacked - plain;
  if (!header.is_packed) codec = Codec::kNone;
  if (size == 0) return absl::OkStatus();
  return Unpack(codec, packed, size, page.bytes);
}

}  // namespace

absl::StatusOr<Page> ReadPage(std::string_view chunk, Codec codec, std::uint64_t inflate_ratio) {
  ThriftReader in(chunk);
  Page page;
  page.header = ReadHeader(in);
  if (!in.ok()) return absl::InvalidArgumentError("the page header cannot be read");
  const std::string_view rest = chunk.substr(in.offset());
  const PageHeader& header = page.header;
  if (header.packed > rest.size()) {
    return absl::InvalidArgumentError(absl::StrCat("a page of ", header.packed, " bytes where ",
                                                   rest.size(), " are left in its column"));
  }
  if (header.unpacked > std::max(kAlwaysAllowed, header.packed * inflate_ratio)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a page of ", header.packed, " bytes would unpack to ", header.unpacked));
  }
  page.size = in.offset() + header.packed;
  const absl::Status unpacked = UnpackPage(rest.substr(0, header.packed), codec, page);
  if (!unpacked.ok()) return unpacked;
  return page;
}

}  // namespace fathom::collector::parquet
