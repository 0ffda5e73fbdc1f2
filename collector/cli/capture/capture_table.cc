#include "collector/cli/capture/capture_table.h"

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/render/table.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr auto kRight = Table::Align::kRight;

std::string Kilobytes(double bytes) { return absl::StrFormat("%.1f KB", bytes / 1000); }

std::string Doing(const Json& of) {
  const std::string doing = TextField(of, "doing");
  if (BoolField(of, "beside")) return "runs another thread";
  const std::string worker = BoolField(of, "in_workers") ? "in workers of its data loader" : "";
  if (doing == "sleep") return "asleep";
  if (doing == "lock") return "waits for a lock";
  if (doing == "network") return "waits for a socket or pipe";
  if (doing == "file") return "reads or writes";
  if (doing == "child") return "waits for a process";
  return worker.empty() ? doing : worker;
}

std::string Heading(const Json& capture) {
  const std::int64_t first = IntField(capture, "first_iteration", -1);
  const std::int64_t count = IntField(capture, "iterations");
  const std::string native = BoolField(capture, "native") ? ", with native frames" : "";
  if (first < 0) return Cat("stacks, as each node heard of it", native, "\n");
  return Cat("stacks of iterations ", first, " to ", first + count - 1, ", the same on all ranks",
             native, "\n");
}

std::string CulpritsPart(const Json& functions) {
  Table table({{"RANK", kRight},
               {"FUNCTION"},
               {"OF ITS TIME", kRight},
               {"OF ITS PEERS'", kRight},
               {"THERE IT"}});
  for (const Json& each : functions) {
    if (TextField(each, "function").empty()) continue;
    table.Add({Cat(IntField(each, "rank")), PlaceName(each), Percent(NumberField(each, "share")),
               Percent(NumberField(each, "peers_share")), Doing(each)});
  }
  if (!table.empty()) return table.ToString();
  const std::string why = functions.empty() ? "" : TextField(functions.front(), "missing");
  return Cat("no rank spends clearly more of its time in one function than its peers",
             why.empty() ? "" : Cat(" (missing: ", why, ")"), "\n");
}

// Of the rank that stands out most; of the first one where none does.
std::string PlacesPart(const Json& functions, std::size_t places) {
  if (functions.empty() || ListField(functions.front(), "table").empty()) return "";
  const Json& of = functions.front();
  Table table({{Cat("RANK ", IntField(of, "rank"), " IS IN")},
               {"OF ITS TIME", kRight},
               {"OF ITS PEERS'", kRight}});
  std::size_t shown = 0;
  for (const Json& place : ListField(of, "table")) {
    if (shown++ == places) break;
    table.Add({PlaceName(place), Percent(NumberField(place, "share")),
               Percent(NumberField(place, "peers_share"))});
  }
  return Cat("\n", table.ToString());
}

std::string RanksPart(const Json& ranks) {
  Table table({{"RANK", kRight},
               {"STACKS"},
               {"TIME", kRight},
               {"SAMPLES", kRight},
               {"OF WORKERS", kRight},
               {"RAW", kRight},
               {"WHY"}});
  for (const Json& rank : ranks) {
    const bool done = TextField(rank, "state") == "done";
    table.Add({Cat(IntField(rank, "rank")), TextField(rank, "state"),
               done ? Seconds(NumberField(rank, "seconds")) : "",
               done ? Cat(IntField(rank, "samples")) : "",
               done ? Cat(IntField(rank, "worker_samples")) : "",
               done ? Kilobytes(NumberField(rank, "raw_bytes")) : "", TextField(rank, "reason")});
  }
  return Cat("\n", table.ToString());
}

}  // namespace

std::string PlaceName(const Json& place) {
  const std::string function = TextField(place, "function");
  const std::string file = TextField(place, "file");
  if (file.empty()) return function;
  const std::int64_t line = IntField(place, "line");
  return Cat(function, " (", file.substr(file.rfind('/') + 1), line == 0 ? "" : Cat(":", line),
             ")");
}

std::string CaptureTable(const Json& capture, std::size_t places) {
  const Json& functions = ListField(capture, "functions");
  return Cat(Heading(capture), CulpritsPart(functions), PlacesPart(functions, places),
             RanksPart(ListField(capture, "ranks")));
}

}  // namespace fathom::cli
