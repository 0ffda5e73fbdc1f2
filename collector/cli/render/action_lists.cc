#include "collector/cli/render/action_lists.h"

#include "collector/cli/render/table.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

std::string WhatStops(const Json& answer) {
  std::string out;
  if (const auto why = TextField(answer, "paused"); !why.empty()) {
    AppendTo(&out, "paused by ", why, "\n");
  }
  if (const auto why = TextField(answer, "tripped"); !why.empty()) {
    AppendTo(&out, "stopped by the breaker: ", why, "; `fathom action reset` starts it again\n");
  }
  for (const Json& problem : ListField(answer, "problems")) {
    if (problem.is_string()) AppendTo(&out, Printable(problem.get<std::string>()), "\n");
  }
  return out;
}

std::string TableOf(const Json& rows,
                    const std::vector<std::pair<const char*, const char*>>& columns) {
  std::vector<Table::Column> headings;
  for (const auto& column : columns) headings.push_back({column.first});
  Table table(std::move(headings));
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const auto& column : columns) cells.push_back(TextField(row, column.second));
    table.Add(std::move(cells));
  }
  return table.empty() ? "" : table.ToString();
}

}  // namespace

std::string ActionsTable(const Json& answer, bool wide) {
  std::vector<std::pair<const char*, const char*>> columns = {
      {"ACTION", "id"},   {"NODE", "node"},       {"STATE", "phase"}, {"MODE", "mode"},
      {"CAUSE", "cause"}, {"VERDICT", "verdict"}, {"BY", "actor"},    {"WHY", "text"}};
  if (wide) columns.insert(columns.end(), {{"JOB", "job"}, {"EVIDENCE", "evidence"}});
  return WhatStops(answer) + TableOf(ListField(answer, "actions"), columns);
}

std::string PlanTable(const Json& answer, bool wide) {
  std::vector<std::pair<const char*, const char*>> columns = {
      {"ACTION", "action"}, {"NODE", "node"},       {"STATE", "phase"},         {"MODE", "mode"},
      {"CAUSE", "cause"},   {"VERDICT", "verdict"}, {"HELD UP BY", "hindrance"}};
  if (wide) columns.insert(columns.end(), {{"JOB", "job"}, {"EVIDENCE", "evidence"}});
  return WhatStops(answer) + TableOf(ListField(answer, "plan"), columns);
}

}  // namespace fathom::cli
