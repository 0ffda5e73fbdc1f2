// Turns verdicts as they come into what a person wants to read on stderr, and no more.
//
// Used by `run`, `watch` and fathom-fleet. Model: per verdict id it remembers what was said. A new
// verdict is a card; another grade is a line; another cause or culprit is a card again; a closed
// one is a line; everything else (fresher numbers) is silence. Every text is whole lines, each
// begun with "fathom: " or indented. Thread-safety: single-threaded. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_RUN_VERDICT_NARRATOR_H_
#define FATHOM_COLLECTOR_CLI_RUN_VERDICT_NARRATOR_H_

#include <map>
#include <string>
#include <utility>

#include "collector/cli/render/terminal.h"
#include "collector/cli/verdict_view.h"

namespace fathom::cli {

class VerdictNarrator {
 public:
  explicit VerdictNarrator(Terminal terminal) : terminal_(std::move(terminal)) {}

  // What to print; empty when there is nothing new.
  std::string OnVerdict(const VerdictView& verdict);

  // The last word on a job, from its report (an empty object when there is none).
  std::string Summary(const Json& report) const;

 private:
  std::string Conclusion(const Json& report, const std::string& measured) const;

  Terminal terminal_;
  std::map<std::string, VerdictView> told_;  // by id
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RUN_VERDICT_NARRATOR_H_
