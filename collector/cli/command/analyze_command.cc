#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/cli/command/get_command.h"
#include "collector/cli/command/verb.h"
#include "collector/cli/http/fetched_ops.h"
#include "collector/cli/render/reading_progress.h"
#include "collector/cli/render/verdict_view.h"
#include "collector/cli/report/analysis_page.h"
#include "collector/cli/text/exit_code.h"
#include "collector/cli/text/text.h"
#include "collector/config/topology_file.h"
#include "collector/export/html/page.h"
#include "collector/export/perfetto/job_trace.h"
#include "collector/export/tables/table_files.h"
#include "collector/import/analysis.h"
#include "collector/import/fathom/stored_job.h"
#include "collector/import/reading/two_jobs.h"
#include "diagnosis/tables/comparison.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  fathom analyze dumps/                    a folder with the recordings of one job\n"
    "  fathom analyze /tmp/nccl_trace_rank_*\n"
    "  fathom analyze trace.parquet             an NDTimeline trace, with what-if figures\n"
    "  fathom analyze dumps/ -o json > report.json\n"
    "  fathom analyze traces/ --tables tables/    all tables as CSV files\n"
    "  fathom analyze today/ --against yesterday/\n"
    "  fathom analyze dumps/ --html job.html    a page that opens without a network\n"
    "  fathom analyze traces/ --perfetto job.perfetto-trace    for ui.perfetto.dev\n"
    "  fathom analyze dumps/ --config thresholds.yaml    with thresholds of your own\n"
    "  fathom analyze job://train --from 2h --to 90m    from a collector's store of ops\n"
    "  fathom analyze job://train --from 2h --against job://train --against-from 1d --against-to "
    "22h\n"
    "  fathom analyze job://train --collector-http any:7070 --from 2h    from several collectors\n"
    "Recognised by content; plain, gzip or zstd; folders, .tar and .zip. What lies beside dumps\n"
    "(py-spy stacks, process states, sockets) is used where it is there.\n"
    "Exit code: 2 when a verdict is established or supported, 0 when there is none.";

constexpr std::chrono::seconds kFetchTimeout{60};  // of one part
constexpr std::size_t kIterationsForSpread = 7;    // of fewer, no tenth is anything

struct AnalyzeOptions {
  std::vector<std::string> paths;
  std::string format = "auto";
  std::string output = "text";
  std::string tables;
  std::vector<std::string> against;
  std::string html;
  std::string perfetto;
  std::uint64_t perfetto_slices = collector::kMostTraceSlices;
  std::string config;
  std::string topology;
  bool exit_zero = false;
  bool verbose = false;
  bool quiet = false;
  double limit_gib = 0;  // 0: the importers' own limits
  std::string store;
  CollectorOptions collector{
      "", {}, false};  // to fetch kept ops from; empty: they are in the store
  std::string from, to;
  std::string against_from, against_to;
};

// Where a collector of this user keeps ops, if nothing else is said.
std::string DefaultOpsStore() {
  if (geteuid() == 0) return "/var/lib/fathom/fathom.db.ops";
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return Cat(state, "/fathom/fathom.db.ops");
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : Cat(home, "/.local/state/fathom/fathom.db.ops");
}

absl::StatusOr<WallNs> MomentOf(const std::string& text) {
  if (text.empty()) return WallNs();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return collector::ReadMoment(
      text, WallNs(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()));
}

struct Stretch {
  WallNs from, to;
};

absl::StatusOr<Stretch> StretchOf(const std::string& from, const std::string& to,
                                  const char* option) {
  const auto begin = MomentOf(from), end = MomentOf(to);
  if (!begin.ok()) return begin.status();
  if (!end.ok()) return end.status();
  if (begin->known() && end->known() && *end < *begin) {
    return absl::InvalidArgumentError(Cat("--", option, "to is before --", option, "from"));
  }
  return Stretch{*begin, *end};
}

// What was fetched from collectors, until all is read.
using Fetched = std::vector<std::unique_ptr<FetchedOps>>;

absl::StatusOr<std::vector<std::string>> FilesOf(const AnalyzeOptions& options,
                                                 const std::string& job, const Stretch& stretch,
                                                 Fetched& fetched) {
  if (options.collector.http.empty() || !options.store.empty()) {
    return collector::FilesOfStoredJob(options.store.empty() ? DefaultOpsStore() : options.store,
                                       job, stretch.from, stretch.to);
  }
  auto server =
      ServerOf(options.collector.http, options.collector.access.OrElse(AccessFromEnvironment()));
  if (!server.ok()) return server.status();
  HttpClient::Options patient;
  patient.timeout = kFetchTimeout;
  auto ops = FetchedOps::Of(HttpClient(*std::move(server), patient), job, stretch.from, stretch.to);
  if (!ops.ok()) return ops.status();
  fetched.push_back(*std::move(ops));
  return fetched.back()->paths();
}

// What there is of jobs instead of their names.
absl::Status ResolveStored(const AnalyzeOptions& options, const Stretch& stretch, Fetched& fetched,
                           std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    const auto job = collector::StoredJobName(path);
    if (!job) {
      out.push_back(path);
      continue;
    }
    const auto files = FilesOf(options, *job, stretch, fetched);
    if (!files.ok()) return files.status();
    out.insert(out.end(), files->begin(), files->end());
  }
  paths = std::move(out);
  return absl::OkStatus();
}

// In JSON there are no notes.
void TellMissing(const AnalyzeOptions& options, const Fetched& fetched,
                 collector::Analysis& analysis) {
  for (const auto& ops : fetched) {
    for (const std::string& note : ops->notes()) {
      analysis.notes.push_back(note);
      if (options.output != "json") continue;
      std::fputs(Cat("fathom analyze: ", Printable(note), "\n").c_str(), stderr);
    }
  }
}

AnalysisRemarks RemarksOf(const collector::Analysis& analysis) {
  AnalysisRemarks remarks;
  remarks.notes = analysis.notes;
  for (const collector::FileUse& file : analysis.files) {
    if (!file.left_out.empty()) {
      ++remarks.files_left_out;
    } else if (file.format.empty()) {
      remarks.files_ignored.push_back(file.path);
    } else {
      ++remarks.files_read;
    }
  }
  return remarks;
}

// A file that is left out stands on the page with those that are ignored, with the reason.
std::pair<std::string, std::string> OnPage(const collector::FileUse& file) {
  if (file.left_out.empty()) return {file.path, file.format};
  return {Cat(file.path, " (left out: ", file.left_out, ")"), ""};
}

bool Convicts(const Json& report) {
  const std::vector<VerdictView> verdicts = ReadVerdicts(ListField(report, "verdicts"));
  return std::any_of(verdicts.begin(), verdicts.end(),
                     [](const VerdictView& verdict) { return verdict.Convicts(); });
}

void SetSpread(const diagnosis::JobTables& tables, AnalysisRemarks& remarks) {
  std::vector<double> durations = diagnosis::Durations(tables);
  if (durations.size() < kIterationsForSpread) return;
  std::sort(durations.begin(), durations.end());
  const std::size_t tenth = durations.size() / 10;
  remarks.shortest = durations[tenth];
  remarks.longest = durations[durations.size() - 1 - tenth];
}

std::string PageOf(const Json& report, const collector::Analysis& analysis, bool verbose) {
  AnalysisRemarks remarks = RemarksOf(analysis);
  remarks.verbose = verbose;
  SetSpread(analysis.tables, remarks);
  return AnalysisPage(report, remarks, LookAtTerminal(1));
}

absl::Status WriteTrace(const AnalyzeOptions& options, const collector::Analysis& analysis) {
  const collector::Recording& recording = analysis.recording;
  const auto written =
      collector::WritePerfetto({recording.view, analysis.verdicts, &recording.timelines,
                                &recording.clocks, options.perfetto_slices},
                               options.perfetto);
  if (!written.ok()) return written.status();
  if (written->left_out == 0) return absl::OkStatus();
  std::fputs(Cat("fathom analyze: ", options.perfetto, " holds ", written->slices, " slices; of ",
                 written->ranks_cut, written->ranks_cut == 1 ? " rank " : " ranks ",
                 written->left_out, " later ones are left out (--perfetto-slices)\n")
                 .c_str(),
             stderr);
  return absl::OkStatus();
}

absl::Status WriteFiles(const AnalyzeOptions& options, const collector::Analysis& analysis) {
  if (!options.html.empty()) {
    collector::PageInput page{
        analysis.recording.view, analysis.verdicts, analysis.report, analysis.notes, {}};
    for (const auto& file : analysis.files) page.files.push_back(OnPage(file));
    if (absl::Status s = collector::WriteHtml(page, options.html); !s.ok()) return s;
  }
  if (options.perfetto.empty()) return absl::OkStatus();
  return WriteTrace(options, analysis);
}

collector::ImportLimits LimitsOf(const AnalyzeOptions& options) {
  collector::ImportLimits limits;
  if (options.limit_gib > 0) {
    const auto bytes = static_cast<std::uint64_t>(options.limit_gib * 1073741824.0);
    limits.file_bytes = limits.dump_bytes = limits.archive_bytes = bytes;
  }
  if (!options.perfetto.empty()) limits.timeline_events = options.perfetto_slices;
  limits.patterns = !options.tables.empty();
  return limits;
}

// Without a stretch of its own, what is compared with is of the same one.
absl::StatusOr<collector::Against> AgainstOf(const AnalyzeOptions& options, Stretch stretch,
                                             Fetched& fetched) {
  if (!options.against_from.empty() || !options.against_to.empty()) {
    const auto own = StretchOf(options.against_from, options.against_to, "against-");
    if (!own.ok()) return own.status();
    stretch = *own;
  }
  collector::Against against{options.against, stretch.from, stretch.to};
  if (absl::Status s = ResolveStored(options, stretch, fetched, against.paths); !s.ok()) return s;
  return against;
}

absl::StatusOr<collector::Analysis> Read(const AnalyzeOptions& options) {
  const auto thresholds = ThresholdsOf("analyze", options.config);
  if (!thresholds.ok()) return thresholds.status();
  const auto topology = collector::ReadTopology(options.topology);
  if (!topology.ok()) return topology.status();
  const auto stretch = StretchOf(options.from, options.to, "");
  if (!stretch.ok()) return stretch.status();
  std::vector<std::string> paths = options.paths;
  Fetched fetched;
  if (absl::Status s = ResolveStored(options, *stretch, fetched, paths); !s.ok()) return s;
  const auto against = AgainstOf(options, *stretch, fetched);
  if (!against.ok()) return against.status();
  std::vector<std::string> all = paths;
  all.insert(all.end(), against->paths.begin(), against->paths.end());
  ReadingProgress progress(all, !options.quiet && LookAtTerminal(2).interactive);
  collector::ImportLimits limits = LimitsOf(options);
  limits.from = stretch->from;
  limits.to = stretch->to;
  limits.bytes_read = &progress.bytes_read();
  limits.stop = &progress.interrupted();
  limits.topology = topology->get();
  auto analysis = collector::Analyze(paths, options.format, limits, *thresholds, *against);
  if (analysis.ok()) TellMissing(options, fetched, *analysis);
  return analysis;
}

int Judge(const AnalyzeOptions& options, absl::StatusOr<collector::Analysis> analysis) {
  if (absl::IsCancelled(analysis.status())) {
    std::fputs("fathom analyze: interrupted\n", stderr);
    return kInterrupted;
  }
  if (!analysis.ok()) return Fail("analyze", analysis.status());
  if (!options.tables.empty()) {
    const absl::Status written = collector::WriteTables(analysis->tables, options.tables);
    if (!written.ok()) return Fail("analyze", written);
  }
  if (absl::Status s = WriteFiles(options, *analysis); !s.ok()) return Fail("analyze", s);
  const Json report = Json::parse(analysis->report, nullptr, false);
  if (report.is_discarded()) return Fail("analyze", absl::InternalError("the report is no JSON"));
  const std::string out = options.output == "json" ? Serialize(report, "json")
                                                   : PageOf(report, *analysis, options.verbose);
  std::fputs(out.c_str(), stdout);
  return Convicts(report) && !options.exit_zero ? kCulpritFound : kNothingFound;
}

// A report, a page or tables are of one job.
bool OnScreenAlone(const AnalyzeOptions& options) {
  return options.output == "text" && options.tables.empty() && options.html.empty() &&
         options.perfetto.empty() && options.against.empty();
}

int Analyze(const AnalyzeOptions& options);

// The most telling of the codes: a failure, then a culprit.
int Worse(int one, int two) {
  if (one == kInterrupted || two == kInterrupted) return kInterrupted;
  if (one == kFailure || two == kFailure) return kFailure;
  return std::max(one, two);
}

// Each of several jobs by itself, as if it alone had been named.
int AnalyzeEach(const AnalyzeOptions& options, const std::vector<std::string>& folders) {
  int code = kNothingFound;
  for (std::size_t i = 0; i < folders.size() && code != kInterrupted; ++i) {
    std::fputs(
        Cat(i == 0 ? "" : "\n", "== job ", i + 1, " of ", folders.size(), ": ", folders[i], "\n")
            .c_str(),
        stdout);
    AnalyzeOptions one = options;
    one.paths = {folders[i]};
    code = Worse(code, Analyze(one));
  }
  return code;
}

int Analyze(const AnalyzeOptions& options) {
  auto analysis = Read(options);
  const std::vector<std::string> folders = collector::FoldersOfJobs(analysis.status());
  if (OnScreenAlone(options) && folders.size() > 1) return AnalyzeEach(options, folders);
  return Judge(options, std::move(analysis));
}

}  // namespace

void AddAnalyzeVerb(CLI::App& root, Invocation* invocation) {
  CLI::App* verb = root.add_subcommand("analyze", "Find the culprit in recordings of a job");
  auto options = std::make_shared<AnalyzeOptions>();
  verb->add_option(
          "PATH", options->paths,
          "files or folders of one job, or job://NAME; of several in folders of their own, each is "
          "judged")
      ->required();
  verb->add_option("--format", options->format,
                   "auto, or the only format to read: kineto, flight-recorder, ndtimeline, "
                   "nccl-inspector, nccl-profiler, fathom")
      ->type_name("FORMAT")
      ->capture_default_str();
  verb->add_option("-o,--output", options->output, "text or json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  verb->add_option("--tables", options->tables, "write all tables as CSV files into this folder")
      ->type_name("DIR");
  verb->add_option("--against", options->against,
                   "another recording of the job, or job://NAME: say what is slower than in it")
      ->type_name("PATH");
  verb->add_option("--against-from", options->against_from,
                   "of that, what was since then [as --from and --to]")
      ->type_name("TIME");
  verb->add_option("--against-to", options->against_to, "and until then")->type_name("TIME");
  verb->add_option("--html", options->html, "write a page there that opens without a network")
      ->type_name("FILE");
  verb->add_option("--perfetto", options->perfetto, "write a trace for Perfetto there")
      ->type_name("FILE");
  verb->add_option("--perfetto-slices", options->perfetto_slices,
                   "most slices in it, of all ranks together; of more the latest are left out")
      ->type_name("COUNT")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--config", options->config,
                   "judge with the thresholds of this file, of which diagnosis: is taken")
      ->type_name("FILE");
  verb->add_option("--topology", options->topology,
                   "how nodes hang on switches: topology.conf of Slurm, or YAML; else guessed")
      ->type_name("FILE");
  verb->add_option("--store", options->store,
                   "the collector's store of ops, for job://NAME [that of this user's collector]")
      ->type_name("DIR")
      ->envname("FATHOM_OPS_STORE");
  AddCollectorOptions(*verb, &options->collector, false);
  verb->get_option("--collector-http")
      ->description(
          "a collector, to fetch from it what it keeps of job://NAME, and others with it");
  verb->add_option("--from", options->from,
                   "judge what was since then: 2026-11-21T13:40:15, or 2h for two hours ago")
      ->type_name("TIME");
  verb->add_option("--to", options->to, "and until then")->type_name("TIME");
  verb->add_option("--limit-gib", options->limit_gib,
                   "largest file and largest archive to read, inflated [16; dumps 1]")
      ->type_name("GIB")
      ->check(CLI::PositiveNumber);
  verb->add_flag("--verbose", options->verbose,
                 "all evidence with its sources, all verdicts, notes and files");
  verb->add_flag("--quiet", options->quiet, "no progress on the terminal");
  verb->add_flag("--exit-zero", options->exit_zero, "exit with 0 even when a culprit was found");
  verb->footer(kExamples);
  verb->callback(
      [invocation, options] { invocation->action = [options] { return Analyze(*options); }; });
}

}  // namespace fathom::cli
