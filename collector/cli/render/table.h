// A table of text: headings, columns as wide as their widest cell, two spaces between.
//
// Used by get, doctor, profile and analyze. Cells may hold UTF-8 and the escapes of Paint.
// Thread-safety: thread-compatible. Errors: none. Requires: rows as long as the headings.
#ifndef FATHOM_COLLECTOR_CLI_RENDER_TABLE_H_
#define FATHOM_COLLECTOR_CLI_RENDER_TABLE_H_

#include <string>
#include <utility>
#include <vector>

namespace fathom::cli {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Lines without trailing spaces, each ended by a newline.
  std::string ToString() const;

 private:
  std::string Line(const std::vector<std::string>& cells,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_TABLE_H_
