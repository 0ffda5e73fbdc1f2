#include "collector/cli/command/get_command.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "collector/cli/command/action_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/plan/plan_text.h"
#include "collector/cli/render/verdict_view.h"
#include "collector/cli/render/yaml.h"
#include "collector/cli/report/ledger_block.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom get jobs\n"
    "  fathom get verdicts -o wide\n"
    "  fathom get ranks --job train -o json\n"
    "  fathom get nodes --collector-http head:7070\n"
    "  fathom get verdicts --node n17\n"
    "  fathom get runs --job train -o wide      what is normal for it\n"
    "  fathom get ledger train                  where the GPU time of all its iterations went\n"
    "  fathom get bandwidth train               how fast its communicators move bytes\n"
    "  fathom get work train                    FLOP/s, MFU, and how long nothing runs\n"
    "  fathom get plan --node n17               what its agent does at which rate, and what it "
    "takes\n"
    "Exit code of `get verdicts`: 2 when an active verdict is established or supported, 1 when the "
    "collector cannot tell because its history is away.";

bool AnyActiveConviction(const Json& verdicts) {
  const std::vector<VerdictView> all = ReadVerdicts(verdicts);
  return std::any_of(all.begin(), all.end(),
                     [](const VerdictView& v) { return v.Convicts() && !v.closed; });
}

// Asks again for the same iterations until the rows that the first question fetches are in.
absl::StatusOr<Json> FetchBandwidth(const CollectorApi& api, const std::string& job) {
  constexpr int kMostLooks = 25;
  constexpr std::chrono::milliseconds kLookEvery{200};
  absl::StatusOr<Json> reply = api.Bandwidth(job, "");
  if (!reply.ok()) return reply;
  std::vector<std::string> iterations;
  for (const Json& each : ListField(*reply, "iterations")) iterations.push_back(each.dump());
  for (int look = 0; reply.ok() && IntField(*reply, "asked") > 0 && look < kMostLooks; ++look) {
    std::this_thread::sleep_for(kLookEvery);
    reply = api.Bandwidth(job, Join(iterations, ","));
  }
  return reply;
}

absl::StatusOr<Json> Fetch(const CollectorApi& api, const ListRequest& request) {
  if (request.noun == "jobs") return api.Jobs();
  if (request.noun == "nodes") return api.Nodes();
  if (request.noun == "verdicts" && !request.node.empty()) return api.Node(request.node);
  if (request.noun == "runs") return api.Runs(request.job);
  if (request.noun == "plan") return api.Plan(request.node, request.job);
  if (request.noun == "verdicts") return api.Verdicts(request.job, !request.all);
  absl::StatusOr<std::string> job = OnlyJob(api, request.job);
  if (!job.ok()) return job.status();
  if (request.noun == "bandwidth") return FetchBandwidth(api, *job);
  if (request.noun == "work") return api.Work(*job);
  return request.noun == "ledger" ? api.Report(*job) : api.Health(*job);
}

constexpr std::size_t kListed = 8, kListedWide = 64;

// Of the whole job, and of the iterations of which rows are at hand.
std::string LedgerText(const Json& report, const ListStyle& style) {
  const std::string whole = JobLedgerBlock(ObjectField(report, "job_ledger"),
                                           style.wide ? kListedWide : kListed, style.terminal);
  const std::string window = LedgerBlock(ObjectField(report, "ledger"), style.terminal);
  if (whole.empty() && window.empty()) {
    return "no account is made of it: none of its iterations is known\n";
  }
  return Cat(whole, whole.empty() || window.empty() ? "" : "\n", window);
}

// The account of the window, as ever, with that of the whole job in it.
Json LedgerObject(const Json& report) {
  Json ledger = ObjectField(report, "ledger");
  if (!ledger.is_object()) ledger = Json::object();
  ledger["whole_job"] = ObjectField(report, "job_ledger");
  return ledger;
}

std::string Render(const std::string& noun, const Json& list, const ListStyle& style) {
  if (list.empty()) return "";
  if (noun == "jobs") return JobsTable(list, style);
  if (noun == "nodes") return NodesTable(list, style);
  if (noun == "runs") return RunsTable(list, style);
  if (noun == "bandwidth") return BandwidthTable(list);
  if (noun == "plan") return PlanText(list, style);
  return noun == "verdicts" ? VerdictsTable(list, style) : RanksTable(list, style);
}

int RunGet(const CollectorOptions& collector, const ListRequest& request) {
  if (request.noun == "actions") {
    return GetActions(request.cordon_http, collector.access, request.format);
  }
  absl::StatusOr<CollectorApi> api = ApiOf(collector);
  if (!api.ok()) return Fail("get", api.status());
  ListStyle style{LookAtTerminal(1), request.format == "wide", absl::ToUnixNanos(absl::Now())};
  std::string out;
  absl::StatusOr<int> code = Get(*api, request, style, &out);
  if (!code.ok()) return Fail("get", code.status());
  std::fputs(out.c_str(), stdout);
  if (out.empty()) std::fprintf(stderr, "no %s\n", request.noun.c_str());
  return collector.exit_zero ? kNothingFound : *code;
}

}  // namespace

absl::StatusOr<std::string> OnlyJob(const CollectorApi& api, const std::string& job) {
  if (!job.empty()) return job;
  absl::StatusOr<Json> jobs = api.Jobs();
  if (!jobs.ok()) return jobs.status();
  std::vector<std::string> names;
  for (const Json& each : ListField(*jobs, "jobs")) names.push_back(TextField(each, "name"));
  if (names.size() == 1) return names[0];
  if (names.empty()) return absl::NotFoundError("the collector knows no job yet; run one traced");
  if (names.size() > 8) names.resize(8);
  return absl::InvalidArgumentError(
      Cat("there are several jobs; name one with --job: ", Join(names, ", ")));
}

std::string Serialize(const Json& value, const std::string& format) {
  if (format == "yaml") return ToYaml(value);
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<int> Get(const CollectorApi& api, const ListRequest& request, const ListStyle& style,
                        std::string* out) {
  absl::StatusOr<Json> reply = Fetch(api, request);
  if (!reply.ok()) return reply.status();
  if (request.noun == "ledger") {
    *out = IsText(request.format) ? LedgerText(*reply, style)
                                  : Serialize(LedgerObject(*reply), request.format);
    return kNothingFound;
  }
  if (request.noun == "work") {
    *out = IsText(request.format) ? WorkTable(*reply) : Serialize(*reply, request.format);
    return kNothingFound;
  }
  const Json& list = ListField(*reply, request.noun.c_str());
  *out = IsText(request.format) ? Render(request.noun, list, style)
                                : Serialize(*reply, request.format);
  const std::string lacks = TextField(*reply, "lacks");
  if (!lacks.empty() && IsText(request.format)) {
    AppendTo(out, "There may be more than that, for the history is not all here: ", lacks, "\n");
  }
  if (request.noun != "verdicts") return kNothingFound;
  if (AnyActiveConviction(list)) return kCulpritFound;
  return lacks.empty() ? kNothingFound : kFailure;  // not known is not well
}

void AddGetVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("get",
                                       "List jobs, ranks, verdicts, nodes, runs or actions; a "
                                       "job's ledger, bandwidth or work; plans");
  auto collector = std::make_shared<CollectorOptions>();
  auto request = std::make_shared<ListRequest>();
  request->format = "table";
  verb->add_option("NOUN", request->noun,
                   "jobs, ranks, verdicts, nodes, runs, actions, ledger, bandwidth, work or plan")
      ->required()
      ->check(CLI::IsMember({"jobs", "ranks", "verdicts", "nodes", "runs", "actions", "ledger",
                             "bandwidth", "work", "plan"}));
  verb->add_option("-j,--job,JOB", request->job,
                   "the job (ranks, verdicts, runs, ledger, bandwidth, work, plan)")
      ->type_name("NAME");
  verb->add_option("--node", request->node, "verdicts on this node, of all jobs; its plan")
      ->type_name("NAME");
  verb->add_flag("-a,--all", request->all, "closed verdicts too");
  AddFormatOption(*verb, &request->format, "table, wide, json or yaml");
  AddCollectorOptions(*verb, collector.get(), true);
  verb->add_option("--cordon-http", request->cordon_http, "fathom-cordon's address (actions)")
      ->type_name("HOST:PORT")
      ->envname("FATHOM_CORDON_HTTP")
      ->capture_default_str();
  verb->footer(kExamples);
  verb->callback([invocation, collector, request] {
    invocation->action = [collector, request] { return RunGet(*collector, *request); };
  });
}

}  // namespace fathom::cli
