#include "collector/cli/render/lists.h"

#include <utility>
#include <vector>

#include "collector/cli/render/quantity.h"
#include "collector/cli/render/table.h"
#include "collector/cli/render/verdict_view.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

using Row = std::vector<std::string>;
constexpr auto kLeft = Table::Align::kLeft;
constexpr auto kRight = Table::Align::kRight;

std::string Count(const Json& object, const char* name) {
  return HasField(object, name) ? Cat(IntField(object, name)) : "";
}

std::string State(const Terminal& terminal, const std::string& state) {
  const bool bad = state == "hung" || state == "stalled" || state == "slow";
  return Paint(terminal, bad ? Ink::kRed : state == "ended" ? Ink::kDim : Ink::kGreen, state);
}

// In how many jobs of late; those that come again and again stand out.
std::string Convicted(const Json& node, const Terminal& terminal) {
  const std::int64_t jobs = IntField(node, "convicted_jobs");
  if (jobs == 0) return "";
  const bool again = BoolField(node, "repeat_offender");
  return Paint(terminal, again ? Ink::kRed : Ink::kPlain, Cat(jobs, jobs == 1 ? " job" : " jobs"));
}

void AddAll(Row* row, Row more) {
  row->insert(row->end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

std::int64_t SumOfValues(const Json& object) {
  std::int64_t sum = 0;
  for (auto at = object.begin(); at != object.end(); ++at)
    sum += IntField(object, at.key().c_str());
  return sum;
}

// Of a job, or of one of its ranks: "-" for what is not known.
std::string Rate(const Json& of) {
  constexpr double kGiga = 1e9;
  const double flop_per_s = NumberField(of, "flop_per_s");
  return flop_per_s > 0 ? Number(flop_per_s / kGiga) : "-";
}

std::string Share(const Json& of, const char* field) {
  return of.contains(field) ? Percent(NumberField(of, field)) : "-";
}

Row VerdictRow(const VerdictView& v, const ListStyle& style) {
  Row row = {v.id,
             v.closed ? "closed" : "active",
             v.grade,
             v.cause,
             v.Culprit(),
             v.from_start             ? "start"
             : v.since_iteration >= 0 ? Cat(v.since_iteration)
                                      : "",
             Times(v.slowdown)};
  if (style.wide) {
    AddAll(&row,
           {v.job, v.owner, LocalTime(v.since_unix_ns), v.gpu_hours > 0 ? GpuTime(v.gpu_hours) : "",
            v.victims.empty() ? "" : RankList(v.victims), v.sentence});
  }
  return row;
}

}  // namespace

std::string JobsTable(const Json& jobs, const ListStyle& style) {
  std::vector<Table::Column> columns = {{"NAME"},
                                        {"STATE"},
                                        {"RANKS", kRight},
                                        {"ITERATION", kRight},
                                        {"TIME", kRight},
                                        {"SLOWDOWN", kRight},
                                        {"VERDICTS", kRight}};
  if (style.wide) {
    for (const char* name : {"NODES", "BASELINE"}) columns.push_back({name, kRight});
    for (const char* name : {"SEEN", "SENTENCE"}) columns.push_back({name, kLeft});
  }
  Table table(std::move(columns));
  for (const Json& job : jobs) {
    const std::int64_t world = IntField(job, "world_size");
    const std::int64_t ranks = IntField(job, "ranks");
    Row row = {TextField(job, "name"),
               State(style.terminal, TextField(job, "state")),
               world > 0 && world != ranks ? Cat(ranks, "/", world) : Count(job, "ranks"),
               IntField(job, "iteration", -1) >= 0 ? Count(job, "iteration") : "",
               Seconds(NumberField(job, "iteration_s")),
               Times(NumberField(job, "slowdown")),
               Count(job, "verdicts")};
    if (style.wide) {
      AddAll(&row, {Count(job, "nodes"), Seconds(NumberField(job, "baseline_s")),
                    Ago(IntField(job, "last_seen_unix_ns"), style.now_unix_ns),
                    TextField(job, "sentence")});
    }
    table.Add(std::move(row));
  }
  return table.ToString();
}

std::string NodesTable(const Json& nodes, const ListStyle& style) {
  std::vector<Table::Column> columns = {
      {"NAME"}, {"CONNECTED"}, {"SUSPECT"}, {"CONVICTED", kRight}, {"RANKS", kRight}, {"SEEN"}};
  if (style.wide) {
    columns.push_back({"CPU BUSY", kRight});
    columns.push_back({"LOAD1", kRight});
  }
  Table table(std::move(columns));
  for (const Json& node : nodes) {
    const bool connected = BoolField(node, "connected");
    const bool suspect = BoolField(node, "suspect");
    const Json& ranks = ListField(node, "ranks");
    Row row = {TextField(node, "name"),
               Paint(style.terminal, connected ? Ink::kGreen : Ink::kRed, connected ? "yes" : "no"),
               Paint(style.terminal, suspect ? Ink::kRed : Ink::kPlain, suspect ? "yes" : "no"),
               Convicted(node, style.terminal),
               ranks.empty() ? Count(node, "ranks") : RankList(IntsField(node, "ranks")),
               Ago(IntField(node, "last_seen_unix_ns"), style.now_unix_ns)};
    if (style.wide) {
      AddAll(&row,
             {Number(NumberField(node, "cpu_busy_ratio")), Number(NumberField(node, "load1"))});
    }
    table.Add(std::move(row));
  }
  return table.ToString();
}

std::string RunsTable(const Json& runs, const ListStyle& style) {
  std::vector<Table::Column> columns = {{"ID"},           {"JOB"},    {"PROFILE"},
                                        {"STARTED"},      {"STATE"},  {"ITERATIONS", kRight},
                                        {"TIME", kRight}, {"OUTCOME"}};
  if (style.wide) {
    for (const char* name : {"SHAPE", "SENTENCE"}) columns.push_back({name, kLeft});
  }
  Table table(std::move(columns));
  for (const Json& run : runs) {
    const std::string name = TextField(run, "profile_name");
    const std::string outcome = TextField(run, "outcome");
    const Ink ink = outcome == "slower" ? Ink::kRed : Ink::kPlain;
    Row row = {TextField(run, "id"),
               TextField(run, "job"),
               name.empty() ? TextField(run, "profile") : name,
               LocalTime(IntField(run, "started_unix_ns")),
               State(style.terminal, TextField(run, "state")),
               Count(run, "iterations"),
               Seconds(NumberField(run, "iteration_s")),
               Paint(style.terminal, ink, outcome)};
    if (style.wide) AddAll(&row, {TextField(run, "profile_text"), TextField(run, "sentence")});
    table.Add(std::move(row));
  }
  return table.ToString();
}

std::string BandwidthTable(const Json& rows) {
  constexpr double kGiga = 1e9;
  std::vector<Table::Column> columns = {
      {"COMMUNICATOR"}, {"KIND"},          {"BYTES", kRight},    {"MEMBERS", kRight},
      {"OPS", kRight},  {"TAKES", kRight}, {"BUS GB/S", kRight}, {"SLOWEST TENTH", kRight}};
  Table table(std::move(columns));
  for (const Json& row : rows) {
    table.Add({TextField(row, "group"), TextField(row, "kind"), Count(row, "bytes"),
               Count(row, "members"), Count(row, "count"), Seconds(NumberField(row, "transfer_s")),
               Number(NumberField(row, "bus_bandwidth_bytes_per_s") / kGiga),
               Number(NumberField(row, "slow_bus_bandwidth_bytes_per_s") / kGiga)});
  }
  return table.ToString();
}

std::string WorkTable(const Json& work) {
  Table table({{"RANK"},
               {"ITERATION", kRight},
               {"GFLOP/S", kRight},
               {"MFU", kRight},
               {"VOID BETWEEN", kRight},
               {"WITHIN", kRight}});
  for (const Json& rank : ListField(work, "ranks")) {
    table.Add({Count(rank, "rank"), Seconds(NumberField(rank, "iteration_s")), Rate(rank),
               Share(rank, "mfu_ratio"), Share(rank, "void_between_ratio"),
               Share(rank, "void_within_ratio")});
  }
  std::string out =
      Cat("Of its newest ", IntField(work, "of_iterations"), " iterations: ", Rate(work),
          " GFLOP/s, MFU ", Share(work, "mfu_ratio"), ", void ", Share(work, "void_between_ratio"),
          " between them and ", Share(work, "void_within_ratio"), " within\n");
  const std::string why = TextField(work, "mfu_unknown");
  if (!why.empty()) AppendTo(&out, "No MFU: ", why, "\n");
  return Cat(out, table.empty() ? "" : table.ToString());
}

std::string VerdictsTable(const Json& verdicts, const ListStyle& style) {
  std::vector<Table::Column> columns = {
      {"ID"},      {"STATE"},         {"GRADE"},           {"CAUSE"},
      {"CULPRIT"}, {"SINCE", kRight}, {"SLOWDOWN", kRight}};
  if (style.wide) {
    for (const char* name : {"JOB", "OWNER", "SINCE TIME", "GPU TIME", "VICTIMS", "SENTENCE"}) {
      columns.push_back({name, kLeft});
    }
  }
  Table table(std::move(columns));
  for (const VerdictView& v : ReadVerdicts(verdicts)) table.Add(VerdictRow(v, style));
  return table.ToString();
}

std::string RanksTable(const Json& ranks, const ListStyle& style) {
  std::vector<Table::Column> columns = {
      {"RANK", kRight},    {"NODE"},        {"PID", kRight}, {"STATE"}, {"LAST EVENT", kRight},
      {"RECORDS", kRight}, {"LOST", kRight}};
  if (style.wide) {
    for (const char* name : {"TORN", "INVALID", "DROPS"}) columns.push_back({name, kRight});
  }
  const bool gpus = style.wide && SomeTellGpu(ranks);
  if (gpus) columns.push_back({"GPU"});
  Table table(std::move(columns));
  for (const Json& rank : ranks) {
    Row row = {Count(rank, "rank"),
               TextField(rank, "node"),
               Count(rank, "pid"),
               TextField(rank, "state"),
               Seconds(NumberField(rank, "last_event_age_s")),
               Count(rank, "records_total"),
               Count(rank, "records_lost")};
    if (style.wide) {
      AddAll(&row, {Count(rank, "records_torn"), Count(rank, "records_invalid"),
                    Cat(SumOfValues(ObjectField(rank, "tracer_drops")))});
    }
    if (gpus) row.push_back(GpuField(rank));
    table.Add(std::move(row));
  }
  return table.ToString();
}

}  // namespace fathom::cli
