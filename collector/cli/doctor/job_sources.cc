#include "collector/cli/doctor/job_sources.h"

#include <algorithm>
#include <vector>

#include "collector/cli/render/table.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kSources[] = {"gloo", "nccl", "nccl_plugin", "cuda", "gpu_window", "python"};

const Json& SourcesOf(const Json& rank) {
  static const Json kNone = Json::object();
  return HasField(rank, "sources") ? rank["sources"] : kNone;
}

// Of the communication between GPUs; blank for a job on CPUs.
std::string TierOf(const Json& rank) {
  const Json& sources = SourcesOf(rank);
  if (TextField(sources, "gpu_window") == "on") return "2";
  if (TextField(sources, "nccl_plugin") == "on") return "1";
  return TextField(sources, "nccl") == "on" ? "0" : "";
}

// They have no column: the plugin tells them, on request only of this one.
std::string TransfersOff(const Json& health) {
  const Json& ranks = ListField(health, "ranks");
  const auto off = std::count_if(ranks.begin(), ranks.end(), [](const Json& rank) {
    const Json& names = ListField(rank, "switched_off");
    return std::count(names.begin(), names.end(), "nccl_transfers") > 0;
  });
  if (off == 0) return "";
  return Cat("nccl_transfers is switched off on ", off,
             " ranks; hides: on which link the steps of a stuck op are lost\n");
}

}  // namespace

std::string JobSourcesTable(const Json& health) {
  const Json& ranks = ListField(health, "ranks");
  const bool gpus = SomeTellGpu(ranks);
  std::vector<Table::Column> columns = {{"RANK", Table::Align::kRight}, {"NODE"}};
  if (gpus) columns.push_back({"GPU"});
  for (const char* source : kSources) columns.push_back({source});
  columns.push_back({"TIER"});
  columns.push_back({"WHY NO WINDOW"});
  Table table(std::move(columns));
  for (const Json& rank : ranks) {
    std::vector<std::string> row = {Cat(IntField(rank, "rank")), TextField(rank, "node")};
    if (gpus) row.push_back(GpuField(rank));
    for (const char* source : kSources) row.push_back(TextField(SourcesOf(rank), source));
    row.push_back(TierOf(rank));
    row.push_back(TextField(rank, "window_refused"));
    table.Add(std::move(row));
  }
  std::string hidden;
  for (const Json& signal : ListField(health, "signals")) {
    const std::string state = TextField(signal, "state");
    if (state == "on") continue;
    AppendTo(&hidden, TextField(signal, "name"), " is ", state,
             "; hides: ", TextField(signal, "hides"), "\n");
  }
  AppendTo(&hidden, TransfersOff(health));
  return Cat(table.ToString(), hidden.empty() ? "" : "\n", hidden);
}

Json JobSourcesJson(const Json& health) {
  Json ranks = Json::array();
  for (const Json& rank : ListField(health, "ranks")) {
    ranks.push_back({{"rank", IntField(rank, "rank")},
                     {"node", TextField(rank, "node")},
                     {"gpu", GpuField(rank)},
                     {"sources", SourcesOf(rank)},
                     {"switched_off", ListField(rank, "switched_off")},
                     {"tier", TierOf(rank)},
                     {"window_refused", TextField(rank, "window_refused")}});
  }
  return Json{{"ranks", ranks}, {"signals", ListField(health, "signals")}};
}

}  // namespace fathom::cli
