#include "collector/import/parquet/thrift_reader.h"

namespace fathom::collector::parquet {
namespace {

constexpr int kDeepest = 32;
constexpr int kVarintBits = 64;

}  // namespace

std::uint8_t ThriftReader::ReadByte() {
  if (!ok_ || at_ >= bytes_.size()) {
    ok_ = false;
    return 0;
  }
  return static_cast<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ThriftReader::ReadVarint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < kVarintBits; shift += 7) {
    const std::uint8_t byte = ReadByte();
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return ok_ ? value : 0;
  }
  ok_ = false;
  return 0;
}

std::int64_t ThriftReader::ReadI64() {
  const std::uint64_t zigzag = ReadVarint();
  return static_cast<std::int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
}

bool ThriftReader::NextField(ThriftField& field) {
  const std::uint8_t head = ReadByte();
  if (!ok_ || head == 0) return false;
  const int delta = head >> 4;
  const std::int64_t id = delta == 0 ? ReadI64() : field.id + delta;
  if (id < INT16_MIN || id > INT16_MAX) ok_ = false;
  field = {static_cast<std::int16_t>(id), static_cast<ThriftType>(head & 0x0f)};
  return ok_;
}

std::string_view ThriftReader::ReadBinary() {
  const std::uint64_t size = ReadVarint();
  if (!ok_ || size > bytes_.size() - at_) {
    ok_ = false;
    return {};
  }
  const std::string_view out = bytes_.substr(at_, size);
  at_ += size;
  return out;
}

ThriftList ThriftReader::ReadList() {
  const std::uint8_t head = ReadByte();
  const std::uint64_t size = (head >> 4) == 0x0f ? ReadVarint() : head >> 4;
  // An item takes a byte at least, so a longer list cannot be there.
  if (!ok_ || size > bytes_.size() - at_) {
    ok_ = false;
    return {};
  }
  return {static_cast<ThriftType>(head & 0x0f), size};
}

void ThriftReader::SkipStruct(int depth) {
  ThriftField field;
  while (NextField(field)) SkipNested(field.type, depth + 1);
}

void ThriftReader::SkipItems(int depth) {
  const ThriftList list = ReadList();
  const bool bools = list.type == ThriftType::kTrue || list.type == ThriftType::kFalse;
  for (std::size_t i = 0; i < list.size && ok_; ++i) {
    if (bools) {
      ReadByte();
    } else {
      SkipNested(list.type, depth + 1);
    }
  }
}

void ThriftReader::SkipMap(int depth) {
  const std::uint64_t size = ReadVarint();
  if (size == 0) return;
  const std::uint8_t types = ReadByte();
  if (size > bytes_.size() - at_) ok_ = false;
  for (std::uint64_t i = 0; i < size && ok_; ++i) {
    SkipNested(static_cast<ThriftType>(types >> 4), depth + 1);
    SkipNested(static_cast<ThriftType>(types & 0x0f), depth + 1);
  }
}

void ThriftReader::SkipNested(ThriftType type, int depth) {
  if (depth > kDeepest) ok_ = false;
  if (!ok_) return;
  constexpr std::size_t kDoubleBytes = 8;
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      return;  // the value is in the type
    case ThriftType::kI8:
      ReadByte();
      return;
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64:
      ReadVarint();
      return;
    case ThriftType::kDouble:
      for (std::size_t i = 0; i < kDoubleBytes; ++i) ReadByte();
      return;
    case ThriftType::kBinary:
      ReadBinary();
      return;
    case ThriftType::kList:
    case ThriftType::kSet:
      return SkipItems(depth);
    case ThriftType::kMap:
      return SkipMap(depth);
    case ThriftType::kStruct:
      return SkipStruct(depth);
    case ThriftType::kStop:
      break;
  }
  ok_ = false;
}

}  // namespace fathom::collector::parquet
