// `fathom trace`: switches sources of a running job off and on, shows what is off, reads stacks.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/render/trace_table.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom trace off python,cuda train\n"
    "  fathom trace on python,cuda train\n"
    "  fathom trace off cuda train --ranks 0,17\n"
    "  fathom trace show train\n"
    "  fathom trace stacks train --ranks 3\n"
    "Sources: nccl_plugin, nccl_transfers, cuda, gpu_window, python. All ranks switch at the same\n"
    "iteration. Exit code 1 where no rank could.";

constexpr std::chrono::milliseconds kLookEvery{200};
constexpr std::chrono::seconds kPatience{60};

struct TraceRequest {
  CollectorOptions collector;
  std::string job;
  std::string sources;
  std::string ranks;
  std::string format = "table";
};

// What is asked, and what is asked again until every rank has answered. `ask` may be empty.
struct Question {
  std::function<absl::StatusOr<Json>(const CollectorApi&, const std::string& job)> ask;
  std::function<absl::StatusOr<Json>(const CollectorApi&, const std::string& job)> look;
  std::string (*text)(const Json&);
};

bool AnyIn(const Json& answer, std::initializer_list<const char*> states) {
  const Json& ranks = ListField(answer, "ranks");
  return std::any_of(ranks.begin(), ranks.end(), [&](const Json& rank) {
    const std::string state = TextField(rank, "state");
    return std::any_of(states.begin(), states.end(), [&](const char* s) { return state == s; });
  });
}

absl::StatusOr<Json> Obtain(const CollectorApi& api, const Question& question,
                            const std::string& job) {
  if (!question.ask) return question.look(api, job);
  absl::StatusOr<Json> answer = question.ask(api, job);
  if (!answer.ok()) return answer;
  const std::int64_t id = IntField(*answer, "id");
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (AnyIn(*answer, {"asked"}) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kLookEvery);
    answer = question.look(api, job);
    if (!answer.ok()) return answer;
    if (IntField(*answer, "id") != id) {
      return absl::FailedPreconditionError("somebody else ordered something meanwhile");
    }
  }
  return answer;
}

int RunTrace(const TraceRequest& request, const Question& question) {
  const absl::StatusOr<CollectorApi> api = ApiOf(request.collector);
  if (!api.ok()) return Fail("trace", api.status());
  const absl::StatusOr<std::string> job = OnlyJob(*api, request.job);
  if (!job.ok()) return Fail("trace", job.status());
  const absl::StatusOr<Json> answer = Obtain(*api, question, *job);
  if (!answer.ok()) return Fail("trace", answer.status());
  const std::string out =
      IsText(request.format) ? question.text(*answer) : Serialize(*answer, request.format);
  std::fputs(out.c_str(), stdout);
  const bool some = !question.ask || AnyIn(*answer, {"done", "waits", "read"});
  return some ? kNothingFound : kFailure;
}

CLI::App* AddKind(CLI::App& verb, const char* name, const char* help, bool sources, bool ranks,
                  const std::shared_ptr<TraceRequest>& request) {
  CLI::App* kind = verb.add_subcommand(name, help);
  if (sources) {
    kind->add_option("SOURCES", request->sources, "like python,cuda")->required();
  }
  kind->add_option("JOB", request->job, "the job [the only one]");
  if (ranks) {
    kind->add_option("--ranks", request->ranks, "only these, like 0,3,5 [all]")->type_name("LIST");
  }
  AddFormatOption(*kind, &request->format, "table, wide, json or yaml");
  AddCollectorOptions(*kind, &request->collector, false);
  return kind;
}

absl::StatusOr<Json> LookAtTrace(const CollectorApi& api, const std::string& job) {
  return api.Trace(job);
}

absl::StatusOr<Json> LookAtStacks(const CollectorApi& api, const std::string& job) {
  return api.Stacks(job);
}

void AddSwitch(CLI::App& verb, bool off, Invocation* invocation) {
  auto request = std::make_shared<TraceRequest>();
  CLI::App* kind =
      AddKind(verb, off ? "off" : "on", off ? "Switch sources off" : "Switch sources on again",
              true, true, request);
  kind->callback([=] {
    invocation->action = [=] {
      const auto ask = [=](const CollectorApi& api, const std::string& job) {
        const std::string none;
        return api.AskTrace(job, off ? request->sources : none, off ? none : request->sources,
                            request->ranks);
      };
      return RunTrace(*request, {ask, LookAtTrace, TraceTable});
    };
  });
}

void AddStacks(CLI::App& verb, Invocation* invocation) {
  auto request = std::make_shared<TraceRequest>();
  CLI::App* kind =
      AddKind(verb, "stacks", "What each rank does at this moment", false, true, request);
  kind->callback([=] {
    invocation->action = [=] {
      const auto ask = [=](const CollectorApi& api, const std::string& job) {
        return api.AskStacks(job, request->ranks);
      };
      return RunTrace(*request, {ask, LookAtStacks, StacksText});
    };
  });
}

}  // namespace

void AddTraceVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb =
      root.add_subcommand("trace", "Switch what is traced of a running job, and read its stacks");
  verb->require_subcommand(1);
  verb->footer(kExamples);
  AddSwitch(*verb, true, invocation);
  AddSwitch(*verb, false, invocation);
  auto request = std::make_shared<TraceRequest>();
  CLI::App* show = AddKind(*verb, "show", "What is switched off", false, false, request);
  show->callback([=] {
    invocation->action = [=] { return RunTrace(*request, {nullptr, LookAtTrace, TraceTable}); };
  });
  AddStacks(*verb, invocation);
}

}  // namespace fathom::cli
