// Speed and memory of the Kineto importer on a generated trace.
//
// Usage: kineto_bench [MB]    (default 500) writes a trace of that size into a temporary folder,
// pretty-printed as PyTorch does, reads it in four ways and prints a table: time on the core, which
// a busy machine changes little.
#include <sys/resource.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "absl/strings/str_format.h"
#include "collector/import/kineto/kineto_importer.h"
#include "collector/import/kineto/trace/rank_trace_builder.h"
#include "collector/import/kineto/trace/trace_reader.h"

namespace {

namespace kineto = fathom::collector::kineto;

constexpr char kHead[] = R"({
  "schemaVersion": 1,
  "deviceProperties": [],
  "distributedInfo": {"backend": "gloo", "rank": 0, "world_size": 1, "pg_count": 1, "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "pg_size": 1, "ranks": [0]}]},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
)";
constexpr char kTail[] = R"(  {
    "ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 4389834525740.533
  }
  ],"traceName": "rank0.json" })";

std::string Event(const char* category, const char* name, double ts, double dur, long id) {
  return absl::StrFormat(
      "  {\n    \"ph\": \"X\",\n    \"cat\": \"%s\",\n    \"name\": \"%s\",\n    \"pid\": 19572,\n"
      "    \"tid\": 19572,\n    \"ts\": %.3f,\n    \"dur\": %.3f\n    ,\n    \"args\": {\n"
      "      \"External id\": %d,\"Record function id\": 0, \"Concrete Inputs\": [\"\", \"\", "
      "\"\"], "
      "\"Input type\": [\"float\", \"float\", \"\"], \"Input Strides\": [[192, 1], [1, 192], []], "
      "\"Input Dims\": [[192, 192], [192, 192], []], \"Ev Idx\": %d\n    }\n  },\n",
      category, name, ts, dur, id, id);
}

// Steps of 1000 ops, nested by twos, with a collective each; ends at `bytes`.
void WriteTrace(const std::filesystem::path& path, std::size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out << kHead;
  std::size_t written = sizeof(kHead);
  double ts = 4389833215042.0;
  std::string block;
  for (long step = 0, id = 1; written < bytes; ++step) {
    block.clear();
    const double begin = ts;
    for (int op = 0; op < 500; ++op, ts += 40, id += 2) {
      block += Event("cpu_op", "aten::linear", ts, 31.5, id);
      block += Event("cpu_op", "aten::addmm", ts + 2.25, 20.125, id + 1);
    }
    block += Event("cpu_op", "c10d::allreduce_", ts, 12.5, id++);
    block += Event("user_annotation", absl::StrFormat("ProfilerStep#%d", step).c_str(), begin,
                   ts + 20 - begin, id++);
    ts += 100;
    out << block;
    written += block.size();
  }
  out << kTail;
}

void Zip(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::ifstream in(from, std::ios::binary);
  gzFile out = gzopen(to.c_str(), "wb6");
  std::string block(1 << 20, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    gzwrite(out, block.data(), static_cast<unsigned>(in.gcount()));
  }
  gzclose(out);
}

class NullSink final : public kineto::TraceSink {
 public:
  bool WantsArgs(const kineto::TraceEvent&) override { return false; }
  void OnEvent(const kineto::TraceEvent&, const kineto::EventArgs&) override {}
};

// Time on a core, so that a busy machine does not change the figure.
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void Row(const char* name, double megabytes, const std::function<std::string()>& run) {
  const double begin = CpuSeconds();
  const std::string said = run();
  const double seconds = CpuSeconds() - begin;
  std::printf("%-28s %8.2f s %8.0f MB/s  peak %6.0f MB  %s\n", name, seconds, megabytes / seconds,
              PeakMegabytes(), said.c_str());
}

std::string ReadPlain(const std::filesystem::path& path, kineto::TraceSink& sink) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  const kineto::ByteSource source = [&](char* to, std::size_t size) {
    return absl::StatusOr<std::size_t>(std::fread(to, 1, size, file));
  };
  const auto summary = kineto::ReadTrace(source, sink);
  std::fclose(file);
  return summary.ok() ? absl::StrFormat("%d events", summary->events) : summary.status().ToString();
}

std::string Import(const std::filesystem::path& path) {
  fathom::collector::Recording recording;
  const auto status = kineto::KinetoImporter().Read({path.string()}, {}, recording);
  if (!status.ok()) return status.ToString();
  return absl::StrFormat("%d iterations", recording.view.window.size());
}

}  // namespace

int main(int argc, char** argv) {
  const double megabytes = argc > 1 ? std::atof(argv[1]) : 500;
  const auto folder = std::filesystem::temp_directory_path() / "fathom_kineto_bench";
  std::filesystem::create_directories(folder);
  const auto plain = folder / "rank0.json";
  const auto zipped = folder / "rank0.json.gz";
  WriteTrace(plain, static_cast<std::size_t>(megabytes * 1e6));
  Zip(plain, zipped);
  const double size = static_cast<double>(std::filesystem::file_size(plain)) / 1e6;
  std::printf("trace of %.0f MB, %.0f MB zipped\n", size,
              static_cast<double>(std::filesystem::file_size(zipped)) / 1e6);
  NullSink nothing;
  Row("parse", size, [&] { return ReadPlain(plain, nothing); });
  kineto::RankTraceBuilder builder;
  Row("parse and sift", size, [&] { return ReadPlain(plain, builder); });
  Row("import", size, [&] { return Import(plain); });
  Row("import .gz", size, [&] { return Import(zipped); });
  std::filesystem::remove_all(folder);
  return 0;
}
