#include "collector/cli/bundle/support_bundle.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/version_command.h"
#include "collector/cli/doctor/captured_process.h"
#include "collector/cli/doctor/examination.h"
#include "collector/cli/http/access.h"
#include "collector/cli/http/collector_api.h"
#include "collector/cli/run/installation.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{10'000};
constexpr const char* kReadMe =
    "A support bundle of fathom.\n\n"
    "Secrets were taken out: words of token and key files, values called token, secret, password\n"
    "and the like, addresses beyond the host. Names of jobs, nodes, users, files and hosts are\n"
    "still in here, and a program may have logged what nobody could know to be secret: look\n"
    "through it before you send it.\n\n"
    "missing.txt says what could not be had, and why.\n";

// The end of a file; only regular ones, so that nothing waits for a pipe.
absl::StatusOr<std::string> TailOf(const std::string& path, std::size_t most) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::NotFoundError(error ? error.message() : "no regular file");
  }
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  if (!stream) return absl::PermissionDeniedError("cannot be read");
  const auto size = static_cast<std::size_t>(stream.tellg());
  const std::size_t from = size > most ? size - most : 0;
  stream.seekg(static_cast<std::streamoff>(from));
  std::string text(size - from, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

std::string NameOf(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string Indented(const std::string& body) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? body : Serialize(json, "json");
}

}  // namespace

// An agent asks for no token, so it is shown none.
SupportBundle::SupportBundle(BundleSources sources)
    : sources_(std::move(sources)),
      collector_(ServerOf(sources_.collector_http, AccessFromEnvironment())),
      agent_(ServerOf(sources_.agent_http, {"", AccessFromEnvironment().ca_file})),
      cordon_(ServerOf(sources_.cordon_http, CordonAccess())) {}

void SupportBundle::Put(const std::string& name, std::string text) {
  const auto taken = [&](const std::string& wanted) {
    return std::any_of(files_.begin(), files_.end(),
                       [&](const auto& file) { return file.first == wanted; });
  };
  std::string free = name;
  for (int n = 2; taken(free); ++n) free = Cat(name, ".", n);
  files_.emplace_back(std::move(free), std::move(text));
}

void SupportBundle::Miss(const std::string& what, const std::string& why) {
  missing_.push_back(Cat(what, ": ", why));
}

std::optional<HttpReply> SupportBundle::Ask(const Server& server, const std::string& path,
                                            const std::string& name) {
  absl::StatusOr<HttpReply> reply =
      server.ok() ? HttpClient(*server).Get(path) : absl::StatusOr<HttpReply>(server.status());
  if (!reply.ok()) {
    Miss(name, Message(reply.status()));
    return std::nullopt;
  }
  const bool good = reply->status == 200;
  Put(name, Cat(good ? "" : Cat("HTTP status ", reply->status, "\n"), Indented(reply->body)));
  return *std::move(reply);
}

void SupportBundle::GatherVersions() {
  const Installation installation = ThisInstallation();
  std::string text = Cat(VersionText(), "\n");
  for (const char* name : {"fathomd", "fathom-collector", "fathom-cordon"}) {
    const auto run = Capture({(installation.folder / name).string(), "--version"}, {}, kPatience);
    AppendTo(&text, run.ok() ? run->out : Cat(name, ": ", Message(run.status()), "\n"));
  }
  utsname system{};
  uname(&system);
  AppendTo(&text, system.sysname, " ", system.release, " ", system.machine, " on ", system.nodename,
           "\n");
  const auto release = TailOf("/etc/os-release", kLogBytes);
  Put("versions.txt", Cat(text, release.ok() ? *release : ""));
}

void SupportBundle::GatherSettings() {
  for (const std::string& path : sources_.settings) {
    const auto text = TailOf(path, kLogBytes);
    if (!text.ok()) {
      Miss(path, Message(text.status()));
      continue;
    }
    redaction_.KnowFilesOf(*text);
    Put(Cat("settings/", NameOf(path)), *text);
  }
}

void SupportBundle::GatherEnvironment() {
  std::string text;
  for (const std::string& each : sources_.environment) {
    const std::string_view name = std::string_view(each).substr(0, each.find('='));
    const std::string_view value =
        std::string_view(each).substr(std::min(name.size() + 1, each.size()));
    if (IsSecretName(name)) redaction_.Know(value);
    redaction_.KnowFilesOf(each);
    const bool ours = name.starts_with("FATHOM_") || name.starts_with("SLURM_JOB") ||
                      name == "LD_PRELOAD" || name == "LANG" || name == "TZ";
    if (ours) AppendTo(&text, each, "\n");
  }
  Put("environment.txt", std::move(text));
}

void SupportBundle::GatherCollector() {
  // One that is not ready answers too.
  if (!Ask(collector_, "/readyz", "collector/readyz.json")) return;
  Ask(collector_, "/metrics", "collector/metrics.txt");
  Ask(collector_, "/api/v1/nodes", "collector/nodes.json");
  Ask(collector_, "/api/v1/verdicts?limit=1000", "collector/verdicts.json");
  const auto reply = Ask(collector_, "/api/v1/jobs", "collector/jobs.json");
  if (!reply || reply->status != 200) return;
  const Json jobs = Json::parse(reply->body, nullptr, /*allow_exceptions=*/false);
  std::size_t number = 0;
  for (const Json& job : ListField(jobs, "jobs")) {
    if (++number > kMaxJobs) return Miss("collector/jobs", "there are more");
    const std::string path = Cat("/api/v1/jobs/", PercentEncode(TextField(job, "name")));
    Ask(collector_, Cat(path, "/health"), Cat("collector/jobs/", number, "_health.json"));
    Ask(collector_, Cat(path, "/report"), Cat("collector/jobs/", number, "_report.json"));
  }
}

void SupportBundle::GatherAgent() {
  Ask(agent_, "/readyz", "agent/readyz.json");
  Ask(agent_, "/metrics", "agent/metrics.txt");
}

void SupportBundle::GatherCordon() {
  Ask(cordon_, "/readyz", "cordon/readyz.json");
  Ask(cordon_, "/metrics", "cordon/metrics.txt");
  Ask(cordon_, "/api/v1/plan", "cordon/plan.json");
  Ask(cordon_, "/api/v1/actions", "cordon/actions.json");
}

void SupportBundle::GatherLogs() {
  for (const char* unit : {"fathomd", "fathom-collector", "fathom-cordon"}) {
    const auto run = Capture({"journalctl", "--no-pager", "--quiet", "--lines=400", "-u", unit},
                             sources_.environment, kPatience);
    const std::string name = Cat("logs/journal_", unit, ".txt");
    if (run.ok() && run->exit_code == 0 && !run->out.empty()) {
      Put(name, run->out);
    } else {
      Miss(name, run.ok() ? "the journal has nothing of it" : Message(run.status()));
    }
  }
  for (const std::string& path : sources_.logs) {
    auto text = TailOf(path, kLogBytes);
    text.ok() ? Put(Cat("logs/", NameOf(path)), *std::move(text))
              : Miss(path, Message(text.status()));
  }
}

void SupportBundle::GatherDoctor() {
  if (!collector_.ok()) return Miss("doctor.json", Message(collector_.status()));
  Put("doctor.json",
      Serialize(ToJson(Examine(CollectorApi(HttpClient(*collector_)), sources_.python)), "json"));
}

void SupportBundle::Gather() {
  GatherVersions();
  GatherSettings();
  GatherEnvironment();
  GatherCollector();
  GatherAgent();
  GatherCordon();
  GatherLogs();
  GatherDoctor();
}

std::vector<std::pair<std::string, std::string>> SupportBundle::Files() const {
  std::vector<std::pair<std::string, std::string>> files{{"README.txt", kReadMe}};
  for (const auto& [name, text] : files_) files.emplace_back(name, redaction_.Applied(text));
  files.emplace_back("missing.txt", redaction_.Applied(Join(missing_, "\n") + "\n"));
  return files;
}

}  // namespace fathom::cli
