#include "collector/cli/doctor/sizing.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

// Measured; docs/operations/sizing.md says how, on what, and what of it is not.
constexpr double kSummaryBytes = 15;  // of a rank and iteration
constexpr double kGroupBytes = 12;    // of a communicator in it
constexpr double kBatchBytes = 60;    // of a message with summaries, four a second at most
constexpr double kBatchesPerSecond = 4;
constexpr double kHealthBytesPerSecond = 90;  // of a rank
constexpr double kOpWireBytes = 22;
constexpr double kOpDiskBytes = 32;         // summaries and health beside them
constexpr double kBaseMemory = 60e6;        // of a collector without jobs
constexpr double kRankMemory = 32e3;        // while its job is looked at
constexpr double kMessageSeconds = 18e-6;   // of a collector's core, for a message with summaries
constexpr double kBlockSeconds = 30e-6;     // for a block of ops
constexpr double kBlocksPerSecond = 0.5;    // of an agent
constexpr double kLookRankSeconds = 70e-6;  // of a look
constexpr double kAgentOpSeconds = 90e-6;   // of an agent's core, to pack an op
constexpr double kMostRanks = 32'768;       // that one collector was measured with

struct Key {
  const char* name;
  double Workload::*field;
  double least, most;
  const char* meaning;
};

constexpr Key kKeys[] = {
    {"ranks", &Workload::ranks, 1, 1e7, "ranks, of all jobs together"},
    {"node", &Workload::per_node, 1, 1024, "ranks of a node"},
    {"iteration", &Workload::iteration_s, 1e-3, 1e5, "seconds of an iteration"},
    {"groups", &Workload::groups, 1, 64, "communicators of a rank"},
    {"ops", &Workload::ops, 0, 1e7, "ops of a rank in an iteration, to keep; 0: none are kept"},
    {"days", &Workload::days, 1e-3, 3650, "that ops are kept"},
};

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Key& key : kKeys) names.emplace_back(key.name);
  return names;
}

absl::Status Bad(const std::string& text) { return absl::InvalidArgumentError(text); }

absl::Status Set(std::string_view pair, Workload& workload) {
  const std::size_t equals = pair.find('=');
  const std::string_view name = pair.substr(0, equals);
  const auto key = std::find_if(std::begin(kKeys), std::end(kKeys),
                                [name](const Key& each) { return name == each.name; });
  if (key == std::end(kKeys)) {
    return Bad(Cat("--size: '", name, "' is none of ", Join(Names(), ", ")));
  }
  double value = 0;
  const std::string_view text = equals == pair.npos ? "" : pair.substr(equals + 1);
  if (!ReadNumber(text, &value) || !(value >= key->least) || !(value <= key->most)) {
    return Bad(Cat("--size: ", name, " is ", key->meaning, ": a number from ", Number(key->least),
                   " to ", Number(key->most), ", not '", text, "'"));
  }
  workload.*key->field = value;
  return absl::OkStatus();
}

std::string Bytes(double bytes) {
  const char* const kUnits[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(kUnits)) bytes /= 1000, ++unit;
  return Cat(Number(bytes), " ", kUnits[unit]);
}

}  // namespace

absl::StatusOr<Workload> ReadWorkload(std::string_view text) {
  Workload workload;
  for (const std::string_view pair : SplitWords(text, ", ")) {
    if (absl::Status s = Set(pair, workload); !s.ok()) return s;
  }
  if (workload.ranks == 0)
    return Bad("--size: say how many ranks, as in --size ranks=1024,ops=400");
  return workload;
}

Sizing SizeOf(const Workload& w) {
  Sizing out;
  out.agents = std::ceil(w.ranks / w.per_node);
  const double iterations_s = w.ranks / w.iteration_s;
  const double batches_s = std::min(iterations_s, w.ranks * kBatchesPerSecond);
  out.summary_bytes_s = iterations_s * (kSummaryBytes + kGroupBytes * w.groups) +
                        batches_s * kBatchBytes + w.ranks * kHealthBytesPerSecond;
  out.ops_s = iterations_s * w.ops;
  out.ops_bytes_s = out.ops_s * kOpWireBytes;
  out.disk_bytes = out.ops_s * kOpDiskBytes * 86'400 * w.days;
  out.memory_bytes = kBaseMemory + w.ranks * kRankMemory;
  out.ingest_cores = batches_s * kMessageSeconds;
  if (w.ops > 0) {
    out.ingest_cores += out.agents * kBlocksPerSecond * kBlockSeconds;
    out.agent_cores = out.ops_s / out.agents * kAgentOpSeconds;
  }
  out.look_s = w.ranks * kLookRankSeconds;
  out.collectors = std::ceil(w.ranks / kMostRanks);
  return out;
}

std::string SizingText(const Workload& w, const Sizing& s) {
  std::string out =
      Cat(Number(w.ranks), " ranks on ", Number(s.agents), " nodes, ", Seconds(w.iteration_s),
          " an iteration, ", Number(w.groups), " communicators a rank\n");
  AppendTo(&out, "summaries   ", Bytes(s.summary_bytes_s), "/s over the network, ",
           Bytes(s.summary_bytes_s / s.agents), "/s of a node\n");
  if (w.ops > 0) {
    AppendTo(&out, "every op    ", Number(s.ops_s), " ops/s, ", Bytes(s.ops_bytes_s),
             "/s over the network, ", Bytes(s.disk_bytes), " on the disk for ", Number(w.days),
             " days (ops_gib=", Number(std::ceil(s.disk_bytes / 1073741824.0)), ")\n");
    AppendTo(&out, "agent       ", Number(s.agent_cores),
             " cores more on each node, to pack ops\n");
  } else {
    AppendTo(&out, "every op    not kept; say ops=N for what it takes\n");
  }
  AppendTo(&out, "collector   ", Bytes(s.memory_bytes), " of memory, ", Number(s.ingest_cores),
           " cores to take it in, ", Seconds(s.look_s), " of a core for a look\n");
  AppendTo(&out, "collectors  ", Number(s.collectors),
           s.collectors > 1 ? ", each for some of the jobs: one job is on one collector\n"
                            : " is enough\n");
  return out;
}

Json SizingJson(const Workload& w, const Sizing& s) {
  return {{"ranks", w.ranks},
          {"agents", s.agents},
          {"summary_bytes_per_s", s.summary_bytes_s},
          {"ops_per_s", s.ops_s},
          {"ops_bytes_per_s", s.ops_bytes_s},
          {"disk_bytes", s.disk_bytes},
          {"memory_bytes", s.memory_bytes},
          {"ingest_cores", s.ingest_cores},
          {"look_s", s.look_s},
          {"agent_cores", s.agent_cores},
          {"collectors", s.collectors}};
}

}  // namespace fathom::cli
