// A job in miniature: makes a group of libfake_gloo.so, waits for a word, does what MODE says.
//
//   victim LIBFAKE_GLOO MODE [ARGUMENT]
//
// It is run with and without libfathom.so preloaded, by preload_test.cc. After making its group it
// prints "ready", and starts when a line comes on stdin, so that the test can map the ring first.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "tests/daemon/tracer/quiet_process.h"
#include "tests/fakes/gloo/drive.h"

namespace {

using fathom::tracer_test::Allocations;
using fathom::tracer_test::ForbidSystemCalls;

constexpr std::int64_t kNumel = 256;
const FakeGloo* fake = nullptr;
void* group = nullptr;

// An op as a job sees it: call, work done, wait, work dropped.
void OneOp(void* on, std::int64_t numel) {
  void* work = fake->allreduce(on, numel);
  fake->execute(work, false);
  fake->wait(work, false);
  fake->drop_work(work);
}

void Ops(int count) {
  for (int i = 0; i < count; ++i) OneOp(group, kNumel);
}

int Quiet(int count) {
  Ops(2);  // the first event of a thread is the cold path
  if (!ForbidSystemCalls()) return 3;
  const unsigned long before = Allocations();
  Ops(count);
  const bool none = Allocations() == before;
  const char* said = none ? "no allocation\n" : "allocations\n";
  const ssize_t wrote = write(1, said, strlen(said));
  syscall(SYS_exit_group, none && wrote > 0 ? 0 : 4);
  return 5;
}

int Reap(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int Fork() {
  Ops(3);
  const pid_t child = fork();
  if (child == 0) {
    Ops(100);
    _exit(7);
  }
  const int code = Reap(child);
  Ops(3);
  return code == 7 ? 0 : 1;
}

// Without the C library: no handler of ours could run.
int RawFork() {
  const long child = syscall(SYS_fork);
  if (child == 0) {
    Ops(100);
    syscall(SYS_exit_group, 7);
  }
  Ops(3);
  return Reap(static_cast<pid_t>(child)) == 7 ? 0 : 1;
}

int ForkInsideOp() {
  const int child = fake->fork_next(group, kNumel);
  if (child == 0) _exit(7);
  return Reap(child) == 7 ? 0 : 1;
}

int ForkAndMakeGroup() {
  const pid_t child = fork();
  if (child == 0) {
    void* own = fake->make_group(1, 2);
    OneOp(own, kNumel);
    printf("child ready\n");
    fflush(stdout);
    char line[16];
    _exit(fgets(line, sizeof(line), stdin) != nullptr ? 7 : 8);
  }
  return Reap(child) == 7 ? 0 : 1;
}

int Spawn(char* self, const char* library) {
  char* const argv[] = {self, const_cast<char*>(library), const_cast<char*>("bare"), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, self, nullptr, nullptr, argv, environ) != 0) return 1;
  return Reap(child);
}

// The child runs in its parent's memory until it is another program, or none.
int Vfork(char* self, const char* library) {
  Ops(3);
  const pid_t ends = vfork();
  if (ends == 0) _exit(7);
  char* const argv[] = {self, const_cast<char*>(library), const_cast<char*>("bare"), nullptr};
  const pid_t becomes = vfork();
  if (becomes == 0) {
    execv(self, argv);
    _exit(8);
  }
  Ops(3);
  return Reap(ends) == 7 && Reap(becomes) == 0 ? 0 : 1;
}

using SpanMark = void (*)(std::uint64_t, std::int64_t, std::uint64_t, std::uint64_t, std::uint64_t);
SpanMark span_mark = nullptr;
volatile sig_atomic_t signals_seen = 0;

void OnSignal(int) {
  span_mark(1, 1, 0, 2, 0);
  signals_seen = signals_seen + 1;
}

// Records written by a signal handler, wherever the thread was at that moment.
int Signals(int count) {
  span_mark = reinterpret_cast<SpanMark>(dlsym(RTLD_DEFAULT, "fathom_mark_span"));
  if (span_mark == nullptr) return 3;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &often, nullptr);
  while (signals_seen < count) Ops(10);
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  return printf("%d signals\n", static_cast<int>(signals_seen)) < 0;
}

int Exec(char* self, const char* library) {
  Ops(3);
  char* const argv[] = {self, const_cast<char*>(library), const_cast<char*>("ops"),
                        const_cast<char*>("5"), nullptr};
  execv(self, argv);
  return 1;
}

int Failures() {
  fake->fail_next(group, 42);
  const bool threw = fake->allreduce(group, kNumel) == reinterpret_cast<void*>(42);
  Ops(1);
  void* work = fake->allreduce(group, kNumel);
  fake->execute(work, true);
  const bool failed = !fake->wait(work, true);
  fake->drop_work(work);
  Ops(1);
  return threw && failed ? 0 : 1;
}

// errno is the host's: no hook may change it, hot or cold.
int Errno() {
  if (errno != 4242) return 1;  // set before the group that turned the tracer on
  void* other = fake->make_group(0, 1);
  OneOp(other, kNumel);
  fake->drop_group(other);
  return errno == 4242 ? 0 : 1;
}

int Storm(int threads) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([] {
      void* own = fake->make_group(0, 1);
      for (int i = 0; i < 20; ++i) OneOp(own, kNumel);
      fake->drop_group(own);
    });
  }
  for (std::thread& thread : all) thread.join();
  return 0;
}

int Kinds() {
  fake->drop_work(fake->broadcast(group, 3, 1));
  fake->monitored_barrier(group);
  OneOp(group, 1000);
  fake->finalize_backward();
  fake->drop_group(group);
  return 0;
}

int Unload(void* library) {
  Ops(3);
  dlclose(library);
  void* tracer = dlopen("libfathom.so", RTLD_LAZY | RTLD_NOLOAD);
  if (tracer != nullptr) dlclose(tracer);
  Ops(3);
  return 0;
}

// A thread that is held inside an op, in a call that pthread_cancel ends.
pthread_t HoldInsideOp() {
  pthread_t held = {};
  pthread_create(
      &held, nullptr,
      [](void*) -> void* {
        void* own = fake->make_group(0, 2);
        OneOp(own, kNumel);
        fake->stop_next(own);
        OneOp(own, kNumel);
        return nullptr;
      },
      nullptr);
  usleep(50'000);
  return held;
}

int Cancel() {
  const pthread_t held = HoldInsideOp();
  void* result = nullptr;
  if (pthread_cancel(held) != 0 || pthread_join(held, &result) != 0) return 1;
  Ops(3);
  return result == PTHREAD_CANCELED ? 0 : 1;
}

int Run(const std::string& mode, char** argv, int count, void* library) {
  if (mode == "ops") return Ops(count), 0;
  if (mode == "quiet") return Quiet(count);
  if (mode == "fork") return Fork();
  if (mode == "raw_fork") return RawFork();
  if (mode == "fork_inside_op") return ForkInsideOp();
  if (mode == "fork_and_make_group") return ForkAndMakeGroup();
  if (mode == "vfork") return Vfork(argv[0], argv[1]);
  if (mode == "signals") return Signals(count);
  if (mode == "spawn") return Spawn(argv[0], argv[1]);
  if (mode == "exec") return Exec(argv[0], argv[1]);
  if (mode == "failures") return Failures();
  if (mode == "errno") return Errno();
  if (mode == "storm") return Storm(count);
  if (mode == "kinds") return Kinds();
  if (mode == "unload") return Unload(library);
  if (mode == "underscore_exit") _exit((Ops(3), 9));
  if (mode == "cancel") return Cancel();
  if (mode == "abort") return HoldInsideOp(), Ops(3), abort(), 1;
  if (mode == "exit_inside_op") return HoldInsideOp(), Ops(3), exit(6), 1;
  if (mode == "stop") return fake->stop_next(group), Ops(1), 1;
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string mode = argv[2];
  if (mode == "bare") return puts("nothing made") < 0;
  if (mode == "full") {  // no space: the file may not grow
    const rlimit none = {4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &none) != 0) return 3;
  }
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), 2;
  fake = static_cast<const FakeGloo*>(dlsym(library, "fake_gloo"));
  if (mode == "failing_group") return fake->make_group(-1, 2) == nullptr ? 0 : 1;
  errno = 4242;
  group = fake->make_group(1, 4);
  const int after = errno;
  printf("ready\n");
  fflush(stdout);
  char line[16];
  if (fgets(line, sizeof(line), stdin) == nullptr) return 2;
  if (mode == "full") return Ops(3), 0;
  errno = after;
  return Run(mode, argv, argc > 3 ? atoi(argv[3]) : 3, library);
}
