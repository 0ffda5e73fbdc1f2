#include "collector/export/tables/table_files.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "proto/types/collective_kind.h"

namespace fathom::collector {
namespace {

using diagnosis::JobTables;
using diagnosis::RankTables;

class Csv {
 public:
  explicit Csv(std::string_view columns) : text_(columns) { text_ += '\n'; }

  Csv& Text(std::string_view value) {
    Begin();
    if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
      text_ += value;
      return *this;
    }
    text_ += '"';
    for (const char c : value) {
      if (c == '"') text_ += '"';
      text_ += c;
    }
    text_ += '"';
    return *this;
  }

  Csv& Seconds(double value) { return Number(value, 9); }
  Csv& Ratio(double value) { return Number(value, 6); }

  template <typename Integer>
  Csv& Count(Integer value) {
    Begin();
    text_ += std::to_string(value);
    return *this;
  }

  Csv& Empty() {
    Begin();
    return *this;
  }

  void End() {
    text_ += '\n';
    first_ = true;
  }

  std::string Take() { return std::move(text_); }

 private:
  void Begin() {
    if (!first_) text_ += ',';
    first_ = false;
  }

  Csv& Number(double value, int decimals) {
    Begin();
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
    text_ += buffer.data();
    return *this;
  }

  std::string text_;
  bool first_ = true;
};

std::string Ranks(const JobTables& tables) {
  Csv csv("rank,node,compute_s,non_compute_s,idle_s,communication_s,wait_s,overlap_ratio,late_s");
  for (const auto& rank : tables.totals) {
    csv.Count(rank.rank.value).Text(rank.node).Seconds(rank.compute.Seconds());
    csv.Seconds(rank.non_compute.Seconds()).Seconds(rank.idle.Seconds());
    csv.Seconds(rank.communication.Seconds()).Seconds(rank.wait.Seconds());
    csv.Ratio(rank.overlap_ratio).Seconds(rank.late.Seconds()).End();
  }
  return csv.Take();
}

std::string Idle(const JobTables& tables) {
  Csv csv("rank,stream,host_wait_s,kernel_wait_s,other_s");
  for (const RankTables& rank : tables.ranks) {
    for (const auto& row : rank.idle) {
      csv.Count(rank.rank.value).Count(row.stream).Seconds(row.host_wait);
      csv.Seconds(row.kernel_wait).Seconds(row.other).End();
    }
  }
  return csv.Take();
}

std::string Overlap(const JobTables& tables) {
  Csv csv("rank,span_s,compute_s,communication_s,copies_s,overlap_s,overlap_ratio");
  for (const RankTables& rank : tables.ranks) {
    const auto& b = rank.breakdown;
    csv.Count(rank.rank.value).Seconds(b.span).Seconds(b.compute).Seconds(b.communication);
    csv.Seconds(b.copies).Seconds(b.overlap).Ratio(b.overlap_ratio()).End();
  }
  return csv.Take();
}

std::string Kernels(const JobTables& tables) {
  Csv csv("rank,kind,name,count,sum_s,mean_s,min_s,max_s,stddev_s");
  for (const RankTables& rank : tables.ranks) {
    for (const auto& row : rank.kernels) {
      csv.Count(rank.rank.value).Text(row.kind).Text(row.name).Count(row.count);
      csv.Seconds(row.sum).Seconds(row.mean()).Seconds(row.min).Seconds(row.max);
      csv.Seconds(row.deviation).End();
    }
  }
  return csv.Take();
}

std::string Launches(const JobTables& tables) {
  Csv csv(
      "rank,stream,launches,call_mean_s,delay_mean_s,delay_median_s,delay_p99_s,queue_mean,"
      "queue_max");
  for (const RankTables& rank : tables.ranks) {
    for (const auto& row : rank.launches) {
      csv.Count(rank.rank.value).Count(row.stream).Count(row.count).Seconds(row.call_mean);
      csv.Seconds(row.delay_mean).Seconds(row.delay_median).Seconds(row.delay_p99);
      csv.Ratio(row.queue_mean).Count(row.queue_max).End();
    }
  }
  return csv.Take();
}

std::string Copies(const JobTables& tables) {
  Csv csv("rank,kind,count,bytes,time_s,bandwidth_bytes_per_s");
  for (const RankTables& rank : tables.ranks) {
    for (const auto& row : rank.copies) {
      csv.Count(rank.rank.value).Text(row.kind).Count(row.count).Count(row.bytes);
      csv.Seconds(row.seconds).Ratio(row.bandwidth()).End();
    }
  }
  return csv.Take();
}

std::string CriticalPath(const JobTables& tables) {
  Csv csv("iteration,step,rank,segment,op,group,time_s,before,longest,longest_s");
  for (const auto& row : tables.path) {
    csv.Count(row.iteration.value).Count(row.step).Count(row.rank.value);
    const std::string_view op = CollectiveKindName(row.kind);
    csv.Text(row.communication ? "communication" : "local").Text(row.communication ? op : "");
    csv.Text(row.group).Seconds(row.seconds).Text(row.communication ? "" : op);
    csv.Text(row.longest).Seconds(row.longest_s).End();
  }
  return csv.Take();
}

std::string Iterations(const JobTables& tables) {
  Csv csv(
      "iteration,ranks,duration_s,longest_s,longest_rank,compute_s,blocked_s,gc_s,dataloader_s");
  for (const auto& row : tables.iterations) {
    csv.Count(row.index.value).Count(row.ranks).Seconds(row.duration).Seconds(row.longest);
    csv.Count(row.longest_rank.value).Seconds(row.compute).Seconds(row.blocked);
    csv.Seconds(row.gc).Seconds(row.dataloader).End();
  }
  return csv.Take();
}

std::string Collectives(const JobTables& tables) {
  Csv csv(
      "group,sequence,kind,bytes,iteration,last_rank,late_s,wait_s,members,transfer_s,skew_s,"
      "bandwidth_bytes_per_s,bus_bandwidth_bytes_per_s,bytes_imbalance");
  for (const auto& row : tables.collectives) {
    csv.Text(row.group);
    if (row.sequence == kNoSequence) {
      csv.Empty();
    } else {
      csv.Count(row.sequence.value);
    }
    csv.Text(CollectiveKindName(row.kind)).Count(row.bytes).Count(row.iteration.value);
    csv.Count(row.last_rank.value).Seconds(row.late).Seconds(row.wait).Count(row.members);
    csv.Seconds(row.transfer).Seconds(row.skew).Ratio(row.bandwidth).Ratio(row.bus_bandwidth);
    csv.Ratio(row.bytes_imbalance).End();
  }
  return csv.Take();
}

std::string Bandwidths(const JobTables& tables) {
  Csv csv(
      "group,kind,bytes,members,count,transfer_s,bus_bandwidth_bytes_per_s,"
      "slow_bus_bandwidth_bytes_per_s");
  for (const auto& row : diagnosis::BandwidthsOf(tables.collectives)) {
    csv.Text(row.group).Text(CollectiveKindName(row.kind)).Count(row.bytes).Count(row.members);
    csv.Count(row.count).Seconds(row.transfer).Ratio(row.bus).Ratio(row.bus_slow).End();
  }
  return csv.Take();
}

std::string Functions(const JobTables& tables) {
  Csv csv("rank,class,function,file,line,beta,mu,sigma,distance,differs,odd");
  for (const auto& row : tables.functions) {
    const auto& pattern = row.of.pattern;
    csv.Count(row.rank.value).Text(diagnosis::ClassName(pattern.of)).Text(row.of.function);
    csv.Text(row.of.file).Count(row.of.line).Ratio(static_cast<double>(pattern.beta));
    csv.Ratio(static_cast<double>(pattern.mu)).Ratio(static_cast<double>(pattern.sigma));
    csv.Ratio(row.distance).Count(row.differs).Count(row.odd ? 1 : 0).End();
  }
  return csv.Take();
}

absl::Status WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  return out ? absl::OkStatus() : absl::UnavailableError(path.string() + ": cannot be written");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> TableTexts(const JobTables& tables) {
  return {{"ranks.csv", Ranks(tables)},
          {"idle.csv", Idle(tables)},
          {"overlap.csv", Overlap(tables)},
          {"kernels.csv", Kernels(tables)},
          {"launches.csv", Launches(tables)},
          {"copies.csv", Copies(tables)},
          {"critical_path.csv", CriticalPath(tables)},
          {"iterations.csv", Iterations(tables)},
          {"collectives.csv", Collectives(tables)},
          {"functions.csv", Functions(tables)},
          {"bandwidth.csv", Bandwidths(tables)}};
}

absl::Status WriteTables(const JobTables& tables, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(folder + ": " + error.message());
  for (const auto& [name, text] : TableTexts(tables)) {
    absl::Status written = WriteFile(std::filesystem::path(folder) / name, text);
    if (!written.ok()) return written;
  }
  return absl::OkStatus();
}

}  // namespace fathom::collector
