// `fathom watch [JOB]`: follows a collector until the job ends or Ctrl-C.
#include <poll.h>

#include <chrono>
#include <memory>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/command/watch_view.h"
#include "collector/cli/run/event_follower.h"
#include "collector/cli/run/traced_run.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom watch\n"
    "  fathom watch train --collector-http head:7070\n"
    "On a terminal the view is redrawn; elsewhere each change is a line. With a JOB it ends\n"
    "when the job does. Exit code: 2 when a verdict was established or supported.";
constexpr std::chrono::milliseconds kRedraw{250};

using Clock = std::chrono::steady_clock;

class Watch {
 public:
  Watch(CollectorApi api, const std::string& job)
      : api_(std::move(api)),
        job_(job),
        terminal_(LookAtTerminal(1)),
        view_(terminal_, job),
        follower_(api_.server(), CollectorApi::EventsPath(job)) {}

  // Until the job has ended. Errors: those of the first look at the collector.
  absl::Status Run() {
    if (absl::Status s = Look(); !s.ok()) return s;
    while (!view_.ended()) {
      const bool was_connected = follower_.connected();
      follower_.Tick(Clock::now());
      if (!was_connected && follower_.connected() && !Look().ok()) continue;
      Wait();
      for (const ServerEvent& event : follower_.Receive(Clock::now())) OnEvent(event);
      Redraw();
    }
    return absl::OkStatus();
  }

  bool culprit_found() const { return view_.culprit_found(); }

 private:
  // The state as it is now: events only tell what changes.
  absl::Status Look() {
    absl::StatusOr<Json> jobs = api_.Jobs();
    if (!jobs.ok()) return jobs.status();
    absl::StatusOr<Json> verdicts = api_.Verdicts(job_, /*active_only=*/true);
    if (!verdicts.ok()) return verdicts.status();
    for (const Json& job : ListField(*jobs, "jobs")) Print(view_.OnJob(job));
    for (const Json& verdict : ListField(*verdicts, "verdicts")) Print(view_.OnVerdict(verdict));
    return absl::OkStatus();
  }

  void Wait() const {
    pollfd wanted{follower_.fd(), POLLIN, 0};
    poll(&wanted, 1, static_cast<int>(kRedraw.count()));
  }

  void OnEvent(const ServerEvent& event) {
    const Json data = Json::parse(event.data, nullptr, /*allow_exceptions=*/false);
    if (event.name == "job") Print(view_.OnJob(data));
    if (event.name == "verdict") Print(view_.OnVerdict(data));
  }

  void Print(const std::string& lines) const {
    if (terminal_.interactive) return;
    std::fputs(lines.c_str(), stdout);
    std::fflush(stdout);
  }

  void Redraw() {
    if (!terminal_.interactive || Clock::now() < next_frame_) return;
    next_frame_ = Clock::now() + kRedraw;
    std::string frame = view_.Frame(absl::ToUnixNanos(absl::Now()));
    if (!follower_.connected()) frame += "\nthe collector does not answer; trying again\n";
    if (frame == shown_) return;
    shown_ = frame;
    // The whole screen: nothing to count, whatever was resized.
    std::fputs(Cat("\x1b[H\x1b[2J", frame).c_str(), stdout);
    std::fflush(stdout);
  }

  CollectorApi api_;
  std::string job_;
  Terminal terminal_;
  WatchView view_;
  EventFollower follower_;
  Clock::time_point next_frame_{};
  std::string shown_;
};

int RunWatch(const CollectorOptions& collector, const std::string& job) {
  absl::StatusOr<CollectorApi> api = ApiOf(collector);
  if (!api.ok()) return Fail("watch", api.status());
  Watch watch(*std::move(api), job);
  if (absl::Status s = watch.Run(); !s.ok()) return Fail("watch", s);
  return watch.culprit_found() && !collector.exit_zero ? kCulpritFound : kNothingFound;
}

}  // namespace

void AddWatchVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("watch", "Follow jobs and verdicts as they change");
  auto collector = std::make_shared<CollectorOptions>();
  auto job = std::make_shared<std::string>();
  verb->add_option("JOB", *job, "the job; without one, all");
  AddCollectorOptions(*verb, collector.get(), true);
  verb->footer(kExamples);
  verb->callback([invocation, collector, job] {
    invocation->action = [collector, job] { return RunWatch(*collector, *job); };
  });
}

}  // namespace fathom::cli
