// Reads Thrift's compact protocol, in which Parquet writes its footer and its page headers.
//
// Used by footer.cc and page.cc. A reader walks a struct field by field; what it does not know it
// skips:
//
//   while (reader.NextField(field)) {
//     if (field.id == 3 && field.type == ThriftType::kI64) rows = reader.ReadI64();
//     else reader.Skip(field.type);
//   }
//
// The bytes are outside bytes: every length is checked against what is left, nesting is bounded.
// After the first error every call returns nothing and NextField() false; ask ok() once at the end.
//
// Thread-safety: none; one thread. Ownership: views into the bytes given. Cost: O(bytes).
// Source: Apache Thrift, "Thrift Compact protocol encoding".
#ifndef FATHOM_COLLECTOR_IMPORT_PARQUET_THRIFT_READER_H_
#define FATHOM_COLLECTOR_IMPORT_PARQUET_THRIFT_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fathom::collector::parquet {

enum class ThriftType : std::uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kI8 = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

struct ThriftField {
  std::int16_t id = 0;
  ThriftType type = ThriftType::kStop;
};

struct ThriftList {
  ThriftType type = ThriftType::kStop;
  std::size_t size = 0;
};

class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  // The next field of the struct being read. False at its end or after an error. Requires: `field`
  // is the one that the last call filled, of the same struct; a new struct starts with {}.
  [[nodiscard]] bool NextField(ThriftField& field);

  std::int64_t ReadI64();  // any integer of up to 64 bits
  std::string_view ReadBinary();
  ThriftList ReadList();  // its size never exceeds the bytes left
  void Skip(ThriftType type) { SkipNested(type, 0); }

  // A value that the caller cannot use: what follows is not read.
  void Fail() { ok_ = false; }

  bool ok() const { return ok_; }
  std::size_t offset() const { return at_; }

 private:
  std::uint8_t ReadByte();
  std::uint64_t ReadVarint();
  void SkipNested(ThriftType type, int depth);
  void SkipStruct(int depth);
  void SkipItems(int depth);
  void SkipMap(int depth);

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace fathom::collector::parquet

#endif  // FATHOM_COLLECTOR_IMPORT_PARQUET_THRIFT_READER_H_
