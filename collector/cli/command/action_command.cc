#include "collector/cli/command/action_command.h"

#include <cstdio>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/http/cordon_client.h"
#include "collector/cli/render/action_lists.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom action plan\n"
    "  fathom action approve a0123456789ab\n"
    "  fathom action undo a0123456789ab\n"
    "  fathom action pause --reason 'maintenance of rack 7'\n"
    "Changes need a token of an operator: --token-file, or FATHOM_TOKEN_FILE.";

struct ActionRequest {
  std::string http = "127.0.0.1:7073";
  Access access;
  std::string format = "table";
  std::string id;
  std::string reason;
};

absl::StatusOr<CordonClient> ClientOf(const std::string& http, const Access& given) {
  absl::StatusOr<HostPort> server = ServerOf(http, given.OrElse(CordonAccess()));
  if (!server.ok()) return server.status();
  return CordonClient(*server);
}

int Show(const absl::StatusOr<Json>& answer, const std::string& format, bool plan) {
  if (!answer.ok()) return Fail("action", answer.status());
  const bool wide = format == "wide";
  const bool text = wide || format == "table";
  const std::string out = text ? (plan ? PlanTable(*answer, wide) : ActionsTable(*answer, wide))
                               : Serialize(*answer, format);
  std::fputs(out.c_str(), stdout);
  if (out.empty()) std::fputs(plan ? "nothing to do\n" : "no actions\n", stderr);
  return kNothingFound;
}

int RunPlan(const ActionRequest& request) {
  const auto client = ClientOf(request.http, request.access);
  if (!client.ok()) return Fail("action", client.status());
  return Show(client->Plan(), request.format, true);
}

int RunCommand(const ActionRequest& request, const std::string& path, const std::string& said) {
  const Access access = request.access.OrElse(CordonAccess());
  if (access.token_file.empty()) {
    return Fail("action", absl::InvalidArgumentError("a token is needed; give its file with "
                                                     "--token-file or FATHOM_TOKEN_FILE"));
  }
  const auto client = ClientOf(request.http, access);
  if (!client.ok()) return Fail("action", client.status());
  const absl::Status done = client->Command(path, request.reason);
  if (!done.ok()) return Fail("action", done);
  std::printf("%s\n", said.c_str());
  return kNothingFound;
}

void AddAddress(CLI::App& verb, ActionRequest* request) {
  verb.add_option("--cordon-http", request->http, "fathom-cordon's address")
      ->type_name("HOST:PORT")
      ->envname("FATHOM_CORDON_HTTP")
      ->capture_default_str();
  verb.add_option("--token-file", request->access.token_file,
                  "file with your token [of FATHOM_CORDON_TOKEN_FILE, or FATHOM_TOKEN_FILE]")
      ->type_name("PATH");
}

CLI::App* AddChange(CLI::App& verb, const char* name, const char* help,
                    const std::shared_ptr<ActionRequest>& request) {
  CLI::App* change = verb.add_subcommand(name, help);
  AddAddress(*change, request.get());
  return change;
}

void AddAboutOne(CLI::App& verb, const char* name, const char* help, const char* said,
                 const std::shared_ptr<ActionRequest>& request, Invocation* invocation) {
  CLI::App* change = AddChange(verb, name, help, request);
  change->add_option("ACTION", request->id, "its id, as `fathom action plan` shows it")->required();
  change->callback([=] {
    invocation->action = [=] {
      return RunCommand(*request, Cat("actions/", PercentEncode(request->id), "/", name),
                        Cat(said, " ", request->id));
    };
  });
}

void AddAboutAll(CLI::App& verb, const char* name, const char* help, bool needs_reason,
                 const std::shared_ptr<ActionRequest>& request, Invocation* invocation) {
  CLI::App* change = AddChange(verb, name, help, request);
  change->add_option("--reason", request->reason, "why, for everybody to read")
      ->required(needs_reason);
  change->callback([=] {
    invocation->action = [=] { return RunCommand(*request, name, Cat("done: ", name)); };
  });
}

}  // namespace

int GetActions(const std::string& cordon_http, const Access& access, const std::string& format) {
  const auto client = ClientOf(cordon_http, access);
  if (!client.ok()) return Fail("get", client.status());
  return Show(client->Actions(), format, false);
}

void AddActionVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("action", "See, approve and undo what is done to nodes");
  verb->require_subcommand(1);
  verb->footer(kExamples);
  auto request = std::make_shared<ActionRequest>();
  CLI::App* plan =
      verb->add_subcommand("plan", "What would be done now, and what stands in the way");
  AddAddress(*plan, request.get());
  plan->add_option("-o,--output", request->format, "table, wide, json or yaml")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml"}));
  plan->callback([=] { invocation->action = [=] { return RunPlan(*request); }; });
  AddAboutOne(*verb, "approve", "Let fathom-cordon hold the node back", "approved", request,
              invocation);
  AddAboutOne(*verb, "undo", "Let the node go again", "undo asked for:", request, invocation);
  AddAboutAll(*verb, "pause", "No new actions until resume", true, request, invocation);
  AddAboutAll(*verb, "resume", "End a pause", false, request, invocation);
  AddAboutAll(*verb, "reset", "Close the breaker after it has tripped", false, request, invocation);
}

}  // namespace fathom::cli
