// What the tracer costs a call, in nanoseconds, on the real interposed path.
//
//   record_bench [CALLS]
//
// It starts itself again with libfathom.so preloaded and drives two copies of the stand-in for
// PyTorch's Gloo: libfake_gloo.so, whose calls go through the preload, and libfake_gloo_bare.so,
// the same code bound inside, which do not. Calls of both alternate; each is timed by the CPU's
// time-stamp counter. "added" is the difference of the quantiles. A second table compares ways to
// hand out places in the ring. Results and what follows from them: docs/design/0001-ring.md.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/tracer/core/ring/ring_writer.h"
#include "tests/fakes/gloo/drive.h"

namespace {

using fathom::abi::EventRecord;
using fathom::tracer::Region;

double NsPerTick() {
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t first = __rdtsc();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(200)) {
  }
  const std::uint64_t ticks = __rdtsc() - first;
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
  return passed.count() / static_cast<double>(ticks);
}

template <typename F>
std::uint64_t Ticks(F&& call) {
  unsigned aux;
  const std::uint64_t begin = __rdtscp(&aux);
  call();
  return __rdtscp(&aux) - begin;
}

double Quantile(std::vector<std::uint64_t>& ticks, double q, double ns_per_tick) {
  const auto at = static_cast<std::size_t>(q * static_cast<double>(ticks.size() - 1));
  std::nth_element(ticks.begin(), ticks.begin() + static_cast<std::ptrdiff_t>(at), ticks.end());
  return static_cast<double>(ticks[at]) * ns_per_tick;
}

void Row(const char* name, std::vector<std::uint64_t>& bare, std::vector<std::uint64_t>& traced,
         int records, double ns) {
  const double b50 = Quantile(bare, 0.5, ns);
  const double t50 = Quantile(traced, 0.5, ns);
  const double b99 = Quantile(bare, 0.99, ns);
  const double t99 = Quantile(traced, 0.99, ns);
  printf("%-28s %7d %9.0f %9.0f %9.0f %9.0f %9.0f %9.0f\n", name, records, b50, t50, t50 - b50, b99,
         t99, t99 - b99);
}

const FakeGloo* Load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : static_cast<const FakeGloo*>(dlsym(library, "fake_gloo"));
}

// The stages of an op, timed one by one, on one copy of the stand-in.
struct Stages {
  std::vector<std::uint64_t> call, execute, wait, drop;
  void OneOp(const FakeGloo& fake, void* group) {
    void* work = nullptr;
    call.push_back(Ticks([&] { work = fake.allreduce(group, 1000); }));
    execute.push_back(Ticks([&] { fake.execute(work, false); }));
    wait.push_back(Ticks([&] { fake.wait(work, false); }));
    drop.push_back(Ticks([&] { fake.drop_work(work); }));
  }
};

volatile std::uint64_t sink;

// Of what a traced call cannot do without: the counter, read at its entry and at its return.
void Floor(int calls, double ns) {
  std::vector<std::uint64_t> nothing, readings;
  for (int i = 0; i < calls; ++i) {
    nothing.push_back(Ticks([] {}));
    readings.push_back(Ticks([] {
      sink = __rdtsc();
      sink = __rdtsc();
    }));
  }
  Row("two readings of the counter", nothing, readings, 0, ns);
}

// Calls without a reading of the counter around each, of which those before and after it would wait
// for one another: ticks a call of kInARow.
void CallsInARow(const FakeGloo& fake, void* group, std::vector<std::uint64_t>& ticks) {
  constexpr int kInARow = 64;
  void* works[kInARow];
  ticks.push_back(Ticks([&] {
                    for (void*& work : works) work = fake.allreduce(group, 1000);
                  }) /
                  kInARow);
  for (void* work : works) fake.drop_work(work);
}

void Calls(const std::string& folder, int calls, double ns) {
  const FakeGloo* through = Load(folder + "/libfake_gloo.so");
  const FakeGloo* bare = Load(folder + "/libfake_gloo_bare.so");
  if (through == nullptr || bare == nullptr) exit(2);
  void* group = through->make_group(0, 1);
  void* bare_group = bare->make_group(0, 1);
  Stages traced;
  Stages untraced;
  for (int i = 0; i < calls; ++i) {
    traced.OneOp(*through, group);
    untraced.OneOp(*bare, bare_group);
  }
  printf("%-28s %7s %9s %9s %9s %9s %9s %9s\n", "ns", "records", "bare p50", "traced", "added",
         "bare p99", "traced", "added");
  Row("all_reduce at the API", untraced.call, traced.call, 1, ns);
  Row("execution on the worker", untraced.execute, traced.execute, 2, ns);
  Row("wait", untraced.wait, traced.wait, 2, ns);
  Row("end of the work object", untraced.drop, traced.drop, 0, ns);
  std::vector<std::uint64_t> bare_row, traced_row;
  for (int i = 0; i < calls / 16; ++i) {
    CallsInARow(*through, group, traced_row);
    CallsInARow(*bare, bare_group, bare_row);
  }
  Row("all_reduce, 64 in a row", bare_row, traced_row, 1, ns);
  Floor(calls, ns);
}

// A ring in ordinary memory.
struct Ring {
  Ring() : control(std::make_unique<fathom::abi::ControlBlock>()), records(16 * 1024) {
    region.control = control.get();
    region.records = records.data();
    region.slot_mask = records.size() - 1;
  }
  std::unique_ptr<fathom::abi::ControlBlock> control;
  std::vector<EventRecord> records;
  Region region;
};

// ns a record with `threads` writers at once, each in `rings[i % rings.size()]`.
double NsPerRecord(int threads, std::vector<Ring>& rings) {
  constexpr int kEach = 2'000'000;
  std::atomic<bool> go{false};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      EventRecord record = {};
      while (!go.load()) {
      }
      const Region& region = rings[static_cast<std::size_t>(t) % rings.size()].region;
      for (int i = 0; i < kEach; ++i) fathom::tracer::AppendRecord(region, record);
    });
  }
  const auto begin = std::chrono::steady_clock::now();
  go.store(true);
  for (std::thread& thread : all) thread.join();
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
  const double writers =
      std::min<double>(threads, std::max(1u, std::thread::hardware_concurrency()));
  return passed.count() * writers / (static_cast<double>(threads) * kEach);
}

void Reservation() {
  printf("\n%-28s %12s %12s\n", "ns a record (CPU)", "1 thread", "4 threads");
  for (const bool own : {false, true}) {
    double ns[2];
    for (const int threads : {1, 4}) {
      std::vector<Ring> rings(own ? static_cast<std::size_t>(threads) : 1);
      ns[threads == 4] = NsPerRecord(threads, rings);
    }
    printf("%-28s %12.1f %12.1f\n", own ? "a ring for each thread" : "one ring, fetch_add", ns[0],
           ns[1]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string folder = std::filesystem::path(self).parent_path();
  if (getenv("LD_PRELOAD") == nullptr) {
    std::string rings = "/dev/shm/fathom-bench-XXXXXX";
    if (mkdtemp(rings.data()) == nullptr) return 1;
    setenv("LD_PRELOAD", (folder + "/../libfathom.so").c_str(), 1);
    setenv("FATHOM_SHM_DIR", rings.c_str(), 1);
    execv(self.c_str(), argv);
    return 1;
  }
  const double ns = NsPerTick();
  Calls(folder, argc > 1 ? atoi(argv[1]) : 200'000, ns);
  Reservation();
  std::error_code ignored;
  std::filesystem::remove_all(getenv("FATHOM_SHM_DIR"), ignored);
}
