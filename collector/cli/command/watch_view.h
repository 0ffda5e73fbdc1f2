// What `fathom watch` shows: jobs and their verdicts as they change.
//
// Used by the verb. Model: fed with job objects and verdicts, from replies and events alike; gives
// a frame to redraw (terminal) or the lines that are new (anything else). A line comes when a job
// appears or changes state, and as the narrator of `run` tells verdicts.
// Thread-safety: single-threaded. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_COMMAND_WATCH_VIEW_H_
#define FATHOM_COLLECTOR_CLI_COMMAND_WATCH_VIEW_H_

#include <cstdint>
#include <map>
#include <string>

#include "collector/cli/render/terminal.h"
#include "collector/cli/run/verdict_narrator.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

class WatchView {
 public:
  // `job`: the only one shown; empty for all.
  WatchView(Terminal terminal, std::string job);

  // The lines that are new; empty when nothing changed that is worth one.
  std::string OnJob(const Json& job);
  std::string OnVerdict(const Json& verdict);

  // Jobs as a table, then a card for each active verdict, no line wider than the terminal.
  std::string Frame(std::int64_t now_unix_ns) const;

  bool culprit_found() const { return culprit_found_; }
  // The one job that is watched has ended.
  bool ended() const;

 private:
  Terminal terminal_;
  std::string job_;
  VerdictNarrator narrator_;
  std::map<std::string, Json> jobs_;
  std::map<std::string, Json> verdicts_;
  bool culprit_found_ = false;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_COMMAND_WATCH_VIEW_H_
