// Turns verdicts as they come into what a person wants to read on stderr, and no more.
//
// Used by `run`, `watch` and fathom-fleet. Model: per verdict id it remembers what was said. A new
// verdict is a card; another grade is a line; another cause or culprit is a card again; a closed
// one is a line; everything else (fresher numbers) is silence. A job in which a rank is silent and
// nobody is named gets (of `run` only) a line after kSilence, once each time, and a word at the end
// if it lasts until then: nothing said must not read as nothing wrong. The last word ends with what
// bounds an iteration, also where nothing is wrong. Every text is whole lines, each begun with
// "fathom: " or indented. Thread-safety: single-threaded. Errors: none.
#ifndef FATHOM_COLLECTOR_CLI_RUN_VERDICT_NARRATOR_H_
#define FATHOM_COLLECTOR_CLI_RUN_VERDICT_NARRATOR_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "collector/cli/render/terminal.h"
#include "collector/cli/render/verdict_view.h"

namespace fathom::cli {

class VerdictNarrator {
 public:
  explicit VerdictNarrator(Terminal terminal) : terminal_(std::move(terminal)) {}

  // What to print; empty when there is nothing new.
  std::string OnVerdict(const VerdictView& verdict);

  // The same for the state of the job, as the collector tells it every second. Steady time.
  std::string OnJob(const Json& job, std::chrono::steady_clock::time_point now);

  // The last word on a job, from its report (an empty object when there is none).
  std::string Summary(const Json& report) const;

 private:
  std::string Conclusion(const Json& report, const std::string& measured) const;

  // A checkpoint or a common evaluation may take this long without being worth a word.
  static constexpr std::chrono::seconds kSilence{20};

  Terminal terminal_;
  std::optional<std::chrono::steady_clock::time_point> silent_since_;
  bool silence_told_ = false;
  std::map<std::string, VerdictView> told_;  // by id
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RUN_VERDICT_NARRATOR_H_
