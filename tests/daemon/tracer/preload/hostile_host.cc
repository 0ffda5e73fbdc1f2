// A job that does what breaks guests, before its first op or after some; it prints how far it came.
//
//   hostile_host LIBFAKE_GLOO first|later WHAT
//   hostile_host LIBCUDA - unload [by_table]
//
// laws_test.py compares what it says and how it ends with a run without the tracer.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cstdint>
#include <string>

#include "tests/fakes/gloo/drive.h"

namespace {

const FakeGloo* fake = nullptr;

void Ops(int count) {
  static void* group = fake->make_group(0, 2);
  for (int i = 0; i < count; ++i) {
    void* work = fake->allreduce(group, 64);
    fake->execute(work, false);
    fake->wait(work, false);
    fake->drop_work(work);
  }
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

bool Do(const std::string& what) {
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
