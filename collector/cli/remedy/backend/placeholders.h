// Words of a configuration with what is known of a recovery put in: {node}, {job}, {id}, {sick},
// {spare}, {checkpoint}, {step}.
//
// Used by the back-ends. Each word stays one word, whatever is put in; there is no shell, but for a
// command that ssh hands to one: then each word is quoted for it. Thread-safety: pure functions.
// Errors: InvalidArgument for a placeholder that is none. Cost: O(characters).
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_PLACEHOLDERS_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_PLACEHOLDERS_H_

#include <absl/status/status.h>

#include <string>
#include <vector>

#include "collector/cli/remedy/remedy_backend.h"

namespace fathom::cli {

absl::Status CheckPlaceholders(const std::vector<std::string>& words);
// Requires: CheckPlaceholders.
std::string Filled(const std::string& word, const Remedy& remedy, const std::string& node,
                   Step step = Step::kNone);
std::vector<std::string> Filled(const std::vector<std::string>& words, const Remedy& remedy,
                                const std::string& node, Step step = Step::kNone);
// `command` as the command `prefix` runs it.
std::vector<std::string> Behind(std::vector<std::string> prefix,
                                const std::vector<std::string>& command);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_PLACEHOLDERS_H_
