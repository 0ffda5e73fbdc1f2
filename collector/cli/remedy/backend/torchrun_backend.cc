#include "collector/cli/remedy/backend/torchrun_backend.h"

#include "collector/cli/remedy/backend/placeholders.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr double kAskSeconds = 30;
constexpr double kStartSeconds = 3;  // until a start that was ordered is seen

// Of the launcher that stands by, and of the one that an undo starts on the sick node.
std::string TagOf(const Remedy& remedy, int attempt) {
  return attempt > 1 ? Cat(remedy.id, "-", attempt) : remedy.id;
}
std::string UndoTag(const Remedy& remedy) { return Cat(remedy.id, "-undo"); }

std::string LastLine(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const std::size_t end = text.rfind('\n');
  return Printable(end == text.npos ? text : text.substr(end + 1));
}

}  // namespace

std::string WhyNotElastic(const Json& launcher, const std::string& job) {
  const std::string told = TextField(launcher, "job");
  if (!told.empty() && told != job) return Cat("it runs job ", told);
  if (TextField(launcher, "rdzv_backend") != "c10d")
    return "its rendezvous is not c10d: a standby can take no place (--rdzv-backend=c10d)";
  if (IntField(launcher, "max_restarts") < 1)
    return "without a restart left the others end with the sick node (--max-restarts)";
  if (BoolField(launcher, "hosts_rendezvous"))
    return "the sick node hosts the rendezvous, which would end with it";
  if (BoolField(launcher, "shares_store"))
    return "with a shared store a standby cannot take the place; start the job with "
           "TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1";
  return "";
}

absl::StatusOr<Json> TorchrunBackend::Ask(const Remedy& remedy, const std::string& node,
                                          std::vector<std::string> words, double limit_s) const {
  std::vector<std::string> command = {options_.fathom, "recover", "node"};
  command.insert(command.end(), words.begin(), words.end());
  const std::vector<std::string> argv = Behind(Filled(options_.on_node, remedy, node), command);
  const auto result = run_(argv, Nanos::FromSeconds(limit_s));
  if (!result.ok()) return absl::UnavailableError(Cat(node, ": ", Message(result.status())));
  const Json answer = Json::parse(result->output, nullptr, false);
  if (result->exit_code == kNothingFound && answer.is_object()) return answer;
  const std::string why = Cat(node, ": ", LastLine(result->errors));
  // Told by `recover node` itself; what ssh says is another matter.
  if (result->exit_code == kCulpritFound) return absl::NotFoundError(why);
  return absl::UnavailableError(why);
}

absl::StatusOr<Json> TorchrunBackend::AskTagged(const Remedy& remedy, const std::string& node,
                                                const std::string& tag) const {
  return Ask(remedy, node, {"look", "--tag", Cat(tag, "/", node)}, kAskSeconds);
}

absl::Status TorchrunBackend::Start(const Remedy& remedy, const std::string& node,
                                    const std::string& tag) const {
  std::vector<std::string> words = {
      "start", "--tag", Cat(tag, "/", node), "--log", Filled(options_.log, remedy, node), "--"};
  for (const std::string& word : Filled(options_.start, remedy, node)) words.push_back(word);
  return Ask(remedy, node, std::move(words), kAskSeconds).status();
}

absl::Status TorchrunBackend::StopTagged(const Remedy& remedy, const std::string& node,
                                         const std::string& tag) const {
  const absl::Status stopped = Ask(remedy, node,
                                   {"stop", "--tag", Cat(tag, "/", node), "--grace",
                                    std::to_string(static_cast<int>(options_.stop_s))},
                                   options_.stop_s + kAskSeconds)
                                   .status();
  return absl::IsNotFound(stopped) ? absl::OkStatus() : stopped;
}

absl::StatusOr<Json> TorchrunBackend::SickLauncher(const Remedy& remedy) const {
  for (const std::int64_t pid : remedy.sick_pids) {
    auto told = Ask(remedy, remedy.sick, {"look", "--pid", std::to_string(pid)}, kAskSeconds);
    if (told.ok() || !absl::IsNotFound(told.status())) return told;
  }
  return Json::object();
}

absl::Status TorchrunBackend::Check(const Remedy& remedy) {
  const auto launcher = SickLauncher(remedy);
  if (!launcher.ok()) return launcher.status();
  if (launcher->empty())
    return absl::FailedPreconditionError(
        Cat("no torchrun of ", remedy.job, " runs on ", remedy.sick));
  const std::string why = WhyNotElastic(*launcher, remedy.job);
  if (!why.empty())
    return absl::FailedPreconditionError(Cat("torchrun on ", remedy.sick, ": ", why));
  const auto spare = AskTagged(remedy, remedy.spare, remedy.id);
  return absl::IsNotFound(spare.status()) ? absl::OkStatus() : spare.status();
}

absl::StatusOr<Json> TorchrunBackend::Before(const Remedy& remedy, Step step) {
  return step == Step::kIsolate ? SickLauncher(remedy) : Json::object();
}

absl::StatusOr<std::string> TorchrunBackend::StandBy(const Remedy& remedy,
                                                     const std::string& tag) const {
  if (options_.start.empty()) return "a standby is taken to wait already";
  if (auto started = Start(remedy, remedy.spare, tag); !started.ok()) return started;
  const auto ready = ComesToBe(waiting_, options_.ready_s, [&]() -> absl::StatusOr<bool> {
    const auto told = AskTagged(remedy, remedy.spare, tag);
    if (absl::IsNotFound(told.status())) return told.status();
    return told.ok() && BoolField(*told, "reached_rendezvous");
  });
  if (absl::IsNotFound(ready.status()))
    return absl::FailedPreconditionError(Cat("torchrun on ", remedy.spare, " has ended; see ",
                                             Filled(options_.log, remedy, remedy.spare)));
  if (ready.ok() && *ready) return Cat("torchrun on ", remedy.spare, " waits at the rendezvous");
  if (auto stopped = StopTagged(remedy, remedy.spare, tag); !stopped.ok()) return stopped;
  return absl::FailedPreconditionError(
      Cat("torchrun on ", remedy.spare, " did not reach the rendezvous; it was ended"));
}

absl::StatusOr<std::string> TorchrunBackend::Isolate(const Remedy& remedy,
                                                     const Json& before) const {
  if (before.empty()) return Cat("no torchrun of the job runs on ", remedy.sick, " any more");
  const auto stopped = Ask(remedy, remedy.sick,
                           {"stop", "--launcher", std::to_string(IntField(before, "pid")),
                            "--start", std::to_string(IntField(before, "start")), "--grace",
                            std::to_string(static_cast<int>(options_.stop_s))},
                           options_.stop_s + kAskSeconds);
  if (!stopped.ok() && !absl::IsNotFound(stopped.status())) return stopped.status();
  return Cat("torchrun on ", remedy.sick, " has ended");
}

absl::StatusOr<std::string> TorchrunBackend::Do(const Remedy& remedy, const Deed& deed) {
  if (deed.step == Step::kStandby) return StandBy(remedy, TagOf(remedy, 1));
  if (deed.step == Step::kIsolate) return Isolate(remedy, deed.before);
  if (deed.attempt == 1) return "the rendezvous restarts the workers";
  const auto first = AskTagged(remedy, remedy.spare, TagOf(remedy, 1));
  if (first.ok()) return Cat("torchrun on ", remedy.spare, " still waits for the others");
  if (!absl::IsNotFound(first.status())) return first.status();
  return StandBy(remedy, TagOf(remedy, deed.attempt));
}

// What an earlier run had ordered may still be under way on the node: a launcher that is there, or
// not there yet, is looked at for so long as that can take.
absl::StatusOr<Extent> TorchrunBackend::Becomes(
    bool there, double within_s, const std::function<absl::StatusOr<Json>()>& look) const {
  const auto became = ComesToBe(waiting_, within_s, [&]() -> absl::StatusOr<bool> {
    const auto told = look();
    if (!told.ok() && !absl::IsNotFound(told.status())) return told.status();
    return told.ok() == there;
  });
  if (!became.ok()) return became.status();
  return *became ? Extent::kAll : Extent::kNone;
}

absl::StatusOr<Extent> TorchrunBackend::HowFar(const Remedy& remedy, const Deed& deed) {
  if (deed.step == Step::kRestart && deed.attempt == 1) return Extent::kAll;
  if (deed.step == Step::kIsolate) {
    if (deed.before.empty()) return Extent::kAll;
    return Becomes(false, options_.stop_s, [&] {
      return Ask(remedy, remedy.sick,
                 {"look", "--launcher", std::to_string(IntField(deed.before, "pid")), "--start",
                  std::to_string(IntField(deed.before, "start"))},
                 kAskSeconds);
    });
  }
  if (options_.start.empty()) return Extent::kAll;
  return Becomes(true, kStartSeconds,
                 [&] { return AskTagged(remedy, remedy.spare, TagOf(remedy, deed.attempt)); });
}

absl::StatusOr<std::string> TorchrunBackend::Undo(const Remedy& remedy, const Deed& deed) {
  if (deed.step == Step::kIsolate) {
    if (options_.start.empty())
      return absl::FailedPreconditionError(
          Cat("no command to start torchrun on ", remedy.sick, " is configured (start)"));
    if (auto started = Start(remedy, remedy.sick, UndoTag(remedy)); !started.ok()) return started;
    return Cat("torchrun runs on ", remedy.sick, " again");
  }
  if (deed.step == Step::kRestart && deed.attempt == 1) return "nothing was done by hand";
  if (deed.step == Step::kStandby && options_.start.empty()) return "nothing was started";
  const std::string tag = TagOf(remedy, deed.attempt);
  if (auto stopped = StopTagged(remedy, remedy.spare, tag); !stopped.ok()) return stopped;
  return Cat("torchrun on ", remedy.spare, " was ended");
}

std::string TorchrunBackend::ByHand(const Remedy& remedy, const Deed& deed) const {
  const std::string start = Join(Filled(options_.start, remedy, remedy.spare), " ");
  if (deed.step == Step::kIsolate)
    return Cat("start the job's torchrun on ", remedy.sick, ", then end the one on ", remedy.spare);
  return Cat("look at ", Filled(options_.log, remedy, remedy.spare), " on ", remedy.spare,
             "; end what is left of the job on all nodes and start it anew without ", remedy.sick,
             start.empty() ? "" : Cat(": ", start));
}

}  // namespace fathom::cli
