#include "kernels/measure/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace fathom::kernels {
namespace {

constexpr int kMostCpus = 8192;
constexpr int kMostNumaNodes = 1024;

std::string FirstLineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value behind "KEY<spaces>:" of /proc/cpuinfo and its like.
std::string ValueIn(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t colon = line.find(':');
    const std::size_t begin =
        colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    if (begin != std::string::npos) return line.substr(begin);
  }
  return "";
}

std::uint64_t KibIn(const std::string& path, const std::string& key) {
  return std::uint64_t{1024} * std::strtoull(ValueIn(path, key).c_str(), nullptr, 10);
}

std::vector<int> AllowedCpus() {
  std::vector<int> cpus;
  cpu_set_t* set = CPU_ALLOC(kMostCpus);
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  CPU_ZERO_S(bytes, set);
  if (sched_getaffinity(0, bytes, set) == 0) {
    for (int cpu = 0; cpu < kMostCpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    }
  }
  CPU_FREE(set);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

std::vector<std::vector<int>> ByNumaNode(const std::string& root, const std::vector<int>& cpus) {
  const std::string folder = root + "/sys/devices/system/node/";
  std::vector<std::vector<int>> nodes;
  std::size_t placed = 0;
  for (const int node : CpuListOf(FirstLineOf(folder + "online"))) {
    if (node >= kMostNumaNodes) break;
    std::vector<int> here;
    for (const int cpu :
         CpuListOf(FirstLineOf(folder + "node" + std::to_string(node) + "/cpulist"))) {
      if (std::binary_search(cpus.begin(), cpus.end(), cpu)) here.push_back(cpu);
    }
    placed += here.size();
    if (!here.empty()) nodes.push_back(std::move(here));
  }
  if (placed != cpus.size()) nodes = {cpus};
  return nodes;
}

// "KEY VALUE" lines, as in cpu.stat.
double NumberIn(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  double value = 0;
  while (file >> name >> value) {
    if (name == key) return value;
  }
  return 0;
}

// A cgroup and those above it: each may have a quota of its own.
double ThrottledIn(const std::string& mount, std::string path, const char* key, double unit) {
  double sum = 0;
  while (true) {
    sum += unit * NumberIn(mount + path + "/cpu.stat", key);
    const std::size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) return sum;
    path.resize(slash);
  }
}

double ThrottledSeconds(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  double sum = 0;
  for (std::string line; std::getline(file, line);) {  // "4:cpu,cpuacct:/path", "0::/path"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    const std::string mount = root + "/sys/fs/cgroup";
    if (controllers == ",,") sum += ThrottledIn(mount, path, "throttled_usec", 1e-6);
    if (controllers.find(",cpu,") != std::string::npos) {
      sum += ThrottledIn(mount + "/cpu", path, "throttled_time", 1e-9);
    }
  }
  return sum;
}

// Of the lines "cpuN user nice system idle iowait irq softirq steal …".
double StolenSeconds(const std::vector<int>& cpus, const std::string& root) {
  std::ifstream file(root + "/proc/stat");
  double sum = 0;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string name;
    line >> name;
    if (name.compare(0, 3, "cpu") != 0) break;
    const std::vector<int> cpu = CpuListOf(name.substr(3));
    if (cpu.empty() || !std::binary_search(cpus.begin(), cpus.end(), cpu.front())) continue;
    double ticks = 0;
    for (int i = 0; i < 8; ++i) line >> ticks;
    if (line) sum += ticks;
  }
  return sum / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

std::vector<int> CpuListOf(const std::string& text) {
  std::vector<int> cpus;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    int from = 0;
    const char* end = part.data() + part.size();
    auto read = std::from_chars(part.data(), end, from);
    if (read.ec != std::errc{} || from < 0) return {};
    int to = from;
    if (read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, to);
    if (read.ec != std::errc{} || to < from || to >= kMostCpus) return {};
    for (int cpu = from; cpu <= to; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

Machine ThisMachine(const std::string& root) {
  Machine machine;
  machine.cpu_model = ValueIn(root + "/proc/cpuinfo", "model name");
  if (machine.cpu_model.empty()) machine.cpu_model = ValueIn(root + "/proc/cpuinfo", "CPU part");
  machine.cores = static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  machine.memory_bytes = KibIn(root + "/proc/meminfo", "MemTotal");
  machine.available_bytes = KibIn(root + "/proc/meminfo", "MemAvailable");
  machine.cpus = AllowedCpus();
  machine.numa = ByNumaNode(root, machine.cpus);
  return machine;
}

LostTime LostTimeNow(const std::vector<int>& cpus, const std::string& root) {
  return {.throttled_s = ThrottledSeconds(root), .stolen_s = StolenSeconds(cpus, root)};
}

}  // namespace fathom::kernels
