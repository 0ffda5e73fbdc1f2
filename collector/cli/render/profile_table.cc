#include "collector/cli/render/profile_table.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/render/table.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr auto kRight = Table::Align::kRight;
constexpr std::size_t kNameColumns = 60;

std::string Share(double part, double whole) {
  return whole > 0 ? absl::StrFormat("%.0f %%", 100 * part / whole) : "";
}

std::string NameOf(const Json& sum) {
  const std::string name = TextField(sum, "name");
  if (name.empty()) return TextField(sum, "kind");
  return name.size() <= kNameColumns ? name : Cat(name.substr(0, kNameColumns - 1), "~");
}

std::string RanksPart(const Json& ranks) {
  Table table({{"RANK", kRight},
               {"WINDOW"},
               {"TIME", kRight},
               {"GPU BUSY", kRight},
               {"CUPTI", kRight},
               {"RECORDS", kRight},
               {"LOST", kRight},
               {"WHY"}});
  for (const Json& rank : ranks) {
    const bool closed = TextField(rank, "state") == "closed";
    const double seconds = NumberField(rank, "seconds");
    table.Add({Cat(IntField(rank, "rank")), TextField(rank, "state"),
               closed ? Seconds(seconds) : "",
               closed ? Share(NumberField(rank, "busy_s"), seconds) : "",
               closed ? Share(NumberField(rank, "cupti_s"), seconds) : "",
               closed ? Cat(IntField(rank, "records")) : "",
               closed ? Cat(IntField(rank, "lost")) : "", TextField(rank, "reason")});
  }
  return table.ToString();
}

std::string ActivitiesPart(const Json& ranks, std::size_t activities) {
  Table table({{"RANK", kRight},
               {"ACTIVITY"},
               {"COUNT", kRight},
               {"TOTAL", kRight},
               {"EACH", kRight},
               {"LONGEST", kRight},
               {"OF WINDOW", kRight}});
  bool any = false;
  for (const Json& rank : ranks) {
    std::size_t shown = 0;
    for (const Json& sum : ListField(rank, "sums")) {
      if (shown++ == activities) break;
      const double total = NumberField(sum, "total_s");
      const auto count = std::max<std::int64_t>(1, IntField(sum, "count"));
      table.Add({Cat(IntField(rank, "rank")), NameOf(sum), Cat(IntField(sum, "count")),
                 Seconds(total), Seconds(total / static_cast<double>(count)),
                 Seconds(NumberField(sum, "longest_s")),
                 Share(total, NumberField(rank, "seconds"))});
      any = true;
    }
  }
  return any ? Cat("\n", table.ToString()) : "";
}

}  // namespace

std::string ProfileTable(const Json& profile, std::size_t activities) {
  const Json& ranks = ListField(profile, "ranks");
  const std::int64_t first = IntField(profile, "first_iteration", -1);
  const std::int64_t count = IntField(profile, "iterations");
  return Cat("iterations ", first, " to ", first + count - 1, "\n", RanksPart(ranks),
             ActivitiesPart(ranks, activities));
}

}  // namespace fathom::cli
