#include "daemon/agent/source/process/node_facts.h"

#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace fathom::agent {

NodeFacts NodeFactsReader::Read() {
  NodeFacts facts;
  facts.cores = std::thread::hardware_concurrency();
  facts.cpu_busy_ratio = BusyRatio();
  if (const auto load = ReadSmallFile(roots_.proc + "/loadavg"); load.ok()) {
    const absl::string_view first = absl::string_view(*load).substr(0, load->find(' '));
    (void)absl::SimpleAtod(first, &facts.load1);
  }
  facts.pressure_cpu = Pressure("cpu");
  facts.pressure_memory = Pressure("memory");
  facts.pressure_io = Pressure("io");
  if (const auto memory = ReadSmallFile(roots_.proc + "/meminfo"); memory.ok()) {
    facts.memory_available_bytes = NumberAfter(*memory, "MemAvailable").value_or(0) * 1024;
  }
  return facts;
}

double NodeFactsReader::BusyRatio() {
  const auto text = ReadSmallFile(roots_.proc + "/stat");
  if (!text.ok() || !absl::StartsWith(*text, "cpu ")) return 0;
  const auto [busy, all] = CpuTicksIn(std::string_view(*text).substr(4, text->find('\n') - 4));
  const bool first = last_all_ == 0;
  const std::uint64_t d_all = all - last_all_;
  const std::uint64_t d_busy = busy - last_busy_;
  last_all_ = all;
  last_busy_ = busy;
  if (first || d_all == 0 || d_busy > d_all) return 0;
  return static_cast<double>(d_busy) / static_cast<double>(d_all);
}

double NodeFactsReader::Pressure(const char* what) const {
  const auto text = ReadSmallFile(absl::StrCat(roots_.proc, "/pressure/", what));
  constexpr absl::string_view kKey = "some avg10=";
  if (!text.ok() || !absl::StartsWith(*text, kKey)) return -1;
  const absl::string_view rest = absl::string_view(*text).substr(kKey.size());
  double percent = 0;
  return absl::SimpleAtod(rest.substr(0, rest.find(' ')), &percent) ? percent / 100 : -1;
}

}  // namespace fathom::agent
