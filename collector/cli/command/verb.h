// What a verb of the command line is: it adds a subcommand with its options, and leaves behind what
// to do when it was called.
//
// CommandLine owns one Invocation; each Add…Verb fills in its part. The verbs that are there:
// run, get, compare, report, explain, watch, analyze, simulate, doctor, probe, recover, profile,
// trace, action, export, completion, version. Thread-safety: single-threaded.
#ifndef FATHOM_COLLECTOR_CLI_COMMAND_VERB_H_
#define FATHOM_COLLECTOR_CLI_COMMAND_VERB_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "collector/cli/http/access.h"
#include "collector/cli/http/collector_api.h"
#include "diagnosis/model/config.h"

namespace fathom::cli {

struct Invocation {
  std::vector<std::string> command;  // what followed `--`
  bool has_command = false;
  std::function<int()> action;  // set by the verb that was called; returns the exit code
};

void AddRunVerb(CLI::App& root, Invocation* invocation);
void AddGetVerb(CLI::App& root, Invocation* invocation);
void AddExplainVerb(CLI::App& root, Invocation* invocation);
void AddWatchVerb(CLI::App& root, Invocation* invocation);
void AddAnalyzeVerb(CLI::App& root, Invocation* invocation);
void AddSimulateVerb(CLI::App& root, Invocation* invocation);
void AddDoctorVerb(CLI::App& root, Invocation* invocation);
void AddActionVerb(CLI::App& root, Invocation* invocation);
void AddExportVerb(CLI::App& root, Invocation* invocation);
void AddCompareVerb(CLI::App& root, Invocation* invocation);
void AddReportVerb(CLI::App& root, Invocation* invocation);
void AddRecoverVerb(CLI::App& root, Invocation* invocation);
void AddProfileVerb(CLI::App& root, Invocation* invocation);
void AddTraceVerb(CLI::App& root, Invocation* invocation);
void AddCompletionVerb(CLI::App& root, Invocation* invocation);
void AddVersionVerb(CLI::App& root, Invocation* invocation);

// Options that several verbs share.
struct CollectorOptions {
  std::string http = "127.0.0.1:7070";
  Access access;  // what the command line names; the rest is the environment's
  bool exit_zero = false;
};
void AddCollectorOptions(CLI::App& verb, CollectorOptions* options, bool with_exit_zero);
void AddFormatOption(CLI::App& verb, std::string* format, const std::string& help);
bool IsText(const std::string& format);  // table or wide
void AddPythonOption(CLI::App& verb, std::string* python);
// Errors: kInvalidArgument for an address that is none, kNotFound for a file without a token.
absl::StatusOr<CollectorApi> ApiOf(const CollectorOptions& options);

// The thresholds of --config; defaults where `file` is empty. Settings of an earlier version are
// told on stderr. Errors: those of ReadThresholds.
absl::StatusOr<diagnosis::DiagnosisConfig> ThresholdsOf(const std::string& verb,
                                                        const std::string& file);

// "fathom VERB: message" on stderr, one line; returns kFailure.
int Fail(const std::string& verb, const absl::Status& status);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_COMMAND_VERB_H_
