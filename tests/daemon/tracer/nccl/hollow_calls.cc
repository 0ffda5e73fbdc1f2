#include "tests/daemon/tracer/nccl/hollow_calls.h"

#include <setjmp.h>
#include <stdio.h>

#include "tests/daemon/tracer/nccl/hollow_nccl.h"

namespace {

char sent[8];
char got[8];
int stream_object;
void* const stream = &stream_object;
constexpr int kFloat32 = 7;
constexpr int kBfloat16 = 9;
constexpr int kAverage = 4;
int* const config = &stream_object;

HollowId IdOf(char first) {
  HollowId id = {};
  id.bytes[0] = first;
  id.bytes[127] = static_cast<char>(first + 1);
  return id;
}

HollowConfig Named(const char* name) {
  HollowConfig named = {};
  named.size = sizeof(named);
  named.magic = 0xcafebeef;
  named.version = 22800;
  named.name = name;
  return named;
}

HollowComm OfFour() {
  HollowComm comm = nullptr;
  ncclCommInitRank(&comm, 4, IdOf(1), 2);
  return comm;
}

unsigned long long Number(const void* value) { return reinterpret_cast<unsigned long long>(value); }

// Addresses differ from run to run; what they stand for does not.
void Say(int result) {
  char name[32] = {};
  int at = 0;
  sscanf(hollow_given, "%31s%n", name, &at);
  printf("%s", name);
  unsigned long long value = 0;
  for (int step = 0; sscanf(hollow_given + at, " %llu%n", &value, &step) == 1; at += step) {
    if (value == Number(sent)) {
      printf(" sent");
    } else if (value == Number(got)) {
      printf(" got");
    } else if (value == Number(stream)) {
      printf(" stream");
    } else {
      printf(value < 1'000'000 ? " %llu" : " somewhere", value);
    }
  }
  printf(" = %d\n", result);
}

void EveryOp() {
  HollowComm comm = OfFour();
  Say(ncclAllReduce(sent, got, 101, kFloat32, kAverage, comm, stream));
  Say(ncclReduce(sent, got, 102, kFloat32, kAverage, 3, comm, stream));
  Say(ncclReduceScatter(sent, got, 103, kFloat32, kAverage, comm, stream));
  Say(ncclBroadcast(sent, got, 104, kBfloat16, 1, comm, stream));
  Say(ncclBcast(got, 105, kBfloat16, 3, comm, stream));
  Say(ncclAllGather(sent, got, 106, kBfloat16, comm, stream));
  Say(ncclAlltoAll(sent, got, 107, kBfloat16, comm, stream));
  Say(ncclGather(sent, got, 108, kBfloat16, 0, comm, stream));
  Say(ncclScatter(sent, got, 109, kBfloat16, 1, comm, stream));
  Say(ncclSend(sent, 110, kBfloat16, 3, comm, stream));
  Say(ncclRecv(got, 111, kBfloat16, 1, comm, stream));
  Say(ncclAllReduceConfig(sent, got, 112, kFloat32, kAverage, comm, stream, config));
  Say(ncclReduceConfig(sent, got, 113, kFloat32, kAverage, 3, comm, stream, config));
  Say(ncclReduceScatterConfig(sent, got, 114, kFloat32, kAverage, comm, stream, config));
  Say(ncclBroadcastConfig(sent, got, 115, kBfloat16, 1, comm, stream, config));
  Say(ncclAllGatherConfig(sent, got, 116, kBfloat16, comm, stream, config));
  Say(ncclAlltoAllConfig(sent, got, 117, kBfloat16, comm, stream, config));
  Say(ncclGatherConfig(sent, got, 118, kBfloat16, 0, comm, stream, config));
  Say(ncclScatterConfig(sent, got, 119, kBfloat16, 1, comm, stream, config));
}

void EveryType() {
  HollowComm comm = OfFour();
  for (int type = 0; type <= 12; ++type) ncclAllReduce(sent, got, 10, type, 0, comm, stream);
}

void Failures() {
  HollowComm comm = OfFour();
  hollow_result = 4;
  Say(ncclAllReduce(sent, got, 1, kFloat32, 0, comm, stream));
  Say(ncclSend(sent, 1, kFloat32, 1, comm, stream));
  HollowComm none = nullptr;
  Say(ncclCommInitRank(&none, 4, IdOf(9), 2));
  hollow_result = 0;
  Say(ncclAllReduce(sent, got, 2, kFloat32, 0, comm, stream));
}

void Communicators() {
  HollowComm comms[2] = {};
  HollowComm comm = nullptr;
  HollowId ids[] = {IdOf(1), IdOf(5)};
  HollowConfig named = Named("of a config");
  HollowConfig old = Named("no room for one");
  old.size = offsetof(HollowConfig, name);
  int excluded[] = {1};
  const auto made = [&](int result) {
    Say(result);
    ncclAllReduce(sent, got, 1, kFloat32, 0, comm, stream);
  };
  made(ncclCommInitRank(&comm, 4, IdOf(1), 2));
  made(ncclCommInitRankConfig(&comm, 4, IdOf(1), 3, &named));
  made(ncclCommInitRankConfig(&comm, 4, IdOf(2), 2, &old));
  made(ncclCommInitRankScalable(&comm, 4, 1, 2, ids, &named));
  ncclCommInitAll(comms, 2, nullptr);
  HollowComm parent = comm;
  named = Named("of a split");
  made(ncclCommSplit(parent, 7, 0, &comm, &named));
  named = Named("shrunk");
  made(ncclCommShrink(parent, excluded, 1, &comm, &named, 0));
  named = Named("grown");
  made(ncclCommGrow(parent, 6, ids, 5, &comm, &named));
  Say(ncclCommRevoke(comm, 0));
  Say(ncclCommAbort(parent));
  Say(ncclCommFinalize(comms[0]));
  Say(ncclCommDestroy(comms[1]));
}

void Some(int count) {
  static HollowComm comm = OfFour();
  for (int i = 0; i < count; ++i) {
    ncclGroupStart();
    ncclAllReduce(sent, got, 1, kFloat32, 0, comm, stream);
    ncclGroupEnd();
    ncclSend(sent, 1, kFloat32, 1, comm, stream);
    int error = 0;
    ncclCommGetAsyncError(comm, &error);
  }
}

jmp_buf before_the_call;
void Leave() { longjmp(before_the_call, 1); }

void Jumps() {
  static HollowComm comm = OfFour();
  static int i;  // a local one would be what it was at setjmp
  for (i = 0; i < 4; ++i) {
    hollow_way_out = i % 2 == 0 ? Leave : nullptr;
    if (setjmp(before_the_call) != 0) continue;
    Say(ncclAllReduce(sent, got, 1, kFloat32, 0, comm, stream));
  }
  hollow_way_out = nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const HollowCalls hollow_calls = {EveryOp, EveryType, Failures, Communicators, Some, Jumps};
