#include "daemon/agent/source/hardware/source_runner.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/service/mutex.h"

namespace fathom::agent {
namespace {

constexpr std::chrono::milliseconds kFarewell{500};

double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

struct SourceRunner::Worker {
  Worker(std::unique_ptr<HardwareSource> of, const std::function<MonoNs()>& now, RunnerPace at)
      : source(std::move(of)), doing(now), pace(at) {
    state.name = source->name();
    state.state = "starts";
  }

  void Note(const absl::Status& status, std::vector<Reading> readings, double cpu, Nanos rest)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Seconds of rest that keep samples of so much processor time within the source's budget.
  double LeastRest(double cpu) const { return cpu / std::max(source->budget(), 1e-6); }
  Nanos RestAfter(const absl::Status& status, double cpu) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  const std::unique_ptr<HardwareSource> source;
  CallInProgress doing;
  mutable service::Mutex mutex;
  RunnerPace pace ABSL_GUARDED_BY(mutex);
  service::ConditionVariable wake;
  std::vector<Reading> fresh ABSL_GUARDED_BY(mutex);
  SourceState state ABSL_GUARDED_BY(mutex);
  bool stop ABSL_GUARDED_BY(mutex) = false;
  bool ended ABSL_GUARDED_BY(mutex) = false;
  std::thread thread;
};

void SourceRunner::Worker::Note(const absl::Status& status, std::vector<Reading> readings,
                                double cpu, Nanos rest) {
  ++state.samples;
  state.cpu_seconds += cpu;
  state.rest = rest;
  if (status.ok()) state.least_rest_s = LeastRest(cpu);
  state.state = status.ok() ? "on" : absl::IsNotFound(status) ? "missing" : "failed";
  state.reason = std::string(status.message());
  if (status.ok()) fresh = std::move(readings);
}

Nanos SourceRunner::Worker::RestAfter(const absl::Status& status, double cpu) const {
  if (!status.ok()) return pace.retry;
  const Nanos wanted = Nanos::FromSeconds(LeastRest(cpu));
  return std::clamp(wanted, pace.pace, std::max(pace.pace, kLongestRest));
}

SourceRunner::SourceRunner(std::vector<std::unique_ptr<HardwareSource>> sources,
                           std::function<MonoNs()> now, const RunnerPace& pace)
    : pace_(pace), now_(std::move(now)) {
  for (auto& source : sources) {
    auto worker = std::make_shared<Worker>(std::move(source), now_, pace);
    worker->thread = std::thread([worker] { Run(worker); });
    workers_.push_back(std::move(worker));
  }
}

void SourceRunner::Run(const std::shared_ptr<Worker>& worker) {
  service::MutexLock lock(worker->mutex);
  while (!worker->stop) {
    lock.Unlock();
    const double before = ThreadCpuSeconds();
    std::vector<Reading> readings;
    const absl::Status status = worker->source->Sample(worker->doing, readings);
    worker->doing.Leave();
    const double cpu = ThreadCpuSeconds() - before;
    lock.Lock();
    const Nanos rest = worker->RestAfter(status, cpu);
    worker->Note(status, std::move(readings), cpu, rest);
    worker->wake.WaitFor(worker->mutex, std::chrono::nanoseconds(rest.count),
                         [&]()
                             ABSL_EXCLUSIVE_LOCKS_REQUIRED(worker->mutex) { return worker->stop; });
  }
  worker->ended = true;
  worker->wake.NotifyAll();
}

SourceRunner::~SourceRunner() {
  for (const auto& worker : workers_) {
    const service::MutexLock lock(worker->mutex);
    worker->stop = true;
    worker->wake.NotifyAll();
  }
  const auto until = std::chrono::steady_clock::now() + kFarewell;
  for (const auto& worker : workers_) {
    service::MutexLock lock(worker->mutex);
    const bool ended = worker->wake.WaitUntil(
        worker->mutex, until,
        [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(worker->mutex) { return worker->ended; });
    std::thread thread = std::move(worker->thread);
    lock.Unlock();
    if (ended) {
      thread.join();
    } else {
      thread.detach();
    }
  }
}

void SourceRunner::SetPace(Nanos pace) {
  for (const auto& worker : workers_) {
    const service::MutexLock lock(worker->mutex);
    worker->pace.pace = pace;
  }
}

std::vector<Reading> SourceRunner::Take() {
  std::vector<Reading> all;
  for (const auto& worker : workers_) {
    const service::MutexLock lock(worker->mutex);
    for (Reading& reading : worker->fresh) all.push_back(std::move(reading));
    worker->fresh.clear();
  }
  return all;
}

std::vector<SourceState> SourceRunner::States() const {
  std::vector<SourceState> states;
  for (const auto& worker : workers_) {
    const service::MutexLock lock(worker->mutex);
    SourceState state = worker->state;
    const char* call = worker->doing.call();
    if (call != nullptr && now_() - worker->doing.since() > pace_.patience) {
      const int device = worker->doing.device();
      state.state = "hangs";
      state.reason = absl::StrCat(call, device < 0 ? "" : absl::StrCat(" of device ", device),
                                  " does not return");
    }
    states.push_back(std::move(state));
  }
  return states;
}

bool SourceRunner::AllTried() const {
  const std::vector<SourceState> states = States();
  return std::all_of(states.begin(), states.end(),
                     [](const SourceState& state) { return state.state != "starts"; });
}

}  // namespace fathom::agent
