#include "collector/cli/remedy/backend/command_backend.h"

#include "collector/cli/remedy/backend/placeholders.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

absl::Status StatusOf(const collector::CommandResult& result, const std::string& program) {
  if (result.exit_code == 0) return absl::OkStatus();
  const std::string why =
      Cat(program, " ended with exit code ", result.exit_code, ": ", PrintableLine(result.errors));
  if (result.exit_code == CommandBackend::kRefused) return absl::FailedPreconditionError(why);
  return absl::UnknownError(why);
}

}  // namespace

const std::vector<std::string>* CommandBackend::CommandOf(Step step) const {
  const auto at = options_.steps.find(step);
  return at == options_.steps.end() || at->second.empty() ? nullptr : &at->second;
}

absl::StatusOr<collector::CommandResult> CommandBackend::Run(const std::vector<std::string>& words,
                                                             const Remedy& remedy,
                                                             Step step) const {
  const std::string& node = step == Step::kIsolate ? remedy.sick : remedy.spare;
  return run_(Filled(words, remedy, node, step), Nanos::FromSeconds(options_.timeout_s));
}

absl::Status CommandBackend::Check(const Remedy& remedy) {
  if (options_.check.empty()) return absl::OkStatus();
  const auto result = Run(options_.check, remedy, Step::kNone);
  if (!result.ok()) return result.status();
  return StatusOf(*result, options_.check[0]);
}

absl::StatusOr<Json> CommandBackend::Before(const Remedy& /*remedy*/, Step /*step*/) {
  return Json::object();
}

absl::StatusOr<std::string> CommandBackend::Do(const Remedy& remedy, const Deed& deed) {
  const auto* words = CommandOf(deed.step);
  if (words == nullptr) return "no command is configured for it";
  const auto result = Run(*words, remedy, deed.step);
  if (!result.ok()) return result.status();
  if (auto status = StatusOf(*result, words->front()); !status.ok()) return status;
  const std::string said = PrintableLine(result->output);
  return said.empty() ? Cat(words->front(), " is done") : said;
}

absl::StatusOr<Extent> CommandBackend::HowFar(const Remedy& remedy, const Deed& deed) {
  if (CommandOf(deed.step) == nullptr) return Extent::kAll;
  if (options_.look.empty()) return absl::UnavailableError("no command to look is configured");
  const auto result = Run(options_.look, remedy, deed.step);
  if (!result.ok()) return result.status();
  if (result->exit_code > 1) return StatusOf(*result, options_.look[0]);
  return result->exit_code == 0 ? Extent::kAll : Extent::kNone;
}

absl::StatusOr<std::string> CommandBackend::Undo(const Remedy& remedy, const Deed& deed) {
  if (CommandOf(deed.step) == nullptr) return "nothing was done";
  if (options_.undo.empty())
    return absl::FailedPreconditionError("no command to undo is configured");
  const auto result = Run(options_.undo, remedy, deed.step);
  if (!result.ok()) return result.status();
  if (auto status = StatusOf(*result, options_.undo[0]); !status.ok()) return status;
  return Cat(options_.undo[0], " is done");
}

std::string CommandBackend::ByHand(const Remedy& remedy, const Deed& deed) const {
  const auto* words = CommandOf(deed.step);
  if (words == nullptr) return "see how the job is started";
  return Join(Filled(*words, remedy, remedy.spare, deed.step), " ");
}

}  // namespace fathom::cli
