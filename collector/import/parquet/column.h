// The values of one flat column, as a reader of tables wants them: numbers as 64-bit, text once.
//
// Filled by column_reader, read by importers. Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_IMPORT_PARQUET_COLUMN_H_
#define FATHOM_COLLECTOR_IMPORT_PARQUET_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fathom::collector::parquet {

enum class ColumnKind : std::uint8_t { kAbsent, kIntegers, kReals, kTexts };

struct Column {
  ColumnKind kind = ColumnKind::kAbsent;
  std::vector<std::uint8_t> present;   // 0: null; a value a row, as all below that its kind uses
  std::vector<std::int64_t> integers;  // 0 where null
  std::vector<double> reals;           // 0 where null
  std::vector<std::uint32_t> words;    // index into `dictionary`; 0 where null
  std::vector<std::string> dictionary;

  std::size_t rows() const { return present.size(); }
};

}  // namespace fathom::collector::parquet

#endif  // FATHOM_COLLECTOR_IMPORT_PARQUET_COLUMN_H_
