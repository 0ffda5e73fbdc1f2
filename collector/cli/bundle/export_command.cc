// `fathom export bundle`: a support bundle without secrets.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "collector/cli/bundle/support_bundle.h"
#include "collector/cli/bundle/tar_file.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/doctor/examination.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom export bundle\n"
    "  fathom export bundle --log /var/log/train.log --file bundle.tar.gz\n"
    "Nothing is sent anywhere. Secrets are taken out; look through it before you hand it on.";

struct ExportRequest {
  std::string noun, file;
  BundleSources sources;
};

std::string DefaultFile(absl::Time now) {
  char host[256] = "node";
  gethostname(host, sizeof host - 1);
  return Cat("fathom-bundle-", std::string(host), "-",
             absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone()), ".tar.gz");
}

// Where the units of deploy/systemd have theirs.
std::vector<std::string> UsualSettings() {
  std::vector<std::string> found;
  for (const char* path : {"/etc/fathom/agent.env", "/etc/fathom/agent.yaml",
                           "/etc/fathom/collector.yaml", "/etc/fathom/cordon.yaml"}) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) found.emplace_back(path);
  }
  return found;
}

absl::StatusOr<std::size_t> Write(const SupportBundle& bundle, const std::string& path,
                                  absl::Time now) {
  auto file = TarFile::Create(path, absl::ToUnixSeconds(now));
  if (!file.ok()) return file.status();
  const std::string folder = std::filesystem::path(path).filename().string();
  const auto files = bundle.Files();
  for (const auto& [name, text] : files) {
    const std::string member = Cat(folder.substr(0, folder.find(".tar")), "/", name);
    if (auto status = (*file)->Add(member, text); !status.ok()) return status;
  }
  if (auto status = (*file)->Finish(); !status.ok()) return status;
  return files.size();
}

int Export(ExportRequest request) {
  const absl::Time now = absl::Now();
  const std::string path = request.file.empty() ? DefaultFile(now) : request.file;
  if (request.sources.settings.empty()) request.sources.settings = UsualSettings();
  if (request.sources.python.empty()) request.sources.python = DefaultPython();
  request.sources.environment = CurrentEnvironment();
  SupportBundle bundle(std::move(request.sources));
  bundle.Gather();
  const auto count = Write(bundle, path, now);
  if (!count.ok()) return Fail("export", count.status());
  std::printf("%s: %zu files, %zu things could not be had (missing.txt)\n", path.c_str(), *count,
              bundle.missing().size());
  return kNothingFound;
}

}  // namespace

void AddExportVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("export", "Pack a support bundle, without secrets");
  auto request = std::make_shared<ExportRequest>();
  BundleSources& s = request->sources;
  s.collector_http = "127.0.0.1:7070";
  s.agent_http = "127.0.0.1:7072";
  s.cordon_http = "127.0.0.1:7073";
  verb->add_option("NOUN", request->noun, "bundle")->required()->check(CLI::IsMember({"bundle"}));
  verb->add_option("-f,--file", request->file, "where to [fathom-bundle-HOST-TIME.tar.gz]")
      ->type_name("FILE");
  verb->add_option("--config", s.settings, "settings files [those below /etc/fathom]")
      ->type_name("FILE");
  verb->add_option("--log", s.logs, "log files; of each the last MiB")->type_name("FILE");
  const auto address = [&](const char* name, std::string& value, const char* env,
                           const char* help) {
    verb->add_option(name, value, help)
        ->type_name("HOST:PORT")
        ->envname(env)
        ->capture_default_str();
  };
  address("--collector-http", s.collector_http, "FATHOM_COLLECTOR_HTTP", "the collector");
  address("--agent-http", s.agent_http, "FATHOM_AGENT_HTTP", "this node's fathomd");
  address("--cordon-http", s.cordon_http, "FATHOM_CORDON_HTTP", "fathom-cordon");
  AddPythonOption(*verb, &s.python);
  verb->footer(kExamples);
  verb->callback(
      [invocation, request] { invocation->action = [request] { return Export(*request); }; });
}

}  // namespace fathom::cli
