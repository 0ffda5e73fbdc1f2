// A job that does what breaks guests, before its first op or after some; it prints how far it came.
//
//   hostile_host LIBFAKE_GLOO first|later WHAT
//   hostile_host LIBCUDA - unload|ask [by_table]
//
// laws_test.py compares what it says and how it ends with a run without the tracer.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fakes/gloo/drive.h"

// How many reservations of space are interrupted from now on.
static int interruptions = 0;
extern "C" __attribute__((visibility("default"))) int posix_fallocate(int fd, off_t from,
                                                                      off_t bytes) {
  if (interruptions-- > 0) return EINTR;
  return fallocate(fd, 0, from, bytes) == 0 ? 0 : errno;
}

namespace {

const FakeGloo* fake = nullptr;

void OpsOf(void* group, int count) {
  for (int i = 0; i < count; ++i) {
    void* work = fake->allreduce(group, 64);
    fake->execute(work, false);
    fake->wait(work, false);
    fake->drop_work(work);
  }
}

void Ops(int count) {
  static void* group = fake->make_group(0, 2);
  OpsOf(group, count);
}

int OnThread(void* (*run)(void*)) {
  pthread_t thread;
  void* result = nullptr;
  if (pthread_create(&thread, nullptr, run, nullptr) != 0) return -1;
  pthread_join(thread, &result);
  return static_cast<int>(reinterpret_cast<std::intptr_t>(result));
}

// Nothing in the job's own calls is a point at which a thread is cancelled.
void* WhileToBeCancelled(void*) {
  pthread_cancel(pthread_self());
  Ops(2);
  return reinterpret_cast<void*>(5);
}

bool Limit(__rlimit_resource what, rlim_t value) {
  const rlimit limit = {value, value};
  return setrlimit(what, &limit) == 0;
}

void* OfAFurtherThread(void*) {
  void* group = fake->make_group(0, 3);
  OpsOf(group, 20);
  fake->drop_group(group);
  return reinterpret_cast<void*>(5);
}

// The smallest stack that a thread may have.
bool OnTinyStacks() {
  pthread_attr_t least;
  pthread_t thread;
  pthread_attr_init(&least);
  pthread_attr_setstacksize(&least, static_cast<std::size_t>(PTHREAD_STACK_MIN));
  if (pthread_create(&thread, &least, OfAFurtherThread, nullptr) != 0) return false;
  return pthread_join(thread, nullptr) == 0;
}

std::atomic<bool> enough{false};
void* UntilEnough(void*) {
  void* group = fake->make_group(0, 2);
  while (!enough) OpsOf(group, 10);
  return nullptr;
}

// Children that go on as their parent did, while its other threads write records.
bool ForkBesideWriters() {
  pthread_t threads[3];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, UntilEnough, nullptr);
  bool all = true;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      Ops(3);
      OfAFurtherThread(nullptr);
      _exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    all = all && WIFEXITED(status) && WEXITSTATUS(status) == 7;
  }
  enough = true;
  for (const pthread_t& thread : threads) pthread_join(thread, nullptr);
  return all;
}

bool MakeManyGroups() {
  std::vector<void*> groups;
  for (int i = 0; i < 2000; ++i) OpsOf(groups.emplace_back(fake->make_group(0, 2)), 1);
  for (void* group : groups) fake->drop_group(group);
  return true;
}

// By the name under which it was opened.
bool HasRing() {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find("-0.new") != std::string::npos;
}

bool Do(const std::string& what) {
  if (what == "interrupted") return interruptions = 3, Ops(1), HasRing();
  if (what == "close_all") return syscall(SYS_close_range, 3U, ~0U, 0U) == 0;
  if (what == "no_files") return Limit(RLIMIT_NOFILE, 0) && Limit(RLIMIT_FSIZE, 4096);
  if (what == "locked") return mlockall(MCL_CURRENT | MCL_FUTURE) == 0 || errno == ENOMEM;
  if (what == "chroot") return chdir("/proc/self") == 0 && chroot("fdinfo") == 0;
  if (what == "other_user") return setuid(65534) == 0;
  if (what == "namespaces") return unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC) == 0;
  if (what == "tiny_stacks") return OnTinyStacks();
  if (what == "forks") return ForkBesideWriters();
  if (what == "groups") return MakeManyGroups();
  if (what == "no_counter") return prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0;
  if (what == "cancel") return OnThread(WhileToBeCancelled) == 5;
  return false;
}

using StreamSync = int (*)(void* stream);
using GetProcAddress = int (*)(const char*, void**, int, std::uint64_t, int*);

StreamSync Find(void* driver, bool by_table) {
  if (!by_table) return reinterpret_cast<StreamSync>(dlsym(driver, "cuStreamSynchronize"));
  const auto ask = reinterpret_cast<GetProcAddress>(dlsym(driver, "cuGetProcAddress_v2"));
  void* found = nullptr;
  int status = 0;
  ask("cuStreamSynchronize", &found, 12000, 0, &status);
  return reinterpret_cast<StreamSync>(found);
}

int Ask(const char* file, bool by_table) {
  void* driver = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return 2;
  for (int i = 0; i < 2; ++i) printf("%d\n", Find(driver, by_table)(nullptr));
  return 0;
}

// Looks whether there is a driver, lets it go, and takes it up again: it lies elsewhere then.
int Unload(const char* file, bool by_table) {
  void* driver = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return 2;
  printf("%d\n", Find(driver, by_table)(nullptr));
  dlclose(driver);
  for (int i = 0; i < 4000; ++i) {
    mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  driver = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  printf("%d\n", Find(driver, by_table)(nullptr));
  printf("%d\n", Find(RTLD_DEFAULT, false)(nullptr));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string when = argv[2], what = argv[3];
  if (what == "ask") return Ask(argv[1], argc > 4);
  if (what == "unload") return Unload(argv[1], argc > 4);
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), 2;
  fake = static_cast<const FakeGloo*>(dlsym(library, "fake_gloo"));
  if (when == "later") Ops(3);
  puts(Do(what) ? "did" : "did not");
  Ops(3);
  puts("done");
  return 0;
}
