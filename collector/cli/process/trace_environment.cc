#include "collector/cli/process/trace_environment.h"
#include "collector/cli/text/text.h"

#include <unistd.h>

#include <algorithm>

namespace fathom::cli {
namespace {

constexpr std::size_t kMaxJobName = 63;  // with its NUL it fills the ring's field

std::string* Find(Environment& environment, std::string_view name) {
  for (std::string& entry : environment) {
    if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
      return &entry;
    }
  }
  return nullptr;
}

void Set(Environment* environment, std::string_view name, std::string_view value) {
  const std::string entry = Cat(name, "=", value);
  if (std::string* old = Find(*environment, name)) {
    *old = entry;
  } else {
    environment->push_back(entry);
  }
}

// An empty list stays empty: an empty PYTHONPATH entry would mean the current folder.
void Prepend(Environment* environment, std::string_view name, std::string_view value) {
  std::string* old = Find(*environment, name);
  const std::string rest = old == nullptr ? "" : old->substr(name.size() + 1);
  for (const std::string_view part : SplitWords(rest, ": ")) {
    if (part == value) return;  // a run inside a run
  }
  Set(environment, name, rest.empty() ? std::string(value) : Cat(value, ":", rest));
}

bool IsScript(std::string_view word) { return word.ends_with(".py") && !word.starts_with("-"); }

std::string_view BaseName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

absl::StatusOr<Environment> TracedEnvironment(const Environment& user,
                                              const TraceSettings& settings) {
  if (settings.tracer.find_first_of(" :\t\n") != std::string::npos) {
    return absl::InvalidArgumentError(Cat("LD_PRELOAD cannot hold the path '", settings.tracer,
                                          "'; install where it has no space or colon"));
  }
  Environment out = user;
  Prepend(&out, "LD_PRELOAD", settings.tracer);
  if (!settings.site.empty() && settings.site.find(':') == std::string::npos) {
    Prepend(&out, "PYTHONPATH", settings.site);
  }
  Set(&out, "FATHOM_SHM_DIR", settings.shm_dir);
  Set(&out, "FATHOM_JOB", settings.job);
  if (!settings.trace.empty()) Set(&out, "FATHOM_TRACE", settings.trace);
  if (!settings.profile.empty()) Set(&out, "FATHOM_PROFILE", settings.profile);
  // NCCL then looks for its profiler in the program, where the tracer is. A user's own stays.
  if (Find(out, "NCCL_PROFILER_PLUGIN") == nullptr) {
    out.push_back("NCCL_PROFILER_PLUGIN=STATIC_PLUGIN");
  }
  return out;
}

Environment CompanionEnvironment(const Environment& user) {
  Environment out = user;
  std::erase_if(out, [](const std::string& entry) {
    return entry.starts_with("LD_PRELOAD=") || entry.starts_with("FATHOM_SHM_DIR=");
  });
  return out;
}

Environment CurrentEnvironment() {
  Environment out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    out.emplace_back(*entry);
  return out;
}

std::string CleanJobName(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, kMaxJobName)) {
    const bool fine = IsAsciiAlnum(c) || c == '.' || c == '_' || c == '-';
    out.push_back(fine ? c : '-');
  }
  return out.empty() ? "job" : out;
}

std::string JobNameOf(const std::vector<std::string>& command) {
  const auto script = std::find_if(command.begin(), command.end(), IsScript);
  if (script != command.end()) {
    const std::string_view name = BaseName(*script);
    return CleanJobName(name.substr(0, name.size() - 3));
  }
  return command.empty() ? "job" : CleanJobName(BaseName(command[0]));
}

}  // namespace fathom::cli
