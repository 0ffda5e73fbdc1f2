#include "tests/collector/import/nccl/nccl_job.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/import/recognise.h"

namespace fathom::collector::nccl {
namespace {

constexpr double kEpochUs = 1.7528672e15;
constexpr char kWorld[] = "0xe62dedaa97644a";
constexpr std::uint64_t kWorldHash = 16'587'329'446'019'341'642U;

struct Bucket {
  std::uint64_t bytes;
  double compute_us;
  double transfer_us;
};
constexpr Bucket kBuckets[] = {
    {67'108'864, 24'000, 3'000}, {33'554'432, 6'000, 1'600}, {8'388'608, 4'000, 700}};

std::string KernelTimes(const char* what, double start, double stop) {
  return absl::StrFormat(
      R"("kernel_events":[{"channel_id":0,"kernel_start_%1$s":%2$.0f,"kernel_stop_%1$s":%3$.0f,)"
      R"("kernel_record_%1$s":%3$.0f},{"channel_id":1,"kernel_start_%1$s":%4$.0f,)"
      R"("kernel_stop_%1$s":%5$.0f,"kernel_record_%1$s":%5$.0f}])",
      what, start, stop, start + 2, stop - 1);
}

std::string Trace(const RunOfOp& op) {
  return absl::StrFormat(R"(,"event_trace_sn":{"coll_start_sn":1,"coll_stop_sn":2,%s},)"
                         R"("event_trace_ts":{"coll_start_ts":%.0f,"coll_stop_ts":%.0f,%s})",
                         KernelTimes("sn", 3, 6), kEpochUs + op.call_us, kEpochUs + op.call_us + 5,
                         KernelTimes("ts", kEpochUs + op.begin_us + 8, kEpochUs + op.end_us + 6));
}

std::string Head(const NcclJob& job, int rank, const std::string& comm, int ranks) {
  const char* name = job.version == "v4.0" ? "" : R"("comm_name":"DP Group 0",)";
  return absl::StrFormat(
      R"("header":{"id":"%s",%s"rank":%d,"n_ranks":%d,"nnodes":2},)"
      R"("metadata":{"inspector_output_format_version":"%s","git_rev":"9019a1912-dirty",)"
      R"("rec_mechanism":"nccl_profiler_interface","dump_timestamp_us":1752867229276385,)"
      R"("hostname":"node-%d","pid":%d})",
      comm, name, rank, ranks, job.version, rank / 2, 438'776 + rank);
}

std::string Marker(const NcclJob& job, int rank, std::size_t ops) {
  return absl::StrFormat(
      R"({%s,"dump_stats":{"coll_records":%d,"coll_dropped_total":0,)"
      R"("coll_dropped_since_last_dump":0,"p2p_records":0,"p2p_dropped_total":0,)"
      R"("p2p_dropped_since_last_dump":0}})"
      "\n",
      Head(job, rank, kWorld, job.ranks), ops);
}

std::string ProfilerOp(int rank, int id, const RunOfOp& op, const NcclJob& job) {
  const std::string clocks = job.gpu_clocks
                                 ? absl::StrFormat(R"(, "StartGpuClk": %.0f, "StopGpuClk": %.0f)",
                                                   (kEpochUs + 777 + op.begin_us) * 1e3,
                                                   (kEpochUs + 777 + op.end_us) * 1e3)
                                 : "";
  const int pid = 4100 + rank;
  return absl::StrFormat(
      "{\"name\": \"%1$s\", \"cat\": \"COLL\", \"ph\": \"b\", \"id\": %2$d, \"pid\": %3$d, "
      "\"tid\": 1, \"ts\": %4$f, \"args\": {\"SeqNum\": %5$d, \"CommHash\": %6$d, \"Rank\": %7$d, "
      "\"Count\": %8$d, \"Datatype\": \"ncclFloat32\", \"Algorithm\": \"RING\", \"Protocol\": "
      "\"SIMPLE\", \"nChannels\": 1}},\n"
      "{\"name\": \"KernelCh\", \"cat\": \"GPU\", \"ph\": \"b\", \"id\": 0, \"pid\": %3$d, "
      "\"tid\": 1, \"ts\": %9$f, \"args\": {\"Channel\": 0%10$s}},\n"
      "{\"name\": \"ScheduleSend\", \"cat\": \"PROXY\", \"ph\": \"b\", \"id\": 0, \"pid\": %3$d, "
      "\"tid\": 1, \"ts\": %9$f, \"args\": {\"Channel\": 0, \"Peer\": 1, \"Steps\": 16, "
      "\"ChunkSize\": 131072, \"transSize\": 4194304}},\n"
      "{\"name\": \"KernelCh\", \"cat\": \"GPU\", \"ph\": \"e\", \"id\": 0, \"pid\": %3$d, "
      "\"tid\": 1, \"ts\": %11$f},\n"
      "{\"name\": \"%1$s\", \"cat\": \"COLL\", \"ph\": \"e\", \"id\": %2$d, \"pid\": %3$d, "
      "\"tid\": 1, \"ts\": %12$f},\n",
      op.function, id, pid, op.call_us, op.number, kWorldHash, rank, op.bytes / 4, op.begin_us + 9,
      clocks, op.end_us + 7, op.end_us + 8);
}

}  // namespace

std::vector<std::vector<RunOfOp>> RunsOf(const NcclJob& job) {
  std::mt19937 random(job.seed);
  std::normal_distribution<double> noise(1, 0.01);
  std::vector<double> now(static_cast<std::size_t>(job.ranks), 50'000);
  std::vector<std::vector<RunOfOp>> runs(now.size());
  std::uint64_t number = 0;
  const auto collective = [&](const std::vector<double>& arrival, std::uint64_t bytes, double us) {
    const double end = *std::max_element(arrival.begin(), arrival.end()) + us * noise(random);
    for (std::size_t r = 0; r < now.size(); ++r) {
      const double skew = 40'000.0 * static_cast<double>(r);  // its clock
      runs[r].push_back(
          {"AllReduce", number, bytes, arrival[r] - 900 + skew, arrival[r] + skew, end + skew});
      now[r] = end;
    }
    ++number;
  };
  for (const std::uint64_t bytes : {1024, 4096, 1024}) collective(now, bytes, 90);  // start-up
  for (int step = 0; step < job.steps; ++step) {
    for (const Bucket& bucket : kBuckets) {
      std::vector<double> arrival;
      for (std::size_t r = 0; r < now.size(); ++r) {
        arrival.push_back(now[r] + bucket.compute_us * noise(random));
      }
      const bool slow = step >= job.from_step && &bucket == kBuckets;
      if (slow && job.slow_rank >= 0) {
        arrival[static_cast<std::size_t>(job.slow_rank)] += job.slow_us;
      }
      collective(arrival, bucket.bytes,
                 bucket.transfer_us * (step >= job.from_step ? job.transfer_factor : 1));
    }
  }
  collective(now, 512, 80);  // a last barrier
  return runs;
}

std::string InspectorLine(const NcclJob& job, int rank, const std::string& comm, int ranks,
                          const RunOfOp& op) {
  const bool old = job.version == "v4.0";
  const bool alone = job.version == "v4.3";  // its marker said the rest
  return absl::StrFormat(
      R"({%s"coll_perf":{"coll":"%s",%s"coll_sn":%d,"coll_msg_size_bytes":%d,)"
      R"("coll_exec_time_us":%.0f,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":277.210914,)"
      R"("coll_busbw_gbs":485.119099%s}})"
      "\n",
      alone ? "" : Head(job, rank, comm, ranks) + ",", op.function,
      old ? "" : R"("coll_algo":"RING","coll_proto":"SIMPLE",)", op.number, op.bytes,
      op.end_us - op.begin_us, job.verbose ? Trace(op) : "");
}

std::vector<std::string> InspectorFiles(const NcclJob& job) {
  std::vector<std::string> files;
  const auto runs = RunsOf(job);
  for (int rank = 0; rank < job.ranks; ++rank) {
    const auto& ops = runs[static_cast<std::size_t>(rank)];
    std::string text = job.version >= "v4.2" ? Marker(job, rank, ops.size()) : "";
    for (const RunOfOp& op : ops) text += InspectorLine(job, rank, kWorld, job.ranks, op);
    files.push_back(std::move(text));
  }
  return files;
}

std::vector<std::string> ProfilerFiles(const NcclJob& job) {
  std::vector<std::string> files;
  const auto runs = RunsOf(job);
  for (int rank = 0; rank < job.ranks; ++rank) {
    std::string text = "[\n";
    int id = 0;
    for (const RunOfOp& op : runs[static_cast<std::size_t>(rank)]) {
      text += ProfilerOp(rank, id++, op, job);
    }
    files.push_back(text + "{}]\n");
  }
  return files;
}

absl::StatusOr<Recording> ReadTexts(const std::vector<std::string>& texts,
                                    const std::string& name) {
  const auto folder =
      std::filesystem::path(::testing::TempDir()) / absl::StrCat("nccl_job-", getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::ofstream(folder / absl::StrCat(name, i), std::ios::binary) << texts[i];
  }
  auto recording = ReadRecording({folder.string()}, "auto", {});
  std::filesystem::remove_all(folder);
  return recording;
}

Recording ReadJob(const std::vector<std::string>& texts) {
  auto recording = ReadTexts(texts, "file");
  EXPECT_TRUE(recording.ok()) << recording.status();
  return recording.ok() ? *std::move(recording) : Recording{};
}

}  // namespace fathom::collector::nccl
