// `fathom recover run`, `undo` and `show`: a plan done step by step, taken back, and its record.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>

#include "absl/strings/str_format.h"
#include "collector/cli/command/get_command.h"
#include "collector/cli/nodes/recover_planning.h"
#include "collector/cli/process/signal_gate.h"
#include "collector/cli/recover/recovery_text.h"
#include "collector/cli/remedy/backend/remedy_config.h"
#include "collector/cli/remedy/recovery_journal.h"
#include "collector/cli/remedy/recovery_run.h"
#include "collector/cli/remedy/recovery_story.h"
#include "collector/cli/remedy/recovery_teller.h"
#include "collector/cli/run/installation.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"
#include "collector/recovery/recovery_json.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

// Restarts are waited for so many times as long as they are said to take.
constexpr double kPatience = 3;
constexpr double kAssumedRestart = 180;

fs::path JournalFolder(const RecoverOptions& options) {
  return options.journal.empty() ? DefaultJournalFolder() : fs::path(options.journal);
}

MonoNs MonoNow() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return MonoNs(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

RecoveryHistory Folded(const std::vector<RecoveryRecord>& records) {
  RecoveryHistory history;
  for (const RecoveryRecord& record : records) history.Fold(record);
  return history;
}

// The files of a job, or of the job that a recovery's id is of; all without a name.
std::vector<fs::path> JournalsOf(const fs::path& folder, const std::string& name) {
  std::error_code error;
  const fs::path of_job = JournalOf(folder, name);
  if (!name.empty() && fs::exists(of_job, error)) return {of_job};
  std::vector<fs::path> files;
  fs::directory_iterator each(folder, error);
  for (; !error && each != fs::directory_iterator(); each.increment(error)) {
    if (each->path().extension() != ".jsonl") continue;
    const auto records = ReadJournal(each->path());
    if (name.empty() || (records.ok() && Folded(*records).Find(name) != nullptr))
      files.push_back(each->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool Despite(const RecoverOptions& options, const char* what) {
  return std::find(options.despite.begin(), options.despite.end(), what) != options.despite.end();
}

std::string WhyRefused(const PlannedRecovery& planned, const RecoverOptions& options) {
  const auto may = [&](const char* what) { return Despite(options, what); };
  const collector::SickJob& job = planned.facts.job;
  const collector::RecoveryPlan& plan = planned.plan;
  const bool weak = job.grade != "established" && job.proof != "confirmed";
  if (job.verdict.empty() || job.node.empty() || job.proof == "refuted") return plan.why;
  if (weak && !may("weak")) return Cat(plan.why, " (--despite weak)");
  if (plan.spare.empty()) return "there is no spare";
  if (!plan.torn.empty() && !may("torn"))
    return Cat("a newer checkpoint is not whole, and the job may load it: ", plan.torn.front(),
               " (--despite torn)");
  if (!plan.checkpoint && !may("no-checkpoint"))
    return "no whole checkpoint is known: --checkpoints DIR, or --despite no-checkpoint";
  if (plan.advice == "do not act" && !weak && !may("cost"))
    return Cat(plan.why, " (--despite cost)");
  return "";
}

Json PlanFacts(const PlannedRecovery& planned, const Json& job, const std::string& backend) {
  const collector::SickJob& sick = planned.facts.job;
  Json facts = collector::RecoveryJson(sick, planned.plan);
  for (const char* words : {"steps", "no_spares", "not_known", "sentence"}) facts.erase(words);
  const char* user = std::getenv("USER");
  facts["backend"] = backend;
  facts["by"] = user == nullptr ? Cat("uid ", getuid()) : Printable(user);
  facts["usual_s"] = sick.usual_s;
  facts["since_unix_ns"] = sick.since_ns;
  facts["planned_unix_ns"] = WallNow();
  facts["sick_pids"] = PidsOn(job, sick.node);
  return facts;
}

bool Confirmed(const std::string& question, bool yes) {
  if (yes) return true;
  if (isatty(STDIN_FILENO) == 0) {
    std::fputs("nobody is there to be asked; --yes goes on without\n", stderr);
    return false;
  }
  std::printf("%s Type yes: ", question.c_str());
  std::fflush(stdout);
  std::string answer;
  return std::getline(std::cin, answer) && StripBlanks(answer) == "yes";
}

// A verb under way: journal, back-end, collector, and the signals that stop it.
class Session {
 public:
  Session(const CollectorApi& api, const RecoverOptions& options)
      : api_(api),
        options_(options),
        teller_(
            {.post = [&api](const std::string& job,
                            const std::string& told) { return api.TellRecovery(job, told); },
             .pause = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }}) {}

  absl::Status Open(const fs::path& file) {
    auto journal = RecoveryJournal::Open(file);
    if (!journal.ok()) return journal.status();
    journal_ = *std::move(journal);
    auto backend = ReadRemedyConfig(
        options_.config,
        {.fathom = ThisInstallation().folder / "fathom",
         .run = &collector::RunCommand,
         .waiting = {.pause = [this](auto time) { return Pause(time); }, .now = &MonoNow}});
    if (!backend.ok()) return backend.status();
    backend_ = *std::move(backend);
    history_ = Folded(journal_->records());
    teller_.Again(history_);
    return absl::OkStatus();
  }

  RecoveryRun Run(const std::string& job) {
    RecoveryRun::Limits limits;
    limits.weak = Despite(options_, "weak");
    limits.in_doubt = options_.in_doubt;
    limits.restart_s = kPatience * (options_.restart_s > 0 ? options_.restart_s : kAssumedRestart);
    return RecoveryRun(history_,
                       {.backend = *backend_,
                        .verdicts = [this, job] { return api_.Verdicts(job, true); },
                        .job = [this, job] { return api_.Job(job); },
                        .append = [this](const RecoveryRecord& record) { return Append(record); },
                        .wall_ns = &WallNow,
                        .pause = [this](std::chrono::milliseconds time) { return Pause(time); },
                        .say =
                            [](const std::string& line) {
                              std::printf("%s\n", Printable(line).c_str());
                              std::fflush(stdout);
                            }},
                       limits);
  }

  // What the journal has, with what this verb added.
  const RecoveryHistory& history() const { return history_; }
  RemedyBackend& backend() { return *backend_; }

  // What came of it, and what the collector does not know of it.
  int Told(const absl::Status& done) const {
    if (const std::string untold = teller_.UntoldText(); !untold.empty())
      std::fprintf(stderr, "fathom recover: %s\n", Printable(untold).c_str());
    return done.ok() ? kNothingFound : Fail("recover", done);
  }

 private:
  absl::Status Append(const RecoveryRecord& record) {
    if (auto written = journal_->Append(record); !written.ok()) return written;
    history_.Fold(record);
    teller_.OnRecord(record.mark, *history_.Find());
    return absl::OkStatus();
  }

  bool Pause(std::chrono::milliseconds time) const {
    std::this_thread::sleep_for(time);
    const std::vector<signalfd_siginfo> taken = gate_.Take();
    return std::none_of(taken.begin(), taken.end(), [](const signalfd_siginfo& each) {
      return each.ssi_signo == SIGINT || each.ssi_signo == SIGTERM || each.ssi_signo == SIGHUP;
    });
  }

  const CollectorApi& api_;
  const RecoverOptions& options_;
  const SignalGate gate_;
  RecoveryTeller teller_;
  RecoveryHistory history_;
  std::unique_ptr<RecoveryJournal> journal_;
  std::unique_ptr<RemedyBackend> backend_;
};

// Plans, refuses or asks, and writes what was decided.
absl::Status BeginNew(const CollectorApi& api, const RecoverOptions& options, Session& session,
                      RecoveryRun& run) {
  const auto planned = PlanOf(api, options);
  if (!planned.ok()) return planned.status();
  std::fputs(RecoveryText(planned->facts.job, planned->plan).c_str(), stdout);
  if (const std::string why = WhyRefused(*planned, options); !why.empty())
    return absl::FailedPreconditionError(why);
  const absl::StatusOr<Json> job = api.Job(planned->facts.job.name);
  if (!job.ok()) return job.status();
  const Json facts = PlanFacts(*planned, *job, session.backend().Name());
  const std::string id = absl::StrFormat("r%012x", (WallNow() / 1'000) & 0xffff'ffff'ffff);
  const Remedy remedy = RemedyOf(id, facts);
  if (auto fits = session.backend().Check(remedy); !fits.ok()) return fits;
  const std::string places = session.backend().WhoPlaces();
  if (!places.empty())
    std::printf("placement   by %s: the spare is where it could go, not where it must\n",
                places.c_str());
  const std::string question =
      Cat("Take ", remedy.sick, " out of ", remedy.job,
          places.empty() ? Cat(" and let ", remedy.spare, " take its place?") : "?");
  if (!Confirmed(question, options.yes))
    return absl::FailedPreconditionError("nobody said yes; nothing was done");
  return run.Begin(id, facts);
}

int RunIt(const RecoverOptions& options) {
  const absl::StatusOr<CollectorApi> api = ApiOf(options.collector);
  if (!api.ok()) return Fail("recover", api.status());
  const absl::StatusOr<std::string> job = OnlyJob(*api, options.job);
  if (!job.ok()) return Fail("recover", job.status());
  Session session(*api, options);
  if (auto open = session.Open(JournalOf(JournalFolder(options), *job)); !open.ok())
    return Fail("recover", open);
  RecoveryRun run = session.Run(*job);
  const Recovery* last = run.history().Find();
  if (last == nullptr || !last->under_way()) {
    if (auto begun = BeginNew(*api, options, session, run); !begun.ok()) return session.Told(begun);
  } else if (!Confirmed(Cat(RecoveryRecordText(*last), "Go on with it?"), options.yes)) {
    return Fail("recover", absl::FailedPreconditionError("nobody said yes; nothing was done"));
  }
  const absl::Status done = run.GoOn();
  std::fputs(RecoveryRecordText(*run.history().Find()).c_str(), stdout);
  return session.Told(done);
}

int UndoIt(const RecoverOptions& options) {
  const absl::StatusOr<CollectorApi> api = ApiOf(options.collector);
  if (!api.ok()) return Fail("recover", api.status());
  const auto files = JournalsOf(JournalFolder(options), options.job);
  if (files.size() != 1) {
    return Fail("recover",
                absl::NotFoundError(files.empty() ? "no such recovery; see fathom recover show"
                                                  : "there are several; say which"));
  }
  Session session(*api, options);
  if (auto open = session.Open(files[0]); !open.ok()) return Fail("recover", open);
  const RecoveryHistory history = session.history();
  const Recovery* last = history.Find();
  if (last == nullptr) return Fail("recover", absl::NotFoundError("nothing was ever begun"));
  RecoveryRun run = session.Run(last->Plan("job"));
  if (history.Find(options.job) != nullptr && last->id != options.job)
    return Fail("recover", absl::FailedPreconditionError(Cat(last->id, " came after it")));
  if (!Confirmed(Cat(RecoveryRecordText(*last), "Undo it?"), options.yes))
    return Fail("recover", absl::FailedPreconditionError("nobody said yes; nothing was done"));
  return session.Told(run.Undo());
}

int ShowIt(const RecoverOptions& options) {
  std::vector<Recovery> all;
  for (const fs::path& file : JournalsOf(JournalFolder(options), options.job)) {
    const auto records = ReadJournal(file);
    if (!records.ok()) return Fail("recover", records.status());
    const RecoveryHistory history = Folded(*records);
    for (const Recovery& each : history.all()) {
      const bool by_id = history.Find(options.job) != nullptr && !options.job.empty();
      if (!by_id || each.id == options.job) all.push_back(each);
    }
  }
  Json json = {{"recoveries", Json::array()}};
  for (const Recovery& each : all) json["recoveries"].push_back(RecoveryRecordJson(each));
  const std::string out =
      IsText(options.format) ? RecoveryListText(all) : Serialize(json, options.format);
  std::fputs(out.c_str(), stdout);
  if (all.empty() && IsText(options.format)) std::fputs("no recoveries\n", stderr);
  return kNothingFound;
}

void AddDoing(CLI::App& verb, RecoverOptions* options) {
  verb.add_option("--config", options->config,
                  "the back-end: torchrun, slurm, kubernetes or command")
      ->type_name("FILE")
      ->envname("FATHOM_RECOVER_CONFIG")
      ->required();
  verb.add_flag("--yes", options->yes, "do not ask");
  verb.add_option("--in-doubt", options->in_doubt,
                  "what you found of a step of which it is not known whether it was done")
      ->check(CLI::IsMember({"done", "in-part", "not-done"}));
  AddCollectorOptions(verb, &options->collector, false);
}

void AddJournal(CLI::App& verb, RecoverOptions* options) {
  verb.add_option("--journal", options->journal, "the folder of records [/var/lib/fathom/recover]")
      ->type_name("DIR");
}

}  // namespace

void AddRecoverRun(CLI::App& verb, Invocation* invocation) {
  auto options = std::make_shared<RecoverOptions>();
  CLI::App* run = verb.add_subcommand("run", "Does it, or goes on with it: asks first");
  AddPlanOptions(*run, options.get());
  AddDoing(*run, options.get());
  AddJournal(*run, options.get());
  run->add_option("--despite", options->despite,
                  "act all the same: weak verdict, torn checkpoint, no-checkpoint, cost")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"weak", "torn", "no-checkpoint", "cost"}));
  run->callback(
      [invocation, options] { invocation->action = [options] { return RunIt(*options); }; });
}

void AddRecoverUndo(CLI::App& verb, Invocation* invocation) {
  auto options = std::make_shared<RecoverOptions>();
  CLI::App* undo = verb.add_subcommand("undo", "Takes back what was done, the last first");
  undo->add_option("JOB", options->job, "the job, or the id of its newest recovery")->required();
  AddDoing(*undo, options.get());
  AddJournal(*undo, options.get());
  undo->callback(
      [invocation, options] { invocation->action = [options] { return UndoIt(*options); }; });
}

void AddRecoverShow(CLI::App& verb, Invocation* invocation) {
  auto options = std::make_shared<RecoverOptions>();
  CLI::App* show = verb.add_subcommand("show", "What was done, how long each stage took");
  show->add_option("JOB", options->job, "a job, or the id of a recovery [all]");
  AddJournal(*show, options.get());
  AddFormatOption(*show, &options->format, "table, json or yaml");
  show->callback(
      [invocation, options] { invocation->action = [options] { return ShowIt(*options); }; });
}

}  // namespace fathom::cli
