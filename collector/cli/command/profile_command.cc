// `fathom profile`: captures the stacks of a job's ranks and opens a window of detail on its GPUs,
// waits for both, shows them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "collector/cli/capture/capture_stacks.h"
#include "collector/cli/capture/capture_table.h"
#include "collector/cli/capture/flame_page.h"
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
    "  fathom profile train --ranks 0,17 --iterations 50\n"
    "  fathom profile train --native --folded stacks/ --html flames.html\n"
    "  fathom profile train --what kernels --seconds 2\n"
    "  fathom profile train --last -o json\n"
    "All ranks begin and end with the same iterations. Exit code 1 where nothing could be had of\n"
    "any rank.";

constexpr std::chrono::milliseconds kLookEvery{250};
constexpr double kPatience = 6;  // × the window; the collector gives up before that
constexpr std::int64_t kMostCaptureSeconds = 30;

struct ProfileRequest {
  std::string job;
  std::string ranks;
  std::string format = "table";
  std::string what = "all";
  std::string folded, speedscope, html;
  std::int64_t seconds = 4;
  std::int64_t iterations = 0;
  std::size_t activities = 5;
  bool native = false;
  bool last = false;

  bool stacks() const { return what != "kernels"; }
  bool kernels() const { return what != "stacks"; }
};

// Each part, or why there is none.
struct Profile {
  absl::StatusOr<Json> stacks = absl::NotFoundError("");
  absl::StatusOr<Json> kernels = absl::NotFoundError("");
};

bool AnyIn(const absl::StatusOr<Json>& part, const char* state) {
  if (!part.ok()) return false;
  const Json& ranks = ListField(*part, "ranks");
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](const Json& rank) { return TextField(rank, "state") == state; });
}

// Reads the part again; another one in its place is not what was asked for.
void ReadAgain(absl::StatusOr<Json>& part, absl::StatusOr<Json> next) {
  if (next.ok() && IntField(*next, "id") != IntField(*part, "id")) {
    next = absl::FailedPreconditionError("another one of this job was asked for meanwhile");
  }
  part = std::move(next);
}

void WaitFor(const CollectorApi& api, const std::string& job, const ProfileRequest& request,
             Profile& profile) {
  const std::chrono::duration<double> patience(60 +
                                               kPatience * static_cast<double>(request.seconds));
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline) {
    const bool stacks = AnyIn(profile.stacks, "asked"), kernels = AnyIn(profile.kernels, "asked");
    if (!stacks && !kernels) break;
    std::this_thread::sleep_for(kLookEvery);
    if (stacks) ReadAgain(profile.stacks, api.Capture(job, false));
    if (kernels) ReadAgain(profile.kernels, api.Profile(job));
  }
  if (profile.stacks.ok()) ReadAgain(profile.stacks, api.Capture(job, true));
}

void Obtain(const CollectorApi& api, const std::string& job, const ProfileRequest& request,
            Profile& profile) {
  if (request.last) {
    if (request.stacks()) profile.stacks = api.Capture(job, true);
    if (request.kernels()) profile.kernels = api.Profile(job);
    return;
  }
  if (request.stacks()) {
    profile.stacks = api.AskCapture(job, std::min(request.seconds, kMostCaptureSeconds),
                                    request.iterations, request.native, request.ranks);
  }
  if (request.kernels()) {
    profile.kernels = api.AskProfile(job, request.seconds, request.iterations, request.ranks);
  }
  WaitFor(api, job, request, profile);
}

absl::Status WriteFiles(const ProfileRequest& request, const Profile& profile) {
  if (!profile.stacks.ok()) return absl::OkStatus();
  const Json& capture = *profile.stacks;
  if (!request.folded.empty()) {
    if (absl::Status s = WriteFolded(capture, request.folded); !s.ok()) return s;
  }
  if (!request.speedscope.empty()) {
    if (absl::Status s = WriteText(request.speedscope, SpeedscopeOf(capture)); !s.ok()) return s;
  }
  if (request.html.empty()) return absl::OkStatus();
  return WriteText(request.html, FlamePage(DifferenceOf(capture), TextField(capture, "job")));
}

bool Any(const absl::StatusOr<Json>& part) {
  return part.ok() && !ListField(*part, "ranks").empty();
}

// Kernels of a job without GPUs are a line, unless they alone were asked for.
std::string TextOf(const ProfileRequest& request, const Profile& profile) {
  std::string out;
  if (Any(profile.stacks)) {
    AppendTo(&out, CaptureTable(*profile.stacks, request.activities));
  } else if (request.stacks() && !request.last) {
    AppendTo(&out, "stacks: ", Message(profile.stacks.status()), "\n");
  }
  if (!request.kernels()) return out;
  const bool had = AnyIn(profile.kernels, "closed");
  if (Any(profile.kernels) && (had || !request.stacks() || request.last)) {
    AppendTo(&out, out.empty() ? "" : "\n", ProfileTable(*profile.kernels, request.activities));
  } else if (Any(profile.kernels)) {
    const std::string why = TextField(ListField(*profile.kernels, "ranks").front(), "reason");
    AppendTo(&out, "\nkernels: none (", why, ")\n");
  } else if (!request.last) {
    AppendTo(&out, "\nkernels: ", Message(profile.kernels.status()), "\n");
  }
  return out;
}

// What was there before stands at the top: the window of detail.
std::string DataOf(const ProfileRequest& request, const Profile& profile) {
  Json all = profile.kernels.ok() ? *profile.kernels : Json::object();
  if (profile.stacks.ok()) all["stacks"] = *profile.stacks;
  return Serialize(all, request.format);
}

int RunProfile(const CollectorOptions& collector, const ProfileRequest& request) {
  const absl::StatusOr<CollectorApi> api = ApiOf(collector);
  if (!api.ok()) return Fail("profile", api.status());
  const absl::StatusOr<std::string> job = OnlyJob(*api, request.job);
  if (!job.ok()) return Fail("profile", job.status());
  Profile profile;
  Obtain(*api, *job, request, profile);
  if (!profile.stacks.ok() && !profile.kernels.ok()) {
    return Fail("profile", request.stacks() ? profile.stacks.status() : profile.kernels.status());
  }
  if (!Any(profile.stacks) && !Any(profile.kernels)) {
    return Fail("profile", absl::NotFoundError("nothing was captured of this job yet"));
  }
  if (absl::Status s = WriteFiles(request, profile); !s.ok()) return Fail("profile", s);
  const std::string out =
      IsText(request.format) ? TextOf(request, profile) : DataOf(request, profile);
  std::fputs(out.c_str(), stdout);
  const bool had = AnyIn(profile.stacks, "done") || AnyIn(profile.kernels, "closed");
  return had ? kNothingFound : kFailure;
}

void AddOptions(CLI::App& verb, ProfileRequest& request) {
  verb.add_option("JOB", request.job, "the job [the only one]");
  verb.add_option("--seconds", request.seconds,
                  "how long, in the job's iterations; stacks 30 at most")
      ->check(CLI::Range(1, 300))
      ->capture_default_str();
  verb.add_option("--iterations", request.iterations, "so many iterations instead")
      ->check(CLI::Range(1, 100'000));
  verb.add_option("--ranks", request.ranks, "only these, like 0,3,5 [all]")->type_name("LIST");
  verb.add_option("--what", request.what, "stacks, kernels or all")
      ->check(CLI::IsMember({"stacks", "kernels", "all"}))
      ->capture_default_str();
  verb.add_flag("--native", request.native,
                "frames of native code too; each process is halted for each sample");
  verb.add_option("--folded", request.folded,
                  "write folded stacks of each rank into this folder, and their difference")
      ->type_name("DIR");
  verb.add_option("--speedscope", request.speedscope, "write the stacks for speedscope.app there")
      ->type_name("FILE");
  verb.add_option("--html", request.html, "write a differential flame graph there")
      ->type_name("FILE");
  verb.add_option("--top", request.activities, "places and activities shown")
      ->capture_default_str();
  verb.add_flag("--last", request.last, "show the newest one, ask for none");
}

}  // namespace

void AddProfileVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand(
      "profile", "Capture in which functions and kernels a job's ranks spend their time");
  auto collector = std::make_shared<CollectorOptions>();
  auto request = std::make_shared<ProfileRequest>();
  AddOptions(*verb, *request);
  AddFormatOption(*verb, &request->format, "table, wide, json or yaml");
  AddCollectorOptions(*verb, collector.get(), false);
  verb->footer(kExamples);
  verb->callback([invocation, collector, request] {
    invocation->action = [collector, request] { return RunProfile(*collector, *request); };
  });
}

}  // namespace fathom::cli
