// `fathom run -- CMD…`: its options; run/traced_run.h does the work.
#include <absl/strings/str_split.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "collector/cli/command/verb.h"
#include "collector/cli/run/traced_run.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom run -- torchrun --nproc-per-node 4 train.py\n"
    "  fathom run --report report.json --hold -- python train.py\n"
    "  fathom run --record recording/ -- python train.py\n"
    "  fathom run --ops ops/ --job mine -- python train.py\n"
    "  fathom run --history runs.db -- python train.py     compare with earlier runs\n"
    "  fathom run --job big --collector head:7071 -- srun python train.py\n"
    "The command's input, output, signals and exit code pass through; verdicts appear on stderr.";

struct RunFlags {
  RunOptions options;
};

// Only the collector's HTTP address may be a URL.
absl::Status CheckAddresses(const SessionOptions& session) {
  std::vector<std::string> addresses =
      absl::StrSplit(session.collector, ',', absl::SkipEmpty());  // of several collectors
  addresses.push_back(session.http);
  for (const std::string& text : addresses) {
    if (text.empty()) continue;
    if (absl::Status s = ParseHostPort(text).status(); !s.ok()) return s;
  }
  if (session.collector_http.empty()) return absl::OkStatus();
  return ServerOf(session.collector_http, Access()).status();
}

bool CanWrite(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const bool exists = access(file.c_str(), F_OK) == 0;
  return access(exists ? file.c_str() : folder.c_str(), W_OK) == 0 &&
         !std::filesystem::is_directory(file);
}

bool CanRecord(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return !error && access(folder.c_str(), W_OK | X_OK) == 0;
}

absl::Status Validate(const RunFlags& flags, const Invocation& invocation) {
  if (!invocation.has_command || invocation.command.empty()) {
    return absl::InvalidArgumentError(
        "put the command behind --, as in: fathom run -- torchrun --nproc-per-node 4 train.py");
  }
  const SessionOptions& session = flags.options.session;
  if (absl::Status s = CheckAddresses(session); !s.ok()) return s;
  if (!session.collector.empty() && !session.http.empty()) {
    return absl::InvalidArgumentError(
        "--http is for the collector that run starts itself; with --collector leave it out");
  }
  if (!session.collector.empty() && !session.history.empty()) {
    return absl::InvalidArgumentError(
        "--history is of the collector that run starts itself; that of --collector has its own");
  }
  if (!session.history.empty() && !CanWrite(session.history)) {
    return absl::InvalidArgumentError(Cat("no history can be kept in ", session.history));
  }
  if (!session.record.empty() && !CanRecord(session.record)) {
    return absl::InvalidArgumentError(Cat("no recording can be kept in ", session.record));
  }
  if (!session.collector.empty() && !session.ops.empty()) {
    return absl::InvalidArgumentError(
        "--ops is of the collector that run starts itself; that of --collector has its own");
  }
  if (!session.ops.empty() && !CanRecord(session.ops)) {
    return absl::InvalidArgumentError(Cat("no ops can be kept in ", session.ops));
  }
  const std::string& report = flags.options.report;
  if (!report.empty() && !CanWrite(report)) {
    return absl::InvalidArgumentError(Cat("the report cannot be written to ", report));
  }
  return absl::OkStatus();
}

int Run(const RunFlags& flags, const Invocation& invocation) {
  if (absl::Status s = Validate(flags, invocation); !s.ok()) return Fail("run", s);
  RunOptions options = flags.options;
  options.command = invocation.command;
  std::string& job = options.session.job;
  job = job.empty() ? JobNameOf(options.command) : CleanJobName(job);
  return TracedRun(std::move(options), ThisInstallation()).Execute();
}

}  // namespace

void AddRunVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb =
      root.add_subcommand("run", "Run a command traced: fathom run [OPTIONS] -- CMD...");
  auto flags = std::make_shared<RunFlags>();
  SessionOptions& session = flags->options.session;
  verb->add_option("--collector", session.collector,
                   "report to this collector (gRPC); of several, with commas")
      ->type_name("HOST:PORT")
      ->envname("FATHOM_COLLECTOR");
  verb->add_option("--collector-http", session.collector_http, "where its verdicts are read")
      ->type_name("HOST:PORT")
      ->envname("FATHOM_COLLECTOR_HTTP");
  verb->add_option("--job", session.job, "name of the job [that of the script]")
      ->type_name("NAME")
      ->envname("FATHOM_JOB");
  verb->add_option("--http", session.http, "where the page is served [a free port on loopback]")
      ->type_name("HOST:PORT")
      ->envname("FATHOM_HTTP");
  verb->add_option("--report", flags->options.report, "write the report (JSON) there at the end")
      ->type_name("FILE")
      ->envname("FATHOM_REPORT");
  verb->add_option("--record", session.record,
                   "keep a recording there, for `fathom analyze DIR` later")
      ->type_name("DIR")
      ->envname("FATHOM_RECORD");
  verb->add_option("--ops", session.ops,
                   "keep every op there as a collector does, for `fathom analyze job://NAME`")
      ->type_name("DIR")
      ->envname("FATHOM_OPS_STORE");
  verb->add_option("--history", session.history,
                   "keep what is normal for the job there, and compare this run with it")
      ->type_name("FILE")
      ->envname("FATHOM_HISTORY");
  verb->add_option("--profile", session.profile, "name under which runs of this job are compared")
      ->type_name("NAME")
      ->envname("FATHOM_PROFILE");
  verb->add_flag("--hold", flags->options.hold, "keep the page up after the command, until Ctrl-C");
  verb->add_option("--trace", session.trace, "what is traced: a list of gloo, python")
      ->type_name("LIST")
      ->envname("FATHOM_TRACE");
  verb->footer(kExamples);
  verb->callback([invocation, flags] {
    invocation->action = [invocation, flags] { return Run(*flags, *invocation); };
  });
}

}  // namespace fathom::cli
