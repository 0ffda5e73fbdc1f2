#include "collector/serve/collector.h"

#include <absl/strings/str_cat.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <thread>
#include <utility>

#include "collector/agents/capture_requests.h"
#include "collector/agents/hardware_table.h"
#include "collector/agents/probe_requests.h"
#include "collector/agents/trace_requests.h"
#include "collector/agents/window_requests.h"
#include "collector/api/api.h"
#include "collector/api/cordon_mirror.h"
#include "collector/api/cordon_relay.h"
#include "collector/api/http_server.h"
#include "collector/api/job_news.h"
#include "collector/api/ops/with_ops.h"
#include "collector/api/plan/metered_answers.h"
#include "collector/api/plan/plan_json.h"
#include "collector/api/probes/probe_api.h"
#include "collector/budget/centre_work.h"
#include "collector/checkpoint/job_checkpoints.h"
#include "collector/cluster/cluster_metrics.h"
#include "collector/evaluate/capture_trigger.h"
#include "collector/evaluate/hand_captures.h"
#include "collector/evaluate/probe_trigger.h"
#include "collector/evaluate/probe_verdicts.h"
#include "collector/http/event_hub.h"
#include "collector/http/login.h"
#include "collector/ingest/agent_service.h"
#include "collector/journal/journal.h"
#include "collector/metrics/plan_metric.h"
#include "collector/metrics/prometheus_exporter.h"
#include "collector/metrics/recovery_metric.h"
#include "collector/net/curl_transport.h"
#include "collector/notify/notifier.h"
#include "collector/notify/verdict_notice.h"
#include "collector/ops/op_store.h"
#include "collector/process/version.h"
#include "collector/runs/account_keeper.h"
#include "collector/runs/run_keeper.h"
#include "collector/serve/budget_keeper.h"
#include "collector/serve/cluster_duties.h"
#include "collector/serve/kept_ops_teller.h"
#include "collector/serve/kept_outbox.h"
#include "collector/serve/opened_folders.h"
#include "collector/store/learnt_keeper.h"
#include "collector/store/store.h"
#include "collector/store/store_keeper.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {
namespace {

constexpr std::int64_t kMostPastProbes = 1000;  // that a run is held against

void LogLine(bool error, const std::string& line) {
  error ? spdlog::error("{}", line) : spdlog::info("{}", line);
}
void LogInfo(const std::string& line) { LogLine(false, line); }

}  // namespace

// In order of construction; destroyed in reverse.
struct Collector::Parts {
  Parts(const FinalizedCollectorConfig& config, DiagnosisFunctions functions, const Clock& clock_in,
        std::unique_ptr<Login> login_in);
  ~Parts();

  absl::Status Join(const FinalizedCollectorConfig& config, ClusterWires wires);
  absl::Status Listen(const FinalizedCollectorConfig& config);
  void OpenJournal(const FinalizedCollectorConfig& config);
  void OpenOpStore(const FinalizedCollectorConfig& config);
  std::string Failing() const;
  void OnVerdict(VerdictChange change, const Episode& episode);
  void AdoptLate(Episode episode);
  void Tell(const Episode& open);
  void Forgotten(const std::string& job);
  void OnLooked(const JobState& job);
  void OnEnded(const JobState& job);
  std::string PageUrl();
  PrometheusExporter::Sources Sources();
  std::string Actions(const Request& request);
  Response Command(const Request& request);

  const Clock& clock;
  CentreWork work;
  std::unique_ptr<Login> login;
  JobCheckpoints checkpoints;  // of jobs that are owned here; empty where this collector is alone
  std::unique_ptr<Store> store;
  JobTable jobs;
  std::unique_ptr<Journal> journal;  // null: there is none
  std::string journal_unopened;      // why, where there is to be one
  std::unique_ptr<OpStore> ops;      // null: no ops are kept
  std::string ops_unopened;          // why, where they are to be
  SessionRegistry registry;
  HardwareTable hardware;
  IngestCounters counters;
  RowRequests requests;
  WindowRequests windows;
  TraceRequests traces;
  CaptureRequests captures;
  ProbeRequests probes;
  EventHub events;
  JobNews news;
  CurlTransport outside;
  KeptOutbox outbox;
  Notifier notifier;
  service::Mutex page_url_mutex;
  std::string page_url ABSL_GUARDED_BY(page_url_mutex);
  LearntKeeper learnt;
  VerdictLedger ledger;
  RunKeeper runs;          // of the diagnoser's thread
  AccountKeeper accounts;  // likewise
  Diagnoser diagnoser;
  CaptureTrigger trigger;  // of the diagnoser's thread
  HandCaptures by_hand;
  ProbeTrigger probe_trigger;  // likewise
  IngestContext ingest;
  BudgetKeeper budget;
  std::atomic<bool> serving{false};
  std::unique_ptr<AgentService> grpc;
  PrometheusExporter exporter;
  CurlTransport to_cordon;  // its own: a slow one must not hold notices up
  CordonMirror cordon;
  CurlEach for_people;  // a command may take long: neither page nor other commands wait for it
  CordonRelay relay;
  ProbeApi probe_api;
  OpsApi ops_api;
  KeptOpsTable kept_ops;
  Api api;
  WithOps with_ops;
  ClusterDuties duties;
  std::unique_ptr<Cluster> cluster;           // null: this collector is alone
  std::unique_ptr<KeptOpsTeller> ops_teller;  // null: alone, or no ops are kept
  std::unique_ptr<RecoveryApi> recoveries;    // before the API of all; made by Listen
  std::unique_ptr<MeteredAnswers> answers;    // likewise
  std::unique_ptr<HttpServer> http;
  std::thread diagnosis_thread;
  std::atomic<std::uint64_t> turns_seen{0};  // of the diagnoser, by Turned
  std::unique_ptr<StoreKeeper> keeper;
};

Collector::Parts::Parts(const FinalizedCollectorConfig& config, DiagnosisFunctions functions,
                        const Clock& clock_in, std::unique_ptr<Login> login_in)
    : clock(clock_in),
      work(clock),
      login(std::move(login_in)),
      store(Store::Open(config->store)),
      jobs(clock,
           {static_cast<std::size_t>(config->max_jobs), static_cast<std::size_t>(config->max_ranks),
            static_cast<std::size_t>(config->max_agent_jobs),
            static_cast<std::size_t>(config->max_agent_ranks)},
           [this](JobState& job) { learnt.Met(job); }),
      registry(clock),
      hardware(clock),
      requests(registry, counters, clock),
      windows(registry),
      traces(registry),
      captures(registry, clock),
      probes(
          registry, clock,
          [this](const std::string& node) { return store->Probes(node, kMostPastProbes); },
          [this](const ProbeRequest& request) {
            KeepProbes(request, *store, LogLine);
            ProveVerdicts(request, clock, ledger);
          }),
      events(static_cast<std::size_t>(config->max_event_clients)),
      news(events, jobs, clock, &work),
      outbox(*store, config->cluster.on()),
      notifier(config.receivers(), outside, clock, &outbox, config.routes()),
      page_url(config->page_url),
      learnt(*store, clock, &work),
      ledger([this](VerdictChange change, const Episode& e) { OnVerdict(change, e); }),
      runs({*store, ledger, clock, &work}),
      accounts({*store, ledger, clock, &work}),
      diagnoser(
          {jobs, registry, requests, ledger, clock, [this](const JobState& job) { OnLooked(job); },
           [this](const JobState& job) { OnEnded(job); }, &hardware,
           [this](const std::string& job) { return !cluster || cluster->Owns(job); },
           [this](const std::string& job) { Forgotten(job); }, &work},
          std::move(functions), config->diagnosis, Nanos::FromSeconds(config->job_timeout_s),
          config->looks),
      trigger(config->captures, {captures, ledger, LogInfo, diagnoser.Connected(), clock, &work}),
      by_hand(config->captures, {captures, ledger, LogInfo, diagnoser.Connected(), clock}),
      probe_trigger(config->probes, {probes, ledger, registry, LogInfo, clock}),
      ingest{jobs,
             registry,
             requests,
             counters,
             [this](const std::string& job) { diagnoser.Notify(job); },
             [](const std::string& what) { spdlog::warn("{}", what); },
             &captures,
             nullptr,  // the journal, once it is open
             &hardware,
             nullptr,  // likewise the store of ops
             &probes,
             &work},
      budget({work, jobs, diagnoser, counters, clock, LogInfo}, BudgetOf(*config)),
      exporter(Sources()),
      to_cordon({config->cordon_ca_file, "", ""}),
      cordon(config->cordon_http, config->cordon_token_file, to_cordon, clock),
      for_people({config->cordon_ca_file, "", ""}),
      relay(config->cordon_http, config->cordon_changes, for_people),
      probe_api({probes, jobs, registry, ledger, *store}),
      ops_api([this] { return ops ? ops->folder() : ""; }, config.name()),
      kept_ops(config->store),
      api({jobs,
           registry,
           ledger,
           diagnoser,
           *store,
           [this] { return exporter.Scrape(); },
           [this] { return serving.load() && grpc->answers(); },
           clock,
           config->node_history,
           [this](JobState& job, const WindowWish& wish) { return windows.Ask(job, wish); },
           [this](const auto& job, const auto& wanted) {
             return requests.AskForPage(job, wanted, Diagnoser::kRowsTimeout);
           },
           [this](const Request& request) { return Actions(request); },
           [this](const Request& request) { return Command(request); },
           [this](JobState& job, const SwitchWish& wish) { return traces.Switch(job, wish); },
           [this](JobState& job, const std::vector<RankId>& ranks) {
             return traces.ReadStacks(job, ranks);
           },
           [this] { return Failing(); },
           [this](const std::string& job) { return runs.RunOf(job); },
           &hardware,
           &by_hand,
           [this](const std::string& job) { return accounts.Of(job); },
           [this](const Request& request) { return probe_api.Answer(request); },
           [this, name = config.name()] {
             return CentrePlan{name, budget.Message()};
           }}),
      with_ops(api, ops_api),
      duties({*store, jobs, ledger, notifier, outbox, [this](const Episode& open) { Tell(open); },
              checkpoints}) {
  if (config->cluster.on()) store->KeepCheckpoints(&checkpoints);
  OpenJournal(config);
  OpenOpStore(config);
  // Of several collectors each takes up what stands of a job when it becomes its owner.
  if (!config->cluster.on()) {
    for (const Episode& open : store->Verdicts("", true, Store::kMaxVerdicts)) {
      ledger.Adopt(open);
      Tell(open);
    }
  }
  keeper = std::make_unique<StoreKeeper>(
      *store, [this](const Episode& late) { AdoptLate(late); },
      [](const std::string& state) {
        state.empty() ? spdlog::info("the store is in its file, and all is written")
                      : spdlog::error("{}", state);
      });
}

Collector::Parts::~Parts() {
  serving = false;
  events.Stop();
  http.reset();
  if (grpc) grpc->SetServing(false);
  grpc.reset();
  if (cluster) cluster->Drain();
  ops_teller.reset();
  keeper.reset();
  diagnoser.Stop();
  if (diagnosis_thread.joinable()) diagnosis_thread.join();
  runs.SaveAll();
  accounts.SaveAll();
  if (cluster) cluster->HandOver();
  recoveries.reset();
  cluster.reset();
}

// Who has heard of it does not hear of it again.
void Collector::Parts::Tell(const Episode& open) {
  if (WorthTelling(open)) notifier.Tell(NoticeOf(open, PageUrl()));
}

absl::Status Collector::Parts::Join(const FinalizedCollectorConfig& config, ClusterWires wires) {
  if (!config->cluster.on()) return absl::OkStatus();
  auto joined = JoinCluster(
      config, std::move(wires),
      {ingest, events, with_ops, clock, checkpoints,
       [this](const std::string& job, Leases::Token token, const v1::BusCheckpoint* checkpoint) {
         return duties.Taken(job, token, checkpoint);
       },
       [this](const std::string& job) { diagnoser.Notify(job); },
       [this](const std::string& job) { duties.Lost(job); }, LogLine,
       [this](const std::string& job) { return kept_ops.Of(job); }});
  if (!joined.ok()) return joined.status();
  cluster = *std::move(joined);
  if (ops) {
    ops_teller = std::make_unique<KeptOpsTeller>(
        KeptOpsTeller::Parts{*ops, kept_ops, clock, config->cluster.name,
                             Nanos::FromSeconds(config->ops_days * 24 * 3600)});
  }
  return absl::OkStatus();
}

// Of the diagnoser's thread: the job may have another owner by now.
void Collector::Parts::Forgotten(const std::string& job) {
  if (!cluster) return;
  runs.Forget(job);
  accounts.Forget(job);
  learnt.Ended(job);
  trigger.Forget(job);
}

PrometheusExporter::Sources Collector::Parts::Sources() {
  return {jobs,
          registry,
          ledger,
          diagnoser,
          counters,
          *store,
          [this] { return grpc ? grpc->streams() : 0; },
          [this] { return events.subscribers(); },
          [this] { return events.dropped(); },
          notifier.counters(),
          [this] { return login->failures(); },
          kVersion,
          [this] { return trigger.counts(); },
          [this] { return journal ? journal->counters() : JournalCounters(); },
          [this] { return ops ? ops->counters() : OpStoreCounters(); },
          [this](const std::string& job) { return accounts.Of(job); },
          [this](const JobState& job) { return FiguresOf(job, *store); },
          [this](MetricPage& page) {
            page.Counter("fathom_ops_read_bytes_total",
                         "Of kept ops, handed to whoever reads them.")
                .Set(static_cast<double>(ops_api.bytes_read()));
            WriteRecoveryMetric(recoveries.get(), page);
            WritePlanMetrics(budget.plan(), page);
            if (!cluster) return;
            WriteClusterMetrics(*cluster, page);
            page.Gauge("fathom_cluster_untold_ops",
                       "Stretches of kept ops that the history has not been told.")
                .Set(ops_teller ? static_cast<double>(ops_teller->waiting()) : 0);
          }};
}

void Collector::Parts::OpenJournal(const FinalizedCollectorConfig& config) {
  auto opened = OpenJournalOf(config, jobs, clock, LogLine);
  journal = std::move(opened.part);
  journal_unopened = opened.why;
  ingest.journal = journal.get();
}

void Collector::Parts::OpenOpStore(const FinalizedCollectorConfig& config) {
  auto opened = OpenOpStoreOf(config, clock, LogLine);
  ops = std::move(opened.part);
  ops_unopened = opened.why;
  ingest.ops = ops.get();
}

std::string Collector::Parts::Failing() const {
  const std::string of_cluster = cluster ? cluster->failing() : "";
  if (!of_cluster.empty()) return of_cluster;
  const std::string of_journal = journal ? journal->failing() : "";
  if (!of_journal.empty()) return absl::StrCat("journal: ", of_journal);
  const std::string of_ops = ops ? ops->failing() : "";
  if (!of_ops.empty()) return absl::StrCat("store of ops: ", of_ops);
  return journal_unopened.empty() ? ops_unopened : journal_unopened;
}

std::string Collector::Parts::Actions(const Request& request) {
  std::string text = cordon.Json();
  text.insert(text.size() - 1, ",\"you\":" + relay.You(request));
  return text;
}

Response Collector::Parts::Command(const Request& request) {
  Response response = relay.Pass(request);
  cordon.Forget();
  return response;
}

absl::Status Collector::Parts::Listen(const FinalizedCollectorConfig& config) {
  const bool beside = config.socket_beside_port();
  auto agents = AgentService::Start(
      {config.has_port() ? config->grpc : "", beside ? "" : config.agent_socket(), beside,
       config->reflection, static_cast<std::size_t>(config->max_agents),
       static_cast<std::size_t>(config->max_agent_connections),
       static_cast<double>(config->max_agent_messages),
       LocalAgents::Parse(config->agent_users).value(), config->agent_wildcards, kVersion,
       config->tls},
      ingest);
  if (!agents.ok()) return agents.status();
  grpc = *std::move(agents);
  recoveries = std::make_unique<RecoveryApi>(RecoveryApi::Parts{
      cluster ? cluster->api() : static_cast<const Answerer&>(with_ops), *store, clock});
  answers = std::make_unique<MeteredAnswers>(*recoveries, work);
  auto server =
      HttpServer::Start({.address = config->http,
                         .allowed_hosts = config.allowed_hosts(),
                         .max_event_clients = static_cast<std::size_t>(config->max_event_clients),
                         .tls = config->tls},
                        *answers, events, *login);
  if (!server.ok()) return server.status();
  http = *std::move(server);
  diagnosis_thread = std::thread([this] { diagnoser.Run(); });
  budget.Start();
  serving = true;
  grpc->SetServing(true);
  return absl::OkStatus();
}

void Collector::Parts::OnVerdict(VerdictChange change, const Episode& episode) {
  const bool was_well = store->degraded().empty();
  const absl::Status saved = store->Save(episode);
  if (!saved.ok() && was_well) spdlog::error("{}", store->degraded());
  if (change != VerdictChange::kUpdated) {
    spdlog::info("verdict {} {}: {} {}", episode.id, episode.open() ? "opened" : "closed",
                 episode.verdict.sentence, episode.closed_because);
  }
  news.Verdict(episode);
  Tell(episode);
}

// Of a file that could not be read at the start.
void Collector::Parts::AdoptLate(Episode episode) {
  if (cluster && !cluster->Owns(episode.job)) return;
  if (ledger.Adopt(episode)) return;
  episode.closed = episode.updated = clock.Wall();
  episode.closed_because = "the collector went on without its store meanwhile";
  store->Save(episode).IgnoreError();
}

std::string Collector::Parts::PageUrl() {
  const service::MutexLock lock(page_url_mutex);
  return page_url;
}

void Collector::Parts::OnLooked(const JobState& job) {
  runs.Looked(job);
  accounts.Looked(job);
  news.Looked(job.name(), ledger);
  learnt.Looked(job);
  trigger.Looked(job);
  probes.Expire();
}

void Collector::Parts::OnEnded(const JobState& job) {
  runs.Ended(job);
  accounts.Ended(job);
  learnt.Ended(job.name());
  trigger.Forget(job.name());
  probe_trigger.Ended(job);
  const JobFigures f = job.Figures();
  const absl::Status saved = store->Save({f.name, f.ranks, f.world_size, f.nodes, f.started,
                                          f.last_seen, f.iteration + 1, api.ReportOf(job)});
  if (!saved.ok()) spdlog::warn("{}", std::string(saved.message()));
  if (journal) journal->Concluded(f.name);
  if (cluster) cluster->Ended(f.name);
  spdlog::info("job {} ended after iteration {}", f.name, f.iteration);
}

Collector::Collector(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Collector::~Collector() = default;

absl::StatusOr<std::unique_ptr<Collector>> Collector::Start(const FinalizedCollectorConfig& config,
                                                            DiagnosisFunctions functions,
                                                            const Clock& clock,
                                                            ClusterWires wires) {
  auto login = Login::Make(config->login, clock);
  if (!login.ok()) return login.status();
  auto parts = std::make_unique<Parts>(config, std::move(functions), clock, *std::move(login));
  if (auto status = parts->Join(config, std::move(wires)); !status.ok()) return status;
  if (auto status = parts->Listen(config); !status.ok()) return status;
  return std::unique_ptr<Collector>(new Collector(std::move(parts)));
}

absl::Status Collector::Reload(const FinalizedCollectorConfig& config) {
  if (auto status = parts_->login->Use(config->login); !status.ok()) return status;
  parts_->notifier.Use(config.receivers(), config.routes());
  const service::MutexLock lock(parts_->page_url_mutex);
  parts_->page_url = config->page_url;
  return absl::OkStatus();
}

bool Collector::Turned() {
  const std::uint64_t turns = parts_->diagnoser.turns();
  return parts_->turns_seen.exchange(turns) != turns && parts_->grpc->answers();
}

int Collector::grpc_port() const { return parts_->grpc->port(); }
std::string Collector::agent_socket() const { return parts_->grpc->socket(); }
int Collector::http_port() const { return parts_->http->port(); }

std::string Collector::degraded() const {
  const std::string store = parts_->store->degraded(), rest = parts_->Failing();
  return absl::StrCat(store, store.empty() || rest.empty() ? "" : "; ", rest);
}

}  // namespace fathom::collector
