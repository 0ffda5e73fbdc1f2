#include "tests/daemon/tracer/nccl/profiler_side.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <string>

namespace fathom::nccl_side {
namespace {

constexpr std::uint64_t kPadding = 0xabcdef5a5a5a5a00;
constexpr int kRank = 1;

void Log(int, unsigned long, const char*, int, const char*, ...) {}

bool Is(const char* one, const char* other) { return strcmp(one, other) == 0; }

std::size_t ElementBytes(const char* type) { return Is(type, "ncclInt8") ? 1 : 4; }

void* NotWritten() { return reinterpret_cast<void*>(0x5eed5eed5eed5eed); }

}  // namespace

bool Call::IsMessage() const { return Is(function, "Send") || Is(function, "Recv"); }

Call Call::Launched() const {
  Call launched = *this;
  if (!Is(function, "AllGather") && !Is(function, "Broadcast")) return launched;
  launched.count = count * ElementBytes(type);
  launched.type = "ncclInt8";
  return launched;
}

ProfilerSide::ProfilerSide(int version) : version_(version) {
  const std::string name = "ncclProfiler_v" + std::to_string(version);
  table_ = static_cast<const Table*>(dlsym(dlopen(nullptr, RTLD_NOW), name.c_str()));
}

void ProfilerSide::Expect(bool holds, const char* what) {
  if (holds) return;
  printf("fault: %s\n", what);
  faults_.fetch_add(1);
}

void* ProfilerSide::Init(std::uint64_t id, int ranks, int rank) {
  void* context = NotWritten();
  int result = -1;
  if (version_ == 3) {
    result = reinterpret_cast<int (*)(void**, int*)>(table_->init)(&context, &mask_);
  } else if (version_ == 4) {
    result =
        reinterpret_cast<int (*)(void**, int*, const char*, std::uint64_t, int, int, int, void*)>(
            table_->init)(&context, &mask_, "", id, 1, ranks, rank, reinterpret_cast<void*>(&Log));
  } else {
    result =
        reinterpret_cast<int (*)(void**, std::uint64_t, int*, const char*, int, int, int, void*)>(
            table_->init)(&context, id, &mask_, "", 1, ranks, rank, reinterpret_cast<void*>(&Log));
  }
  Expect(result == 0 && context != NotWritten(), "init");
  return context;
}

void ProfilerSide::Finalize(void* context) { Expect(table_->finalize(context) == 0, "finalize"); }

void* ProfilerSide::Start(void* context, std::uint64_t type, void* parent, int rank, Event& event) {
  event.type = version_ < 5 ? (type & 0xff) | kPadding : type;
  event.parent = parent;
  event.rank = rank;
  void* handle = NotWritten();
  Expect(table_->start(context, &handle, &event) == 0 && handle != NotWritten(), "startEvent");
  return handle;
}

void* ProfilerSide::StartCall(void* context, const Call& call) {
  if (version_ < 5) return nullptr;
  Event event = {};
  if (call.IsMessage()) {
    event.p2p_api = {call.function, call.count, call.type, nullptr, call.captured};
    return Start(context, kP2pApi, nullptr, kRank, event);
  }
  event.coll_api = {call.function, call.count, call.type, call.peer, nullptr, call.captured};
  return Start(context, kCollApi, nullptr, kRank, event);
}

void* ProfilerSide::StartLaunched(void* context, const Call& user, void* parent) {
  const Call call = user.Launched();
  Event event = {};
  if (call.IsMessage() && version_ == 3) {
    event.p2p3 = {"", 1, call.function, nullptr, call.type, call.count, call.peer};
  } else if (call.IsMessage()) {
    event.p2p = {call.function, nullptr, call.type, call.count, call.peer, call.channels, nullptr};
  } else if (version_ == 3) {
    event.coll3 = {"",      1,          call.sequence, call.function, nullptr,
                   nullptr, call.count, call.peer,     call.type,     16,
                   8,       "RING",     "SIMPLE"};
  } else {
    event.coll = {call.sequence, call.function, nullptr, nullptr, call.count, call.peer,
                  call.type,     call.channels, 8,       "RING",  "SIMPLE",   nullptr};
  }
  return Start(context, call.IsMessage() ? kP2p : kColl, parent, kRank, event);
}

void* ProfilerSide::StartChannel(void* context, void* task, int channel, std::uint64_t gpu_ns) {
  Event event = {};
  event.kernel.channel = static_cast<std::uint8_t>(channel);
  event.kernel.gpu_ns = version_ >= 4 ? gpu_ns : kPadding;
  return Start(context, kKernelChannel, task, kRank, event);
}

void* ProfilerSide::StartTransfer(void* context, void* task, const ProxyOp& what, int rank) {
  Event event = {};
  event.proxy_op = what;
  return Start(context, kProxyOp, task, rank, event);
}

void* ProfilerSide::StartStep(void* context, void* transfer) {
  Event event = {};
  return Start(context, kProxyStep, transfer, kRank, event);
}

void* ProfilerSide::StartOther(void* context, std::uint64_t type, void* parent) {
  Event event = {};
  memset(event.raw, 0x5a, sizeof(event.raw));
  return Start(context, type, parent, kRank, event);
}

void ProfilerSide::StopChannel(void* channel, std::uint64_t gpu_ns) {
  if (version_ >= 4) State(channel, kKernelChannelStop, &gpu_ns);
  Stop(channel);
}

void ProfilerSide::Stop(void* handle) { Expect(table_->stop(handle) == 0, "stopEvent"); }

void ProfilerSide::State(void* handle, int state, void* arguments) {
  Expect(table_->state(handle, state, arguments) == 0, "recordEventState");
}

}  // namespace fathom::nccl_side
