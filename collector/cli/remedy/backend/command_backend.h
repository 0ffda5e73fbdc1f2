// Commands of one's own for each step: whatever else starts jobs, and webhooks by curl.
//
// Model: a list of words a step, run as they are, without a shell, with {job}, {sick}, {spare},
// {id}, {checkpoint}, {step} put in; a step without a command is nothing to do. Exit code 0: done;
// 3: refused, nothing was changed; anything else: not known. `look` tells after a crash whether a
// step was done: 0 it was, 1 it was not. `undo` takes a step back and may be run twice; 3: it
// cannot.
//
// Thread-safety, errors: see remedy_backend.h. Cost: at most `timeout_s` a command.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_COMMAND_BACKEND_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_COMMAND_BACKEND_H_

#include <map>
#include <string>
#include <vector>

#include "collector/cli/remedy/remedy_backend.h"
#include "collector/process/command.h"

namespace fathom::cli {

struct CommandOptions {
  std::map<Step, std::vector<std::string>> steps;
  std::vector<std::string> check, look, undo;
  double timeout_s = 60;
};

class CommandBackend final : public RemedyBackend {
 public:
  static constexpr int kRefused = 3;

  CommandBackend(CommandOptions options, collector::CommandRunner run)
      : options_(std::move(options)), run_(std::move(run)) {}

  std::string Name() const override { return "command"; }
  absl::Status Check(const Remedy& remedy) override;
  absl::StatusOr<Json> Before(const Remedy& remedy, Step step) override;
  absl::StatusOr<std::string> Do(const Remedy& remedy, const Deed& deed) override;
  absl::StatusOr<Extent> HowFar(const Remedy& remedy, const Deed& deed) override;
  absl::StatusOr<std::string> Undo(const Remedy& remedy, const Deed& deed) override;
  std::string ByHand(const Remedy& remedy, const Deed& deed) const override;

 private:
  const std::vector<std::string>* CommandOf(Step step) const;
  absl::StatusOr<collector::CommandResult> Run(const std::vector<std::string>& words,
                                               const Remedy& remedy, Step step) const;

  const CommandOptions options_;
  const collector::CommandRunner run_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_COMMAND_BACKEND_H_
