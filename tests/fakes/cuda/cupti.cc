// libcupti.so.13 without a GPU: activity records of what the fake driver is asked to do, in buffers
// its client gives, and callbacks at the end of CUDA calls. One subscriber at a time, as up to
// CUDA 13.2. Records and signatures are those of the real header.
#include <cupti.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <mutex>

#include "tests/fakes/cuda/virtual_gpu.h"

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

struct State {
  std::recursive_mutex mutex;
  CUpti_CallbackFunc callback = nullptr;  // of the subscriber
  void* user = nullptr;
  bool domains = false;
  bool kinds[CUPTI_ACTIVITY_KIND_COUNT] = {};
  CUpti_BuffersCallbackRequestFunc requested = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed = nullptr;
  uint8_t* buffer = nullptr;
  size_t bytes = 0;
  size_t used = 0;
  int finalized = 0;
  // Blocks handed out with overheads and not freed by whoever read the record.
  std::atomic<void*> details[64] = {};
};
State state;

void Observe(const fake_cuda::Work& work);

void Attach(bool on) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto observe =
      reinterpret_cast<void (*)(fake_cuda::Observer)>(dlsym(driver, "fake_cuda_observe"));
  if (observe != nullptr) observe(on ? Observe : nullptr);
}

void HandOver() {
  if (state.buffer != nullptr) {
    state.completed(nullptr, 0, state.buffer, state.bytes, state.used);
  }
  state.buffer = nullptr;
  state.used = state.bytes = 0;
}

template <typename Record>
void Add(const Record& record) {
  if (state.used + sizeof(Record) > state.bytes) HandOver();
  size_t most = 0;
  if (state.buffer == nullptr) state.requested(&state.buffer, &state.bytes, &most);
  if (state.buffer == nullptr) return;
  memcpy(state.buffer + state.used, &record, sizeof(record));
  state.used += sizeof(record);
}

void AddKernel(const fake_cuda::Work& work) {
  CUpti_ActivityKernel13 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = static_cast<uint64_t>(work.start_ns);
  record.end = static_cast<uint64_t>(work.end_ns);
  record.streamId = work.stream == nullptr ? 7 : 13;
  record.correlationId = 5;
  record.name = work.name;
  Add(record);
}

template <typename Record>
void AddTransfer(const fake_cuda::Work& work, CUpti_ActivityKind kind) {
  Record record = {};
  record.kind = kind;
  record.start = static_cast<uint64_t>(work.start_ns);
  record.end = static_cast<uint64_t>(work.end_ns);
  record.bytes = 8;
  record.streamId = work.stream == nullptr ? 7 : 13;
  Add(record);
}

void AddSync(const fake_cuda::Work& work) {
  CUpti_ActivitySynchronization2 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  record.start = static_cast<uint64_t>(work.start_ns);
  record.end = static_cast<uint64_t>(work.end_ns);
  record.streamId = work.stream == nullptr ? 7 : 13;
  Add(record);
}

void AddOverhead(CUpti_ActivityOverheadKind kind, uint64_t start, uint64_t lasts) {
  CUpti_ActivityOverhead3 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  record.overheadKind = kind;
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.start = start;
  record.end = start + lasts;
  if (kind == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL) {
    record.overheadData = calloc(1, sizeof(CUpti_ActivityOverheadCommandBufferFullData));
    for (std::atomic<void*>& place : state.details) {
      void* none = nullptr;
      if (place.compare_exchange_strong(none, record.overheadData)) break;
    }
  }
  Add(record);
}

// With each copy: of CUPTI, of the driver with details, and one without times.
void AddOverheads(const fake_cuda::Work& work) {
  const auto now = static_cast<uint64_t>(work.start_ns);
  AddOverhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION, now, 300);
  AddOverhead(CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL, now, 70);
  AddOverhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE, 0, 0);
}

size_t BytesOf(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel13);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return sizeof(CUpti_ActivityOverhead3);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    default:
      return sizeof(CUpti_ActivityMemset4);
  }
}

void Observe(const fake_cuda::Work& work) {
  const std::lock_guard lock(state.mutex);
  if (work.kind == fake_cuda::Work::kKernel && state.kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]) {
    AddKernel(work);
  } else if (work.kind == fake_cuda::Work::kCopy && state.kinds[CUPTI_ACTIVITY_KIND_MEMCPY]) {
    AddTransfer<CUpti_ActivityMemcpy6>(work, CUPTI_ACTIVITY_KIND_MEMCPY);
    if (state.kinds[CUPTI_ACTIVITY_KIND_OVERHEAD]) AddOverheads(work);
  } else if (work.kind == fake_cuda::Work::kMemset && state.kinds[CUPTI_ACTIVITY_KIND_MEMSET]) {
    AddTransfer<CUpti_ActivityMemset4>(work, CUPTI_ACTIVITY_KIND_MEMSET);
  } else if (work.kind == fake_cuda::Work::kSync &&
             state.kinds[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION]) {
    AddSync(work);
  }
  if (!state.domains || state.callback == nullptr) return;
  CUpti_CallbackData data = {};
  for (const CUpti_ApiCallbackSite site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    data.callbackSite = site;
    if (state.callback == nullptr) return;
    state.callback(state.user, CUPTI_CB_DOMAIN_DRIVER_API, 1, &data);
  }
}

}  // namespace

FAKE int fake_cupti_attached() { return state.callback != nullptr; }
FAKE int fake_cupti_finalized() { return state.finalized; }
// For the host's free: notes that `at` was one of the blocks.
FAKE void fake_cupti_freed(void* at) {
  for (std::atomic<void*>& place : state.details) {
    void* expected = at;
    if (place.compare_exchange_strong(expected, nullptr)) return;
  }
}
FAKE int fake_cupti_unfreed() {
  int count = 0;
  for (std::atomic<void*>& place : state.details) count += place.load() != nullptr;
  return count;
}

FAKE CUptiResult cuptiGetVersion(uint32_t* version) {
  const char* text = getenv("FAKE_CUPTI_VERSION");
  *version = text == nullptr ? CUPTI_API_VERSION : static_cast<uint32_t>(atoi(text));
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiGetTimestamp(uint64_t* stamp) {
  *stamp = static_cast<uint64_t>(fake_cuda::NowNs());
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                void* user) {
  const std::lock_guard lock(state.mutex);
  if (state.callback != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  state.callback = callback;
  state.user = user;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&state);
  Attach(true);
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  const std::lock_guard lock(state.mutex);
  state.callback = nullptr;
  state.domains = false;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain) {
  const std::lock_guard lock(state.mutex);
  state.domains = enable != 0;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                CUpti_BuffersCallbackCompleteFunc completed) {
  const std::lock_guard lock(state.mutex);
  state.requested = requested;
  state.completed = completed;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(state.mutex);
  if (kind == CUPTI_ACTIVITY_KIND_OVERHEAD && getenv("FAKE_CUPTI_NO_OVERHEAD") != nullptr) {
    return CUPTI_ERROR_INVALID_KIND;
  }
  state.kinds[kind] = true;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(state.mutex);
  state.kinds[kind] = false;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityFlushAll(uint32_t) {
  const std::lock_guard lock(state.mutex);
  HandOver();
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid,
                                            CUpti_Activity** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<uint8_t*>(*record) + BytesOf((*record)->kind);
  }
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiFinalize() {
  const std::lock_guard lock(state.mutex);
  ++state.finalized;
  state.callback = nullptr;
  state.domains = false;
  memset(state.kinds, 0, sizeof(state.kinds));
  Attach(false);
  return CUPTI_SUCCESS;
}
