#include "collector/cli/render/table.h"

#include <algorithm>
#include <cassert>

#include "collector/cli/render/terminal.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {

void Table::Add(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) {
    if (cell.empty()) cell.assign(1, '-');
  }
  rows_.push_back(std::move(cells));
}

std::string Table::Line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string fill(widths[i] - DisplayWidth(cells[i]), ' ');
    const bool right = columns_[i].align == Align::kRight;
    AppendTo(&line, i > 0 ? "  " : "", right ? fill : "", cells[i], right ? "" : fill);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  line.push_back('\n');
  return line;
}

std::string Table::ToString() const {
  std::vector<std::string> headings;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    headings.push_back(column.heading);
    widths.push_back(DisplayWidth(column.heading));
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  }
  std::string out = Line(headings, widths);
  for (const auto& row : rows_) out += Line(row, widths);
  return out;
}

}  // namespace fathom::cli
