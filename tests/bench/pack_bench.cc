// How many bytes an op takes, packed as agents send it, and how long packing takes.
//
// Usage: pack_bench RECORDING.fathom …        rows that an agent recorded (fathom run --record)
//        pack_bench --scenario NAME [RANKS]   rows of a node of a simulated job, 60 iterations
//
// Prints a row a source: ops and marks, bytes an op before and after zstd, microseconds an op. The
// rows of a node gather as its agent gathers them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "collector/cli/command/scenario_choice.h"
#include "collector/fleet/agent_messages.h"
#include "collector/import/fathom/recording_file.h"
#include "collector/simulate/play/observer.h"
#include "daemon/agent/ops/op_stream.h"
#include "proto/packing/pack_ops.h"

namespace {

using namespace fathom;  // NOLINT: one file

class Sender {
 public:
  // Rows of one rank, at a moment of the job.
  void Add(const v1::RankRows& rows, std::int64_t now_ns) {
    if (ops_ == 0) since_ns_ = now_ns;
    const auto [at, added] = place_.try_emplace(rows.rank(), gathered_.ranks_size());
    (added ? gathered_.add_ranks() : gathered_.mutable_ranks(at->second))->MergeFrom(rows);
    gathered_.mutable_ranks(at->second)->set_rank(rows.rank());
    ops_ += rows.ops_size();
    total_ops_ += rows.ops_size();
    marks_ += rows.marks_size();
    const bool old = now_ns - since_ns_ >= agent::OpStream::kBlockAge.count;
    if (old || ops_ >= agent::OpStream::kBlockRows) Send();
  }

  void Print(const std::string& source) {
    Send();
    const double ops = std::max<double>(1, static_cast<double>(total_ops_));
    std::printf("%-32s %9lld %9lld %7d %8.2f %8.2f %8.2f\n", source.c_str(), total_ops_, marks_,
                blocks_, raw_ / ops, packed_ / ops, 1e6 * seconds_ / ops);
  }

 private:
  void Send() {
    if (ops_ == 0) return;
    gathered_.set_job("train");
    const std::clock_t begin = std::clock();
    v1::AgentMessage message;
    *message.mutable_ops() = PackOps(gathered_, 1'790'000'000'000'000'000u + ++blocks_);
    seconds_ += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    packed_ += static_cast<double>(message.ByteSizeLong());
    raw_ += message.ops().raw_bytes();
    gathered_.Clear();
    place_.clear();
    ops_ = 0;
  }

  v1::RowsReply gathered_;
  std::map<std::uint32_t, int> place_;
  int ops_ = 0, blocks_ = 0;
  long long total_ops_ = 0, marks_ = 0;
  std::int64_t since_ns_ = 0;
  double raw_ = 0, packed_ = 0, seconds_ = 0;
};

int Recorded(const std::string& path) {
  auto file = collector::RecordingFile::Open(path, {});
  if (!file.ok()) {
    std::fprintf(stderr, "%s\n", std::string(file.status().message()).c_str());
    return EXIT_FAILURE;
  }
  Sender sender;
  for (auto entry = file->Next(); entry.ok() && *entry != nullptr; entry = file->Next()) {
    for (const v1::RankRows& rows : (*entry)->message().rows().ranks()) {
      sender.Add(rows, (*entry)->wall_ns());
    }
  }
  sender.Print(path.substr(path.find_last_of('/') + 1));
  return EXIT_SUCCESS;
}

int Simulated(const std::string& name, std::uint32_t ranks) {
  const auto job = cli::ChooseScenario(name, 0, ranks);
  if (!job.ok()) {
    std::fprintf(stderr, "%s\n", std::string(job.status().message()).c_str());
    return EXIT_FAILURE;
  }
  simulate::Player player(*job);
  const simulate::Observer observer(*job, player);
  std::vector<std::uint32_t> node;
  for (std::uint32_t rank = 0; rank < job->cluster.gpus_per_node; ++rank) node.push_back(rank);
  Sender sender;
  double begin = 0;
  std::vector<double> busy(node.size());
  for (std::int64_t iteration = 0; iteration < 60; ++iteration) {
    player.Play(iteration, begin, node);
    for (const std::uint32_t rank : node) {
      diagnosis::RankRows seen;
      observer.AddRows(iteration, rank, begin, Nanos::FromSeconds(busy[rank]), seen);
      busy[rank] += player.BusyOf(rank);
      v1::RankRows rows;
      rows.set_rank(rank);
      for (const diagnosis::CommOp& op : seen.ops) simulate::AddOp(op, rows);
      sender.Add(rows, static_cast<std::int64_t>(1e9 * player.end()));
    }
    begin = player.end();
  }
  sender.Print(name);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%-32s %9s %9s %7s %8s %8s %8s\n", "", "ops", "marks", "blocks", "raw B", "packed B",
              "us an op");
  if (argc > 2 && std::strcmp(argv[1], "--scenario") == 0) {
    return Simulated(argv[2], argc > 3 ? static_cast<std::uint32_t>(std::atoi(argv[3])) : 0);
  }
  int failed = argc < 2 ? EXIT_FAILURE : EXIT_SUCCESS;
  for (int i = 1; i < argc; ++i) failed |= Recorded(argv[i]);
  return failed;
}
