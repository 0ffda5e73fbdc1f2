#include "collector/cli/report/comparison_block.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/render/table.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kNameShown = 50;
constexpr double kLeastTold = 0.5e-6;  // a change that rounds to nothing

std::string Change(double before, double after) {
  const double growth = after - before;
  if (std::abs(growth) < kLeastTold) return "-";
  const std::string size = Cat(growth > 0 ? "+" : "-", Seconds(std::abs(growth)));
  return before > 0 ? Cat(size, absl::StrFormat(" (%+.0f %%)", 100 * growth / before)) : size;
}

void AddRow(std::string_view name, const Json& change, Table* table) {
  const double before = NumberField(change, "before_s"), after = NumberField(change, "after_s");
  if (before <= 0 && after <= 0) return;
  table->Add({Cat("  ", CutToWidth(name, kNameShown)), Seconds(before), Seconds(after),
              Change(before, after)});
}

std::string Rows(const Json& comparison) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"  AN ITERATION"}, {"BEFORE", kRight}, {"AFTER", kRight}, {"CHANGE", kRight}});
  AddRow("median", comparison, &table);
  for (const Json& kind : ListField(comparison, "kinds")) {
    AddRow(TextField(kind, "name"), kind, &table);
  }
  for (const Json& part : ListField(comparison, "parts")) {
    AddRow(TextField(part, "name"), part, &table);
  }
  return table.ToString();
}

}  // namespace

std::string ComparisonBlock(const Json& comparison, const Terminal& terminal) {
  const std::string sentence = TextField(comparison, "sentence");
  if (sentence.empty()) return "";
  const auto columns = TextColumns(terminal);
  std::string out = Cat(Paint(terminal, Ink::kBold, "Against the other recording"), "\n  ",
                        Wrap(sentence, columns - 4, "  "), "\n");
  if (TextField(comparison, "result") == "unrelated") return out;
  if (NumberField(comparison, "before_s") <= 0 && NumberField(comparison, "after_s") <= 0) {
    return out;
  }
  AppendTo(&out, Rows(comparison));
  if (!ListField(comparison, "kinds").empty()) {
    AppendTo(&out,
             "  below the median: means over ranks and iterations; kinds overlap, so do not add "
             "up\n");
  }
  return out;
}

}  // namespace fathom::cli
