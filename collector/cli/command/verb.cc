#include "collector/cli/command/verb.h"

#include <cstdio>

#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"
#include "collector/config/thresholds.h"

namespace fathom::cli {

void AddCollectorOptions(CLI::App& verb, CollectorOptions* options, bool with_exit_zero) {
  verb.add_option("--collector-http", options->http, "HTTP address of the collector")
      ->type_name("[https://]HOST:PORT")
      ->envname("FATHOM_COLLECTOR_HTTP")
      ->capture_default_str();
  verb.add_option("--token-file", options->access.token_file,
                  "file with your token, where one is asked for [of FATHOM_TOKEN_FILE]")
      ->type_name("PATH");
  verb.add_option("--ca-file", options->access.ca_file,
                  "authority of the server's certificate [of FATHOM_CA_FILE]")
      ->type_name("PATH");
  if (with_exit_zero) {
    verb.add_flag("--exit-zero", options->exit_zero, "exit 0, not 2, when a culprit was found");
  }
}

void AddFormatOption(CLI::App& verb, std::string* format, const std::string& help) {
  verb.add_option("-o,--output", *format, help)
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml"}))
      ->capture_default_str();
}

bool IsText(const std::string& format) { return format == "table" || format == "wide"; }

void AddPythonOption(CLI::App& verb, std::string* python) {
  verb.add_option("--python", *python, "the job's Python [of VIRTUAL_ENV, or python3]")
      ->type_name("PATH")
      ->envname("FATHOM_PYTHON");
}

absl::StatusOr<CollectorApi> ApiOf(const CollectorOptions& options) {
  absl::StatusOr<HostPort> server =
      ServerOf(options.http, options.access.OrElse(AccessFromEnvironment()));
  if (!server.ok()) return server.status();
  return CollectorApi(HttpClient(*std::move(server)));
}

absl::StatusOr<diagnosis::DiagnosisConfig> ThresholdsOf(const std::string& verb,
                                                        const std::string& file) {
  std::vector<std::string> unread;
  auto thresholds = collector::ReadThresholds(file, unread);
  for (const std::string& setting : unread) {
    std::fputs(Cat("fathom ", verb, ": ", collector::UnreadInWords(setting), "\n").c_str(), stderr);
  }
  return thresholds;
}

int Fail(const std::string& verb, const absl::Status& status) {
  const std::string line = Printable(Message(status));
  std::fprintf(stderr, "fathom %s: %s\n", verb.c_str(), line.c_str());
  return kFailure;
}

}  // namespace fathom::cli
