#include "collector/cli/report/ledger_block.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/render/verdict_view.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kListed = 4;
constexpr double kHour = 3600;

std::string NameOf(const Json& share) {
  const Json& entity = ObjectField(share, "entity");
  const std::vector<std::int64_t> ranks = IntsField(entity, "ranks");
  const std::string type = TextField(entity, "type");
  std::string name = type == "host" ? Cat("node ", TextField(entity, "node"))
                     : type == "rank" || type == "gpu" || ranks.empty() ? std::string()
                                                                        : Cat(type, " of ");
  if (type != "host") AppendTo(&name, ranks.size() == 1 ? "rank " : "ranks ", RankList(ranks));
  return Cat(name, " ", TextField(share, "cause"));
}

std::string Row(const std::string& name, double lost_s, double all_s, const std::string& more) {
  return absl::StrFormat("  %-34s %18s %6s%s\n", name, GpuTime(lost_s / kHour),
                         PercentOf(lost_s, all_s), more.empty() ? "" : Cat("  ", more));
}

std::string Rows(const Json& shares, double lost) {
  std::string out;
  std::size_t listed = 0, more = 0;
  for (const Json& share : shares) {
    if (BoolField(share, "hidden")) continue;
    if (listed == kListed) {
      ++more;
      continue;
    }
    ++listed;
    AppendTo(&out, Row(NameOf(share), NumberField(share, "lost_gpu_s"), lost,
                       Cat(Seconds(NumberField(share, "gain_s_per_iteration")),
                           " an iteration to be won back")));
  }
  if (more > 0) AppendTo(&out, "  and ", more, " more: -o json\n");
  return out;
}

std::string Hidden(const Json& shares) {
  std::string names;
  std::size_t listed = 0;
  for (const Json& share : shares) {
    if (!BoolField(share, "hidden") || listed++ >= kListed) continue;
    AppendTo(&names, names.empty() ? "" : ", ", NameOf(share));
  }
  return names.empty() ? "" : Cat("hidden, costs nothing now: ", names);
}

std::string JobShareName(const Json& share) {
  const std::string cause = TextField(share, "cause");
  if (BoolField(share, "rest")) return Cat("others ", cause);
  const Json& entity = ObjectField(share, "entity");
  const std::vector<std::int64_t> ranks = IntsField(entity, "ranks");
  const std::string type = TextField(entity, "type"), node = TextField(entity, "node");
  if (type == "host") return Cat("node ", node, " ", cause);
  const std::string members = ranks.empty() ? std::string("many ranks") : RankNames(ranks);
  if (type != "rank" && type != "gpu") return Cat(type, " of ", members, " ", cause);
  return Cat(members, node.empty() ? "" : Cat(" on ", node), " ", cause);
}

// Empty where there were no recoveries.
std::string Downtime(const Json& downtime, const Terminal& terminal) {
  const std::int64_t count = IntField(downtime, "recoveries");
  if (count == 0) return "";
  const std::int64_t ended = IntField(downtime, "recovered");
  std::string text = Cat("beside that, ", GpuTime(NumberField(downtime, "lost_gpu_s") / kHour),
                         " by ", count == 1 ? std::string("a recovery") : Cat(count, " recoveries"),
                         ended == count ? ""
                         : count == 1   ? " that is not over"
                                        : Cat(", ", ended, " to the end"));
  const char* before = ": ";
  for (const Json& stage : ListField(downtime, "stages")) {
    AppendTo(&text, before, TextField(stage, "stage"), " ", Seconds(NumberField(stage, "seconds")));
    before = ", ";
  }
  return Cat("  ", Wrap(text, TextColumns(terminal) - 2, "    "), "\n");
}

}  // namespace

std::string LedgerBlock(const Json& ledger, const Terminal& terminal) {
  const double used = NumberField(ledger, "used_gpu_s");
  if (!(used > 0)) return "";
  const double lost = NumberField(ledger, "lost_gpu_s");
  const Json& shares = ListField(ledger, "shares");
  std::string out = Cat(Paint(terminal, Ink::kBold, "Where the GPU time went"), ", ",
                        IntField(ledger, "iterations"), " iterations compared with peers\n");
  AppendTo(&out, "  ", GpuTime(used / kHour), " used, ",
           GpuTime(NumberField(ledger, "ideal_gpu_s") / kHour), " needed, ", GpuTime(lost / kHour),
           " lost (", PercentOf(lost, used), ")\n");
  const std::string rows = Rows(shares, lost);
  AppendTo(&out, rows);
  if (!rows.empty()) {
    AppendTo(&out, Row("unexplained", NumberField(ledger, "unexplained_gpu_s"), lost, ""));
  }
  const std::string hidden = Hidden(shares);
  if (!hidden.empty()) AppendTo(&out, "  ", Wrap(hidden, TextColumns(terminal) - 2, "    "), "\n");
  return out;
}

std::string JobLedgerBlock(const Json& ledger, std::size_t most, const Terminal& terminal) {
  const double used = NumberField(ledger, "used_gpu_s");
  if (!(used > 0)) return "";
  const double lost = NumberField(ledger, "lost_gpu_s");
  std::string out = Cat(Paint(terminal, Ink::kBold, "Where the GPU time went"), ", ",
                        Number(NumberField(ledger, "iterations")), " iterations of the whole job");
  const Json& slices = ListField(ledger, "over_time");
  if (!slices.empty()) AppendTo(&out, " since ", LocalTime(IntField(slices[0], "begin_unix_ns")));
  AppendTo(&out, "\n  ", GpuTime(used / kHour), " used, ",
           GpuTime(NumberField(ledger, "ideal_gpu_s") / kHour), " needed, ", GpuTime(lost / kHour),
           " lost (", PercentOf(lost, used), ")\n");
  std::size_t listed = 0, more = 0;
  double more_s = 0;
  for (const Json& share : ListField(ledger, "shares")) {
    if (listed == most) {
      ++more;
      more_s += NumberField(share, "lost_gpu_s");
      continue;
    }
    ++listed;
    AppendTo(&out, Row(JobShareName(share), NumberField(share, "lost_gpu_s"), lost,
                       TextField(share, "owner")));
  }
  if (more > 0) AppendTo(&out, Row(Cat("and ", more, " more: -o json"), more_s, lost, ""));
  AppendTo(&out, Row("unexplained", NumberField(ledger, "unexplained_gpu_s"), lost, ""));
  return Cat(out, Downtime(ObjectField(ledger, "downtime"), terminal));
}

}  // namespace fathom::cli
