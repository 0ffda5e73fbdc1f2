// Everything the collector tells Prometheus, made at each scrape from the parts' own state.
//
// Called by Api for /metrics. Nothing is counted here: parts count, this only writes down, so a job
// or node that is forgotten leaves the scrape with it. docs/metrics.md lists every name.
//
// Cardinality: per job at most kMaxJobs series of a family (running jobs first), per node at most
// kMaxNodes (those not seen for longest first); never per rank.
// Thread-safety: thread-safe. Ownership: refers to Sources, which outlive it. Errors: none.
// Cost: O(jobs + nodes), some 100 µs for a few jobs.
#ifndef FATHOM_COLLECTOR_METRICS_PROMETHEUS_EXPORTER_H_
#define FATHOM_COLLECTOR_METRICS_PROMETHEUS_EXPORTER_H_

#include <functional>
#include <optional>
#include <string>

#include "collector/agents/ingest_counters.h"
#include "collector/agents/session_registry.h"
#include "collector/evaluate/capture_trigger.h"
#include "collector/evaluate/diagnoser.h"
#include "collector/http/login.h"
#include "collector/job/state/job_table.h"
#include "collector/journal/journal.h"
#include "collector/notify/notifier.h"
#include "collector/ops/op_store.h"
#include "collector/runs/work_figures.h"
#include "collector/store/store.h"
#include "collector/verdict/verdict_ledger.h"
#include "diagnosis/ledger/running/running_account.h"

namespace fathom::collector {

class MetricPage;

class PrometheusExporter {
 public:
  static constexpr std::size_t kMaxJobs = 100;
  static constexpr std::size_t kMaxNodes = 100;
  static constexpr std::size_t kMaxVerdicts = 200;

  struct Sources {
    const JobTable& jobs;
    const SessionRegistry& registry;
    const VerdictLedger& ledger;
    const Diagnoser& diagnoser;
    const IngestCounters& counters;
    const Store& store;
    std::function<std::size_t()> streams;          // open agent streams
    std::function<std::size_t()> event_clients;    // listeners of events
    std::function<std::uint64_t()> event_dropped;  // listeners dropped for being slow
    const Notifier::Counters& notices;
    std::function<Login::Failures()> login_failures;
    std::string version;
    std::function<CaptureTrigger::Counts()> captures;
    std::function<JournalCounters()> journal;
    std::function<OpStoreCounters()> ops;
    // The account of a job so far. Empty: none is kept.
    std::function<std::optional<diagnosis::RunningAccount::State>(const std::string& job)>
        account{};
    // How a running job computes. Empty: not told.
    std::function<WorkFigures(const JobState& job)> work{};
    // What else is to be told, as of a cluster. Empty: nothing.
    std::function<void(MetricPage& page)> more{};
  };

  explicit PrometheusExporter(Sources sources) : sources_(std::move(sources)) {}

  // The text exposition format, version 0.0.4.
  std::string Scrape() const;

 private:
  Sources sources_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_METRICS_PROMETHEUS_EXPORTER_H_
