// Flags and environment of fathom-cordon; the only place of it that sees CLI11.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <map>

#include "collector/cordon/config/cordon_config.h"
#include "daemon/service/build_commit.h"

namespace fathom::cordon {
namespace {

struct Given {
  std::map<std::string, std::string> texts;
  std::string file;
  bool check = false, print = false, verify = false, version = false;
};

void Declare(CLI::App& app, Given& given) {
  for (const CordonSetting& setting : CordonSettings()) {
    const auto take = [&given, name = setting.name](const std::string& text) {
      given.texts[name] = text;
    };
    if (setting.is_switch) {
      app.add_flag_callback(
          setting.flag(), [take] { take("true"); }, setting.help);
    } else {
      app.add_option_function<std::string>(setting.flag(), take, setting.help);
    }
  }
  app.add_option("--config", given.file, "YAML file of settings, groups and causes");
  app.add_flag("--check-config", given.check, "check the settings and end");
  app.add_flag("--print-config", given.print, "print the settings that hold and end");
  app.add_flag("--verify-audit", given.verify, "check the audit log's chain and end");
  app.add_flag("--version", given.version, "print the version and end");
}

absl::Status Gather(const Given& given, CordonConfig& config) {
  if (!given.file.empty()) {
    if (auto status = LoadCordonFile(given.file, config); !status.ok()) return status;
  }
  for (const CordonSetting& setting : CordonSettings()) {
    const char* text = std::getenv(setting.variable("FATHOM_CORDON_").c_str());
    if (text == nullptr) continue;
    auto status =
        collector::ApplySetting(CordonSettings(), "environment", setting.name, text, config);
    if (!status.ok()) return status;
  }
  for (const auto& [name, text] : given.texts) {
    auto status = collector::ApplySetting(CordonSettings(), "command line", name, text, config);
    if (!status.ok()) return status;
  }
  return ValidateCordonConfig(config);
}

}  // namespace

absl::StatusOr<CordonCommandLine> ParseCordonCommandLine(int argc, const char* const* argv) {
  using Ask = CordonCommandLine::Ask;
  CLI::App app("fathom-cordon holds nodes back on the collector's advice; it observes by default.",
               "fathom-cordon");
  app.footer("Every setting is also a key of --config FILE and FATHOM_CORDON_<NAME>.");
  Given given;
  Declare(app, given);
  CordonCommandLine line;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.ask = Ask::kPrintText;
    line.text = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(std::string(error.what()) + "; see fathom-cordon --help");
  }
  if (given.version) {
    line.ask = Ask::kPrintText;
    line.text = std::string("fathom-cordon " FATHOM_VERSION " (") + service::kBuildCommit + ")\n";
    return line;
  }
  if (given.check) line.ask = Ask::kCheckConfig;
  if (given.print) line.ask = Ask::kPrintConfig;
  if (given.verify) line.ask = Ask::kVerifyAudit;
  if (auto status = Gather(given, line.config); !status.ok()) return status;
  return line;
}

}  // namespace fathom::cordon
