#include "collector/metrics/prometheus_exporter.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "collector/api/job_json.h"
#include "collector/metrics/login_metric.h"
#include "collector/metrics/metric_page.h"

namespace fathom::collector {
namespace {

double Seconds(WallNs t) { return static_cast<double>(t.ns) * 1e-9; }
double Number(std::uint64_t n) { return static_cast<double>(n); }

std::string Name(std::string_view text) { return std::string(text); }

using AccountOf =
    std::function<std::optional<diagnosis::RunningAccount::State>(const std::string&)>;

struct JobRow {
  JobFigures figures;
  IterationHistogram histogram;
  bool hung = false;
};

std::vector<JobRow> JobRows(const JobTable& jobs, const VerdictLedger& ledger) {
  std::vector<JobRow> rows;
  for (const auto& job : jobs.All()) {
    JobRow row{job->Figures(), job->Histogram(), false};
    if (row.figures.ranks == 0) continue;
    row.hung = JobStateName(row.figures, ledger.Of(job->name())) == "hung";
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const JobRow& a, const JobRow& b) {
    return a.figures.ended < b.figures.ended;
  });
  if (rows.size() > PrometheusExporter::kMaxJobs) rows.resize(PrometheusExporter::kMaxJobs);
  return rows;
}

void WriteJobs(const std::vector<JobRow>& rows, MetricPage& page) {
  auto info = page.Gauge("fathom_job_info", "A job the collector knows; the value is 1.");
  for (const auto& row : rows) {
    info.Set(1, {{"job", row.figures.name},
                 {"world_size", std::to_string(row.figures.world_size)},
                 {"state", row.figures.ended ? "ended" : "running"}});
  }
  auto ranks = page.Gauge("fathom_job_ranks", "Ranks of a job that have been seen.");
  for (const auto& row : rows) ranks.Set(row.figures.ranks, {{"job", row.figures.name}});
  auto iterations = page.Histogram("fathom_job_iteration_seconds",
                                   "Duration of a job's iterations (median over its ranks).");
  for (const auto& row : rows) {
    iterations.Observe(row.histogram, kIterationBuckets, {{"job", row.figures.name}});
  }
  auto slowdown = page.Gauge("fathom_job_slowdown_ratio",
                             "Present iteration time over the baseline's; 1 is no slowdown.");
  for (const auto& row : rows) {
    if (!row.figures.ended) slowdown.Set(row.figures.slowdown, {{"job", row.figures.name}});
  }
  auto off = page.Gauge("fathom_job_ranks_switched_off",
                        "Living ranks on which somebody has switched a source of the tracer off.");
  for (const auto& row : rows) {
    for (const auto& [source, ranks_off] : row.figures.switched_off) {
      off.Set(ranks_off, {{"job", row.figures.name}, {"source", Name(source)}});
    }
  }
  auto hung = page.Gauge("fathom_job_hung", "1 while a verdict says that the job hangs.");
  for (const auto& row : rows) hung.Set(row.hung, {{"job", row.figures.name}});
}

// Of jobs that run, and of which it is known.
void WriteWork(const std::vector<JobRow>& rows, const JobTable& jobs,
               const std::function<WorkFigures(const JobState&)>& work, MetricPage& page) {
  std::map<std::string, WorkFigures> of_jobs;
  for (const auto& row : rows) {
    const auto job = row.figures.ended || !work ? nullptr : jobs.Find(row.figures.name);
    if (job != nullptr) of_jobs.emplace(row.figures.name, work(*job));
  }
  auto flop = page.Gauge("fathom_job_flops", "FLOP/s of a job's products of matrices, all ranks.");
  auto mfu = page.Gauge("fathom_job_mfu_ratio", "Those over what its devices can do at most.");
  auto silent = page.Gauge("fathom_job_void_ratio",
                           "Share of an iteration in which nothing that is seen runs.");
  for (const auto& [name, figures] : of_jobs) {
    if (figures.flop_per_s > 0) flop.Set(figures.flop_per_s, {{"job", name}});
    if (figures.mfu) mfu.Set(*figures.mfu, {{"job", name}});
    if (figures.void_between)
      silent.Set(*figures.void_between, {{"job", name}, {"where", "between"}});
    if (figures.void_within) silent.Set(*figures.void_within, {{"job", name}, {"where", "within"}});
  }
}

// By cause and owner, a few a job; with what is unexplained they sum to what the job lost. Of jobs
// that run: the series end with the job.
void WriteLosses(const std::vector<JobRow>& rows, const AccountOf& account, MetricPage& page) {
  std::map<std::string, diagnosis::RunningAccount::State> of_jobs;
  for (const auto& row : rows) {
    if (row.figures.ended || !account) continue;
    if (auto state = account(row.figures.name)) of_jobs.emplace(row.figures.name, *state);
  }
  auto lost = page.Counter("fathom_job_lost_gpu_seconds_total",
                           "GPU-seconds that a running job lost, by cause and owner.");
  for (const auto& [job, state] : of_jobs) {
    for (const auto& [of, gpu_s] : state.by_cause) {
      lost.Set(gpu_s, {{"job", job},
                       {"cause", Name(ToString(of.first))},
                       {"owner", Name(ToString(of.second))}});
    }
    lost.Set(state.unexplained_gpu_s,
             {{"job", job}, {"cause", "unexplained"}, {"owner", "nobody"}});
  }
  auto used = page.Counter("fathom_job_used_gpu_seconds_total",
                           "GPU-seconds that the iterations of a running job took.");
  for (const auto& [job, state] : of_jobs) used.Set(state.used_gpu_s, {{"job", job}});
}

void WriteVerdicts(const std::vector<Episode>& open, MetricPage& page) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::map<Key, int> verdicts;
  std::map<std::tuple<std::string, std::string, std::string>, int> nodes;
  for (const Episode& e : open) {
    const auto& v = e.verdict;
    if (verdicts.size() >= PrometheusExporter::kMaxVerdicts) break;
    ++verdicts[{e.job, Name(ToString(v.cause)), Name(ToString(v.problem)), Name(ToString(v.grade)),
                Name(ToString(v.owner))}];
    if (!v.entity.node.empty()) {
      nodes[{v.entity.node, Name(ToString(v.cause)), Name(ToString(v.grade))}] = 1;
    }
  }
  auto active = page.Gauge("fathom_verdict_active", "Open verdicts.");
  for (const auto& [key, count] : verdicts) {
    const auto& [job, cause, problem, grade, owner] = key;
    active.Set(
        count,
        {{"job", job}, {"cause", cause}, {"class", problem}, {"grade", grade}, {"owner", owner}});
  }
  auto suspect = page.Gauge("fathom_node_suspect", "1 for a node that an open verdict names.");
  for (const auto& [key, count] : nodes) {
    const auto& [node, cause, grade] = key;
    suspect.Set(count, {{"node", node}, {"cause", cause}, {"grade", grade}});
  }
}

void WriteAgents(const SessionRegistry& registry, std::size_t streams, MetricPage& page) {
  const AgentTotals totals = registry.Totals();
  page.Counter("fathom_records_total", "Records that agents have read from rings.")
      .Set(Number(totals.records));
  auto dropped = page.Counter("fathom_records_dropped_total", "Records that were lost, by reason.");
  dropped.Set(0, {{"reason", "none"}});
  for (const auto& [reason, count] : totals.records_dropped) {
    dropped.Set(Number(count), {{"reason", reason}});
  }
  page.Counter("fathom_agent_messages_dropped_total",
               "Messages that agents dropped because they could not be sent in time.")
      .Set(Number(totals.messages_dropped));
  auto shed = page.Counter("fathom_agent_messages_shed_total",
                           "Messages that agents gave up for want of room or time, by kind.");
  shed.Set(0, {{"kind", "none"}});
  for (const auto& [kind, count] : totals.messages_shed) shed.Set(Number(count), {{"kind", kind}});
  page.Gauge("fathom_agents_connected", "Nodes whose agent is connected.")
      .Set(Number(registry.connected_count()));
  page.Gauge("fathom_agent_streams", "Open streams of agents.").Set(Number(streams));
  auto agents = registry.Agents();
  std::stable_sort(agents.begin(), agents.end(), [](const AgentFacts& a, const AgentFacts& b) {
    return a.last_seen < b.last_seen;
  });
  if (agents.size() > PrometheusExporter::kMaxNodes) agents.resize(PrometheusExporter::kMaxNodes);
  auto seen = page.Gauge("fathom_agent_last_seen_timestamp_seconds",
                         "When a node's agent was last heard; the longest silent nodes only.");
  for (const auto& agent : agents) seen.Set(Seconds(agent.last_seen), {{"node", agent.node}});
}

void WriteIngest(const IngestCounters& counters, MetricPage& page) {
  auto rows = page.Counter("fathom_ingest_rows_total", "Rows taken in, by kind.");
  rows.Set(Number(counters.summary_rows), {{"kind", "summary"}});
  rows.Set(Number(counters.op_rows), {{"kind", "op"}});
  auto ignored = page.Counter("fathom_ingest_rows_ignored_total",
                              "Summary rows that were not needed, by reason.");
  ignored.Set(Number(counters.repeated_rows), {{"reason", "repeated"}});
  ignored.Set(Number(counters.late_rows), {{"reason", "too_old"}});
  auto rejected = page.Counter("fathom_ingest_rejected_total",
                               "Messages of agents that were not taken in, by reason.");
  for (std::size_t i = 0; i < kRejectReasonCount; ++i) {
    rejected.Set(Number(counters.rejected[i]),
                 {{"reason", Name(ToString(static_cast<RejectReason>(i)))}});
  }
  page.Counter("fathom_ingest_streams_refused_total", "Streams of agents that were refused.")
      .Set(Number(counters.streams_refused));
  page.Counter("fathom_ingest_connections_refused_total",
               "Connections of agents beyond a bound, closed at once.")
      .Set(Number(counters.connections_refused));
  page.Counter("fathom_ingest_connections_cut_total",
               "Connections of agents that were cut, for too many streams.")
      .Set(Number(counters.connections_cut));
  page.Counter("fathom_ingest_hellos_missing_total",
               "Streams that were ended, for they did not say whose they are.")
      .Set(Number(counters.hellos_missing));
  page.Counter("fathom_ingest_paused_total",
               "Times a stream was not read for a while, for it sent more than one agent may.")
      .Set(Number(counters.pauses));
  page.Counter("fathom_ingest_messages_total", "Messages of agents.")
      .Set(Number(counters.messages));
  page.Counter("fathom_ingest_bytes_total", "Bytes of messages of agents, uncompressed.")
      .Set(Number(counters.bytes));
  page.Counter("fathom_row_requests_total", "Requests for rows sent to agents.")
      .Set(Number(counters.row_requests));
  page.Counter("fathom_row_requests_expired_total", "Requests that were not answered in time.")
      .Set(Number(counters.row_requests_expired));
}

void WriteCaptures(const CaptureTrigger::Counts& counts, MetricPage& page) {
  auto captures = page.Counter("fathom_captures_total",
                               "Captures of stacks for verdicts, by what came of them.");
  captures.Set(Number(counts.asked), {{"result", "asked"}});
  captures.Set(Number(counts.limited), {{"result", "limited"}});
  captures.Set(Number(counts.failed), {{"result", "failed"}});
  auto functions = page.Counter("fathom_captured_functions_total",
                                "Verdicts that stacks were captured for, by what they show.");
  functions.Set(Number(counts.named), {{"result", "named"}});
  functions.Set(Number(counts.open), {{"result", "open"}});
}

void WriteJournal(const JournalCounters& counters, MetricPage& page) {
  page.Gauge("fathom_journal_bytes", "Of what agents told, on the disk.")
      .Set(Number(counters.bytes));
  page.Counter("fathom_journal_records_total", "Messages of agents that are on the disk.")
      .Set(Number(counters.records));
  page.Counter("fathom_journal_write_errors_total", "Writes to the journal that failed.")
      .Set(Number(counters.write_errors));
  auto lost = page.Counter("fathom_journal_lost_total", "What the journal does not hold, by why.");
  lost.Set(Number(counters.damaged), {{"reason", "damaged"}});
  lost.Set(Number(counters.given_up), {{"reason", "given_up"}});
  lost.Set(Number(counters.pushed_out), {{"reason", "pushed_out"}});
}

void WriteOps(const OpStoreCounters& counters, MetricPage& page) {
  page.Gauge("fathom_ops_store_bytes", "Of every op that is kept, on the disk.")
      .Set(Number(counters.files.bytes));
  page.Gauge("fathom_ops_store_segments", "Files that they are in.")
      .Set(Number(counters.files.segments));
  page.Counter("fathom_ops_kept_total", "Ops taken into the store of ops.")
      .Set(Number(counters.ops));
  page.Counter("fathom_ops_lost_total", "Ops that found no room or no disk.")
      .Set(Number(counters.dropped_ops));
  page.Counter("fathom_ops_store_blocks_lost_total", "Blocks likewise, of anything.")
      .Set(Number(counters.dropped_blocks));
  page.Counter("fathom_ops_repeats_total", "Blocks of ops that were there already.")
      .Set(Number(counters.repeats));
  page.Counter("fathom_ops_store_torn_total", "Files whose end was cut, found at the start.")
      .Set(Number(counters.files.torn));
  page.Counter("fathom_ops_store_write_errors_total", "Writes that failed.")
      .Set(Number(counters.files.write_errors));
  page.Counter("fathom_ops_store_let_go_total", "Files that were let go of for size or age.")
      .Set(Number(counters.files.let_go));
}

}  // namespace

std::string PrometheusExporter::Scrape() const {
  MetricPage page;
  const std::vector<JobRow> rows = JobRows(sources_.jobs, sources_.ledger);
  WriteJobs(rows, page);
  WriteLosses(rows, sources_.account, page);
  WriteWork(rows, sources_.jobs, sources_.work, page);
  WriteVerdicts(sources_.ledger.Open(), page);
  WriteAgents(sources_.registry, sources_.streams(), page);
  WriteIngest(sources_.counters, page);
  const auto latencies = sources_.diagnoser.latencies();
  page.Histogram("fathom_localization_seconds", "From the first suspicion to the verdict.")
      .Observe(latencies.localization, kLatencyBuckets);
  page.Histogram("fathom_diagnosis_look_seconds", "One look at one job.")
      .Observe(latencies.look, kLatencyBuckets);
  page.Gauge("fathom_store_degraded", "1 while history is not written to its file.")
      .Set(!sources_.store.degraded().empty());
  page.Gauge("fathom_store_unwritten", "Verdicts and jobs that wait to be written to the store.")
      .Set(Number(sources_.store.unwritten()));
  page.Counter("fathom_store_errors_total", "Writes to the store that failed.")
      .Set(Number(sources_.store.errors()));
  page.Counter("fathom_store_refused_total", "Writes of jobs that another collector owns by now.")
      .Set(Number(sources_.store.refused()));
  WriteJournal(sources_.journal(), page);
  WriteOps(sources_.ops(), page);
  auto notices = page.Counter("fathom_notices_total", "Notices of verdicts, by what came of them.");
  notices.Set(Number(sources_.notices.sent), {{"result", "sent"}});
  notices.Set(Number(sources_.notices.failed), {{"result", "failed"}});
  notices.Set(Number(sources_.notices.dropped), {{"result", "dropped"}});
  notices.Set(Number(sources_.notices.quiet), {{"result", "quiet"}});
  page.Gauge("fathom_event_clients", "Listeners of the event stream.")
      .Set(Number(sources_.event_clients()));
  page.Counter("fathom_event_clients_dropped_total", "Listeners dropped for being slow.")
      .Set(Number(sources_.event_dropped()));
  WriteLoginFailures(sources_.login_failures(), page);
  WriteCaptures(sources_.captures(), page);
  if (sources_.more) sources_.more(page);
  page.Gauge("fathom_build_info", "The version that runs; the value is 1.")
      .Set(1, {{"version", sources_.version}, {"component", "collector"}});
  return page.Text();
}

}  // namespace fathom::collector
