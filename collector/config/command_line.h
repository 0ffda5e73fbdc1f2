// The command line of fathom-collector: settings from all origins, and what was asked for.
//
// Used by main. Thread-safety: single-threaded. Errors: InvalidArgument, one line that says what
// to do.
#ifndef FATHOM_COLLECTOR_CONFIG_COMMAND_LINE_H_
#define FATHOM_COLLECTOR_CONFIG_COMMAND_LINE_H_

#include <absl/status/statusor.h>

#include <string>

#include "collector/config/collector_config.h"

namespace fathom::collector {

struct CommandLine {
  enum class Ask { kRun, kCheckConfig, kPrintConfig, kPrintText };
  Ask ask = Ask::kRun;
  std::string text;  // kPrintText: help or version
  CollectorConfig config;
};

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_COMMAND_LINE_H_
