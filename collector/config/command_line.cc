#include "collector/config/command_line.h"

#include <CLI/CLI.hpp>

#include "collector/config/nearest.h"
#include "collector/config/settings.h"
#include "collector/process/version.h"
#include "daemon/service/build_commit.h"

namespace fathom::collector {
namespace {

struct Parsed {
  Texts texts;
  std::string file;
  bool check = false, print = false, version = false;
};

void Declare(CLI::App& app, Parsed& parsed) {
  for (const Setting& setting : Settings()) {
    const auto take = [&parsed, name = setting.name](const std::string& text) {
      parsed.texts[name] = text;
    };
    CLI::Option* option = nullptr;
    if (setting.is_switch) {
      option = app.add_flag_callback(
          setting.flag(), [take] { take("true"); }, setting.help);
    } else {
      option = app.add_option_function<std::string>(setting.flag(), take, setting.help);
    }
    if (setting.hidden) option->group("");
  }
  app.add_option("--config", parsed.file, "YAML file of settings");
  app.add_flag("--check-config", parsed.check, "check the settings and stop");
  app.add_flag("--print-config", parsed.print, "print the settings as YAML and stop");
  app.add_flag("--version", parsed.version, "print the version and stop");
}

std::string NearestFlag(const std::string& unknown) {
  std::vector<std::string> known = {"--config", "--check-config", "--print-config", "--version"};
  for (const Setting& setting : Settings()) known.push_back(setting.flag());
  return Nearest(unknown, known);
}

absl::Status Usage(const CLI::App& app, const CLI::ParseError& error) {
  const auto extras = app.remaining();
  if (!extras.empty()) {
    return absl::InvalidArgumentError("no option '" + extras.front() + "'; did you mean '" +
                                      NearestFlag(extras.front()) + "'?");
  }
  return absl::InvalidArgumentError(std::string(error.what()) + "; try fathom-collector --help");
}

absl::Status Merge(const Parsed& parsed, CollectorConfig& config) {
  Texts file;
  if (!parsed.file.empty()) {
    if (auto status = LoadFile(parsed.file, file); !status.ok()) return status;
    if (auto status = Apply(file, parsed.file, config); !status.ok()) return status;
  }
  if (auto status = Apply(LoadEnvironment(), "environment", config); !status.ok()) return status;
  return Apply(parsed.texts, "command line", config);
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  CLI::App app("Takes in what agents see of training jobs, and says what holds a job back.",
               "fathom-collector");
  app.allow_extras();
  app.footer(
      "Every setting is also a key of --config FILE and FATHOM_<NAME>.\n"
      "Example: fathom-collector --http 127.0.0.1:0 --store :memory:");
  Parsed parsed;
  Declare(app, parsed);
  CommandLine line;
  try {
    app.parse(argc, argv);
    if (!app.remaining().empty()) throw CLI::ExtrasError(app.remaining());
  } catch (const CLI::CallForHelp&) {
    line.ask = CommandLine::Ask::kPrintText;
    line.text = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    return Usage(app, error);
  }
  if (parsed.version) {
    line.ask = CommandLine::Ask::kPrintText;
    line.text = std::string("fathom-collector ") + kVersion + " (" + service::kBuildCommit + ")\n";
    return line;
  }
  if (auto status = Merge(parsed, line.config); !status.ok()) return status;
  if (parsed.check) line.ask = CommandLine::Ask::kCheckConfig;
  if (parsed.print) line.ask = CommandLine::Ask::kPrintConfig;
  return line;
}

}  // namespace fathom::collector
