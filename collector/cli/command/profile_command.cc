// `fathom profile`: opens a window of detail on the GPUs of a job, waits for it, shows it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/render/profile_table.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom profile train\n"
    "  fathom profile train --seconds 2 --ranks 0,17\n"
    "  fathom profile train --last -o json\n"
    "All ranks open and close at the same iteration. Exit code 1 where no rank could.";

constexpr std::chrono::milliseconds kLookEvery{250};
constexpr double kPatience = 6;  // × the window; the collector gives up before that

struct ProfileRequest {
  std::string job;
  std::string ranks;
  std::string format = "table";
  std::int64_t seconds = 5;
  std::size_t activities = 5;
  bool last = false;
};

bool AnyIn(const Json& profile, const char* state) {
  const Json& ranks = ListField(profile, "ranks");
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](const Json& rank) { return TextField(rank, "state") == state; });
}

absl::StatusOr<Json> WaitFor(const CollectorApi& api, const std::string& job, Json profile,
                             std::int64_t seconds) {
  const std::chrono::duration<double> patience(60 + kPatience * static_cast<double>(seconds));
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const std::int64_t id = IntField(profile, "id");
  while (AnyIn(profile, "asked") && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kLookEvery);
    absl::StatusOr<Json> next = api.Profile(job);
    if (!next.ok()) return next.status();
    if (IntField(*next, "id") != id) {
      return absl::FailedPreconditionError("another window of this job was asked for meanwhile");
    }
    profile = *std::move(next);
  }
  return profile;
}

absl::StatusOr<Json> Obtain(const CollectorApi& api, const ProfileRequest& request) {
  const absl::StatusOr<std::string> job = OnlyJob(api, request.job);
  if (!job.ok()) return job.status();
  if (request.last) return api.Profile(*job);
  absl::StatusOr<Json> asked = api.AskProfile(*job, request.seconds, request.ranks);
  if (!asked.ok()) return asked.status();
  return WaitFor(api, *job, *std::move(asked), request.seconds);
}

int RunProfile(const CollectorOptions& collector, const ProfileRequest& request) {
  const absl::StatusOr<CollectorApi> api = ApiOf(collector);
  if (!api.ok()) return Fail("profile", api.status());
  const absl::StatusOr<Json> profile = Obtain(*api, request);
  if (!profile.ok()) return Fail("profile", profile.status());
  if (ListField(*profile, "ranks").empty()) {
    return Fail("profile", absl::NotFoundError("no window was opened on this job yet"));
  }
  const std::string out = IsText(request.format) ? ProfileTable(*profile, request.activities)
                                                 : Serialize(*profile, request.format);
  std::fputs(out.c_str(), stdout);
  return AnyIn(*profile, "closed") ? kNothingFound : kFailure;
}

}  // namespace

void AddProfileVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb =
      root.add_subcommand("profile", "Record every kernel of a job's GPUs for a few iterations");
  auto collector = std::make_shared<CollectorOptions>();
  auto request = std::make_shared<ProfileRequest>();
  verb->add_option("JOB", request->job, "the job [the only one]");
  verb->add_option("--seconds", request->seconds, "how long, in the job's iterations")
      ->check(CLI::Range(1, 300))
      ->capture_default_str();
  verb->add_option("--ranks", request->ranks, "only these, like 0,3,5 [all]")->type_name("LIST");
  verb->add_option("--top", request->activities, "activities shown of each rank")
      ->capture_default_str();
  verb->add_flag("--last", request->last, "show the newest window, open none");
  AddFormatOption(*verb, &request->format, "table, wide, json or yaml");
  AddCollectorOptions(*verb, collector.get(), false);
  verb->footer(kExamples);
  verb->callback([invocation, collector, request] {
    invocation->action = [collector, request] { return RunProfile(*collector, *request); };
  });
}

}  // namespace fathom::cli
