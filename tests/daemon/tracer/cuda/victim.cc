// A job with a simulated GPU: makes a group of libfake_gloo.so, waits for a word, does what MODE
// says with the jobs beside it, and reports what it saw.
//
//   cuda_victim LIBFAKE_GLOO MODE [ARGUMENT]
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "tests/daemon/tracer/cuda/job.h"
#include "tests/daemon/tracer/quiet_process.h"
#include "tests/fakes/gloo/drive.h"

extern "C" int fake_cupti_attached();
extern "C" int fake_cupti_finalized();
extern "C" void fake_cupti_freed(void* at);
extern "C" int fake_cupti_unfreed();
extern "C" void __libc_free(void* at);
extern "C" void free(void* at) {
  if (at != nullptr) fake_cupti_freed(at);
  __libc_free(at);
}

namespace {

const FakeGloo* fake = nullptr;
void* group = nullptr;
std::string folder;

void Communicate() {
  void* work = fake->allreduce(group, 256);
  fake->execute(work, false);
  fake->wait(work, false);
  fake->drop_work(work);
}

const CudaJob* Load(const char* file) {
  void* library = dlopen((folder + "/" + file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), nullptr;
  return static_cast<const CudaJob*>(dlsym(library, "cuda_job"));
}

unsigned long long Ran(const char* counter) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto count = reinterpret_cast<unsigned long long (*)()>(dlsym(driver, counter));
  return count();
}

int Report() {
  printf("kernels %llu copies %llu\n", Ran("fake_cuda_kernels"), Ran("fake_cuda_copies"));
  return 0;
}

int Steps(const CudaJob* job, int count) {
  for (int i = 0; i < count; ++i) {
    job->step();
    Communicate();
  }
  return Report();
}

// What a window leaves behind in CUPTI.
int Windowed(const CudaJob* job, int count) {
  for (int i = 0; i < count; ++i) {
    job->synchronize();
    Steps(job, 1);
  }
  job->launch(1);
  printf("attached %d finalized %d\n", fake_cupti_attached(), fake_cupti_finalized());
  printf("details not freed %d\n", fake_cupti_unfreed());
  return 0;
}

// The job's own profiler comes in the middle.
int Profiled(const CudaJob* job, int count) {
  Steps(job, count / 2);
  CUpti_SubscriberHandle subscriber = nullptr;
  const auto ignore = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
  const CUptiResult result = cuptiSubscribe(&subscriber, ignore, nullptr);
  Steps(job, count / 2);
  printf("subscribed %d attached %d finalized %d\n", result, fake_cupti_attached(),
         fake_cupti_finalized());
  return 0;
}

int TwoRuntimes(const CudaJob* job) {
  const CudaJob* other = Load("libcuda_job_12.so");
  for (int i = 0; i < 3; ++i) {
    job->launch(1);
    other->launch(2);
  }
  Communicate();
  printf("13: %llu, 12: %llu\n", job->launches(), other->launches());
  return Report();
}

// Without any runtime, as Triton and cuBLASLt do.
int DriverOnly() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto launch = reinterpret_cast<PFN_cuLaunchKernel_v4000>(dlsym(driver, "cuLaunchKernel"));
  for (int i = 0; i < 5; ++i) launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  const auto ask = reinterpret_cast<PFN_cuGetProcAddress_v11030>(dlsym(driver, "cuGetProcAddress"));
  const auto get = [&](const char* name, int version, cuuint64_t flags) {
    void* found = nullptr;
    return ask(name, &found, version, flags) == CUDA_SUCCESS ? found : nullptr;
  };
  const auto per_thread =
      reinterpret_cast<PFN_cuLaunchKernel_v7000_ptsz>(get("cuLaunchKernel", 12000, 2));
  for (int i = 0; i < 7; ++i) per_thread(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  const auto newest = reinterpret_cast<PFN_cuGetProcAddress_v12000>(
      get("cuGetProcAddress", 12000, CU_GET_PROC_ADDRESS_DEFAULT));
  void* again = nullptr;
  newest("cuLaunchKernel", &again, 12080, CU_GET_PROC_ADDRESS_LEGACY_STREAM, nullptr);
  Communicate();
  printf("same %d\n", again == reinterpret_cast<void*>(launch));

  // Functions whose signature no hook knows must come as they are.
  const auto old = reinterpret_cast<CUresult (*)(void*, unsigned, unsigned)>(
      get("cuMemcpyDtoH", 3000, CU_GET_PROC_ADDRESS_DEFAULT));
  const auto future = reinterpret_cast<CUresult (*)(CUfunction, int)>(
      get("cuLaunchKernel", 99000, CU_GET_PROC_ADDRESS_DEFAULT));
  const auto by_name =
      reinterpret_cast<CUresult (*)(void*, unsigned, unsigned)>(dlsym(driver, "cuMemcpyDtoH"));
  printf("old %d future %d by name %d absent %d\n", old(nullptr, 1, 0x51515151), future(nullptr, 1),
         by_name(nullptr, 1, 0x51515151), dlsym(driver, "cuNoSuchThing") == nullptr);
  return Report();
}

// RTLD_NEXT means: after the caller. From here that includes whatever is preloaded.
int Scopes(const CudaJob* job) {
  const bool next = dlsym(RTLD_NEXT, "main") == nullptr;
  const bool preloaded = dlsym(RTLD_NEXT, "fathom_python_version") != nullptr;
  printf("own scope %d, not itself %d\n", job->sees_own_scope(), next);
  return preloaded == (getenv("LD_PRELOAD") != nullptr) ? 0 : 1;
}

int Quiet(const CudaJob* job, int count) {
  job->launch(100);
  Communicate();
  if (!fathom::tracer_test::ForbidSystemCalls()) return 3;
  const unsigned long before = fathom::tracer_test::Allocations();
  for (int i = 0; i < count; ++i) job->launch(1);
  const bool none = fathom::tracer_test::Allocations() == before;
  const char* said = none ? "no allocation\n" : "allocations\n";
  const ssize_t wrote = write(1, said, strlen(said));
  syscall(SYS_exit_group, none && wrote > 0 ? 0 : 4);
  return 5;
}

int Threads(const CudaJob* job, int count) {
  std::vector<std::thread> all;
  for (int t = 0; t < count; ++t) {
    all.emplace_back([job] {
      job->launch(8192);
      Communicate();
    });
  }
  for (std::thread& thread : all) thread.join();
  return Report();
}

double NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// ns a call, in batches of 64, with what the fake itself costs.
int Bench(const CudaJob* job, int batches) {
  std::vector<double> each;
  for (int i = 0; i < batches; ++i) {
    const double begin = NowNs();
    job->launch(64);
    each.push_back((NowNs() - begin) / 64);
    usleep(200);  // keeps the queue from filling
  }
  std::sort(each.begin(), each.end());
  printf("p10 %.1f p50 %.1f\n", each[each.size() / 10], each[each.size() / 2]);
  return 0;
}

int Run(const std::string& mode, const CudaJob* job, int count) {
  if (mode == "steps") return Steps(job, count);
  if (mode == "window") return Windowed(job, count);
  if (mode == "profiler") return Profiled(job, count);
  if (mode == "two_runtimes") return TwoRuntimes(job);
  if (mode == "driver") return DriverOnly();
  if (mode == "scopes") return Scopes(job);
  if (mode == "quiet") return Quiet(job, count);
  if (mode == "threads") return Threads(job, count);
  if (mode == "bench") return Bench(job, count);
  if (mode == "capture") return job->capture(), Communicate(), Report();
  if (mode == "spoilt_capture") return job->spoilt_capture(), Communicate(), Report();
  if (mode == "passed_capture") return job->passed_capture(), Communicate(), Report();
  if (mode == "waits") return job->waits(), Report();
  if (mode == "stall") return job->stall(), 0;
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string program = argv[0];
  folder = program.substr(0, program.rfind('/'));
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), 2;
  fake = static_cast<const FakeGloo*>(dlsym(library, "fake_gloo"));
  const CudaJob* job = Load("libcuda_job_13.so");
  if (job == nullptr) return 2;
  group = fake->make_group(1, 4);
  printf("ready\n");
  fflush(stdout);
  char line[16];
  if (fgets(line, sizeof(line), stdin) == nullptr) return 2;
  return Run(argv[2], job, argc > 3 ? atoi(argv[3]) : 3);
}
