// Compares the profiler interface as the tracer, profiler_side.cc and tests/fakes/nccl declare it
// with NCCL's own headers: every offset, size and number, in each version that they have. Compiled
// only, and only with -DFATHOM_NCCL_SOURCE=<a checkout of NCCL>; a difference does not build.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <utility>

// What the headers take from the rest of NCCL.
typedef int ncclResult_t;
typedef pid_t ncclPid_t;
typedef void (*ncclDebugLogger_t)(int level, unsigned long flags, const char* file, int line,
                                  const char* format, ...);
#include <nccl_profiler.h>
#if __has_include(<profiler/profiler_v4.h>)
#define FATHOM_HAS_V4
#endif
#if __has_include(<profiler/profiler_v5.h>)
#define FATHOM_HAS_V5
#endif
#if __has_include(<profiler/profiler_v6.h>)
#define FATHOM_HAS_V6
#endif

#include "daemon/tracer/nccl_plugin/contexts.h"
#include "daemon/tracer/nccl_plugin/profiler_abi.h"
#include "tests/daemon/tracer/nccl/alike.h"
#include "tests/daemon/tracer/nccl/nccl_event.h"
#include "tests/fakes/nccl/profiler.cc"  // what it declares is its own

namespace {

using fathom::tracer_test::kSame;
namespace tracer = fathom::tracer::nccl_plugin;
namespace side = fathom::nccl_side;
namespace fake = fakes::nccl;

template <typename A, typename B>
constexpr bool Equal(A a, B b) {
  return static_cast<std::int64_t>(a) == static_cast<std::int64_t>(b);
}

#define FATHOM_SIZE(type, member) sizeof(std::declval<type&>().member)
// A member of NCCL's descriptor, `Real`, and the same one in `Ours`, which begins at `base`.
#define FATHOM_AT(real, base, Ours, ours)                                \
  static_assert(offsetof(Real, real) == (base) + offsetof(Ours, ours) && \
                    FATHOM_SIZE(Real, real) == FATHOM_SIZE(Ours, ours),  \
                #real)
#define FATHOM_BODY(real, Body, ours) FATHOM_AT(real, sizeof(tracer::EventHead), Body, ours)
#define FATHOM_NAMED_BODY(real, Body, ours) \
  FATHOM_AT(real, sizeof(tracer::EventHead) + sizeof(tracer::NamedComm), Body, ours)
// By both stand-ins.
#define FATHOM_SIDES(real, ours)         \
  FATHOM_AT(real, 0, side::Event, ours); \
  FATHOM_AT(real, 0, fake::Event, ours)

// Version 3 and 4: `type` is one byte, the first of ours.
#define FATHOM_HEAD()                                                  \
  static_assert(offsetof(Real, type) == 0 && sizeof(Real::type) <= 8); \
  FATHOM_AT(parentObj, 0, tracer::EventHead, parent);                  \
  FATHOM_AT(rank, 0, tracer::EventHead, rank);                         \
  FATHOM_SIDES(parentObj, parent);                                     \
  FATHOM_SIDES(rank, rank)

#define FATHOM_PROXY()                                                 \
  FATHOM_BODY(proxyOp.pid, tracer::ProxyOpBody, pid);                  \
  FATHOM_BODY(proxyOp.channelId, tracer::ProxyOpBody, channel);        \
  FATHOM_BODY(proxyOp.peer, tracer::ProxyOpBody, peer);                \
  FATHOM_BODY(proxyOp.nSteps, tracer::ProxyOpBody, steps);             \
  FATHOM_BODY(proxyOp.chunkSize, tracer::ProxyOpBody, chunk_bytes);    \
  FATHOM_BODY(proxyOp.isSend, tracer::ProxyOpBody, sends);             \
  FATHOM_SIDES(proxyOp.pid, proxy_op.pid);                             \
  FATHOM_SIDES(proxyOp.channelId, proxy_op.channel);                   \
  FATHOM_SIDES(proxyOp.peer, proxy_op.peer);                           \
  FATHOM_SIDES(proxyOp.nSteps, proxy_op.steps);                        \
  FATHOM_SIDES(proxyOp.isSend, proxy_op.sends);                        \
  FATHOM_SIDES(proxyStep.step, proxy_step.step);                       \
  FATHOM_BODY(kernelCh.channelId, tracer::KernelChannelBody, channel); \
  FATHOM_SIDES(kernelCh.channelId, kernel.channel)

#define FATHOM_LAUNCHED()                                          \
  FATHOM_BODY(coll.seqNumber, tracer::CollBody, sequence);         \
  FATHOM_BODY(coll.func, tracer::CollBody, function);              \
  FATHOM_BODY(coll.sendBuff, tracer::CollBody, send);              \
  FATHOM_BODY(coll.recvBuff, tracer::CollBody, recv);              \
  FATHOM_BODY(coll.count, tracer::CollBody, count);                \
  FATHOM_BODY(coll.root, tracer::CollBody, root);                  \
  FATHOM_BODY(coll.datatype, tracer::CollBody, data_type);         \
  FATHOM_BODY(coll.nChannels, tracer::CollBody, channels);         \
  FATHOM_SIDES(coll.seqNumber, coll.sequence);                     \
  FATHOM_SIDES(coll.func, coll.function);                          \
  FATHOM_SIDES(coll.count, coll.count);                            \
  FATHOM_SIDES(coll.root, coll.root);                              \
  FATHOM_SIDES(coll.datatype, coll.type);                          \
  FATHOM_SIDES(coll.nChannels, coll.channels);                     \
  FATHOM_SIDES(coll.proto, coll.protocol);                         \
  FATHOM_BODY(p2p.func, tracer::P2pBody, function);                \
  FATHOM_BODY(p2p.buff, tracer::P2pBody, buffer);                  \
  FATHOM_BODY(p2p.datatype, tracer::P2pBody, data_type);           \
  FATHOM_BODY(p2p.count, tracer::P2pBody, count);                  \
  FATHOM_BODY(p2p.peer, tracer::P2pBody, peer);                    \
  FATHOM_SIDES(p2p.func, p2p.function);                            \
  FATHOM_SIDES(p2p.datatype, p2p.type);                            \
  FATHOM_SIDES(p2p.count, p2p.count);                              \
  FATHOM_SIDES(p2p.peer, p2p.peer);                                \
  FATHOM_SIDES(p2p.nChannels, p2p.channels);                       \
  FATHOM_BODY(kernelCh.pTimer, tracer::KernelChannelBody, gpu_ns); \
  FATHOM_SIDES(kernelCh.pTimer, kernel.gpu_ns)

#define FATHOM_CALLS()                                               \
  static_assert(sizeof(Real::type) == 8);                            \
  FATHOM_BODY(collApi.func, tracer::CollApiBody, function);          \
  FATHOM_BODY(collApi.count, tracer::CollApiBody, count);            \
  FATHOM_BODY(collApi.datatype, tracer::CollApiBody, data_type);     \
  FATHOM_BODY(collApi.root, tracer::CollApiBody, root);              \
  FATHOM_BODY(collApi.stream, tracer::CollApiBody, stream);          \
  FATHOM_BODY(collApi.graphCaptured, tracer::CollApiBody, captured); \
  FATHOM_BODY(p2pApi.func, tracer::P2pApiBody, function);            \
  FATHOM_BODY(p2pApi.count, tracer::P2pApiBody, count);              \
  FATHOM_BODY(p2pApi.datatype, tracer::P2pApiBody, data_type);       \
  FATHOM_BODY(p2pApi.stream, tracer::P2pApiBody, stream);            \
  FATHOM_BODY(p2pApi.graphCaptured, tracer::P2pApiBody, captured);   \
  FATHOM_SIDES(collApi.func, coll_api.function);                     \
  FATHOM_SIDES(collApi.count, coll_api.count);                       \
  FATHOM_SIDES(collApi.root, coll_api.root);                         \
  FATHOM_SIDES(collApi.graphCaptured, coll_api.captured);            \
  FATHOM_SIDES(p2pApi.func, p2p_api.function);                       \
  FATHOM_SIDES(p2pApi.count, p2p_api.count);                         \
  FATHOM_SIDES(p2pApi.graphCaptured, p2p_api.captured);              \
  FATHOM_SIDES(coll.parentGroup, coll.group)

// The table, as the plugin exports it and as the stand-ins call it.
#define FATHOM_TABLE(Init)                                                               \
  using Ours = tracer::Profiler<Init>;                                                   \
  static_assert(sizeof(Table) == sizeof(Ours) && sizeof(Table) == sizeof(side::Table) && \
                sizeof(Table) == sizeof(fake::Table));                                   \
  static_assert(offsetof(Table, name) == offsetof(Ours, name) &&                         \
                offsetof(Table, init) == offsetof(Ours, init) &&                         \
                offsetof(Table, startEvent) == offsetof(Ours, start) &&                  \
                offsetof(Table, stopEvent) == offsetof(Ours, stop) &&                    \
                offsetof(Table, recordEventState) == offsetof(Ours, record_state) &&     \
                offsetof(Table, finalize) == offsetof(Ours, finalize));                  \
  static_assert(kSame<decltype(Table::init), Init>);                                     \
  static_assert(kSame<decltype(Table::startEvent), decltype(Ours::start)>);              \
  static_assert(kSame<decltype(Table::stopEvent), decltype(Ours::stop)>);                \
  static_assert(kSame<decltype(Table::recordEventState), decltype(Ours::record_state)>); \
  static_assert(kSame<decltype(Table::finalize), decltype(Ours::finalize)>)

#define FATHOM_CHANNEL_STOP() \
  static_assert(offsetof(Arguments, kernelCh.pTimer) == offsetof(tracer::StateArguments, gpu_ns))

namespace v3 {
using Real = ncclProfilerEventDescr_v3_t;
using Table = ncclProfiler_v3_t;
using Arguments = ncclProfilerEventStateArgs_v3_t;
FATHOM_HEAD();
FATHOM_PROXY();
FATHOM_TABLE(tracer::InitV3);
FATHOM_BODY(coll.name, tracer::NamedComm, name);
FATHOM_BODY(coll.commHash, tracer::NamedComm, hash);
FATHOM_NAMED_BODY(coll.seqNumber, tracer::CollBody, sequence);
FATHOM_NAMED_BODY(coll.func, tracer::CollBody, function);
FATHOM_NAMED_BODY(coll.count, tracer::CollBody, count);
FATHOM_NAMED_BODY(coll.root, tracer::CollBody, root);
FATHOM_NAMED_BODY(coll.datatype, tracer::CollBody, data_type);
FATHOM_NAMED_BODY(coll.nMaxChannels, tracer::CollBody, channels);
FATHOM_NAMED_BODY(p2p.func, tracer::P2pBody, function);
FATHOM_NAMED_BODY(p2p.datatype, tracer::P2pBody, data_type);
FATHOM_NAMED_BODY(p2p.count, tracer::P2pBody, count);
FATHOM_NAMED_BODY(p2p.peer, tracer::P2pBody, peer);
FATHOM_SIDES(coll.seqNumber, coll3.sequence);
FATHOM_SIDES(coll.func, coll3.function);
FATHOM_SIDES(coll.count, coll3.count);
FATHOM_SIDES(coll.root, coll3.root);
FATHOM_SIDES(coll.datatype, coll3.type);
FATHOM_SIDES(coll.nMaxChannels, coll3.channels);
FATHOM_SIDES(p2p.func, p2p3.function);
FATHOM_SIDES(p2p.datatype, p2p3.type);
FATHOM_SIDES(p2p.count, p2p3.count);
FATHOM_SIDES(p2p.peer, p2p3.peer);
static_assert(sizeof(Real::type) == 1);
static_assert(offsetof(Arguments, proxyOp.transSize) ==
                  offsetof(tracer::StateArguments, proxy_op.bytes) &&
              offsetof(Arguments, proxyOp.steps) ==
                  offsetof(tracer::StateArguments, proxy_op.steps));
}  // namespace v3

#ifdef FATHOM_HAS_V4
namespace v4 {
using Real = ncclProfilerEventDescr_v4_t;
using Table = ncclProfiler_v4_t;
using Arguments = ncclProfilerEventStateArgs_v4_t;
FATHOM_HEAD();
FATHOM_PROXY();
FATHOM_LAUNCHED();
FATHOM_TABLE(tracer::InitV4);
FATHOM_CHANNEL_STOP();
static_assert(sizeof(Real::type) == 1);
static_assert(Equal(ncclProfilerKernelChStop, tracer::kKernelChannelStop) &&
              Equal(ncclProfilerKernelChStop, side::kKernelChannelStop) &&
              Equal(ncclProfilerKernelChStop, fake::kKernelChannelStop) &&
              Equal(ncclProfilerProxyStepSendPeerWait_v4, tracer::kStepSendPeerWait));
}  // namespace v4
#endif

#ifdef FATHOM_HAS_V5
namespace v5 {
using Real = ncclProfilerEventDescr_v5_t;
using Table = ncclProfiler_v5_t;
using Arguments = ncclProfilerEventStateArgs_v5_t;
FATHOM_HEAD();
FATHOM_PROXY();
FATHOM_LAUNCHED();
FATHOM_CALLS();
FATHOM_TABLE(tracer::InitV5);
FATHOM_CHANNEL_STOP();
static_assert(Equal(ncclProfileCollApi, tracer::kCollApi) &&
              Equal(ncclProfileP2pApi, tracer::kP2pApi) &&
              Equal(ncclProfileCollApi, fake::kCollApi) && Equal(ncclProfileP2pApi, fake::kP2pApi));
static_assert(Equal(ncclProfileGroupApi, side::kGroupApi) &&
              Equal(ncclProfileCollApi, side::kCollApi) &&
              Equal(ncclProfileP2pApi, side::kP2pApi) &&
              Equal(ncclProfileKernelLaunch, side::kKernelLaunch));
}  // namespace v5
#endif

#ifdef FATHOM_HAS_V6
namespace v6 {
using Real = ncclProfilerEventDescr_v6_t;
using Table = ncclProfiler_v6_t;
using Arguments = ncclProfilerEventStateArgs_v6_t;
FATHOM_HEAD();
FATHOM_PROXY();
FATHOM_LAUNCHED();
FATHOM_CALLS();
FATHOM_TABLE(tracer::InitV5);
FATHOM_CHANNEL_STOP();
static_assert(Equal(ncclProfileCeColl, side::kCeColl) && Equal(ncclProfileCeSync, side::kCeSync) &&
              Equal(ncclProfileCeBatch, side::kCeBatch));
}  // namespace v6
#endif

#define FATHOM_BIT(real, name) \
  static_assert(Equal(real, tracer::name) && Equal(real, side::name) && Equal(real, fake::name))
FATHOM_BIT(ncclProfileColl, kColl);
FATHOM_BIT(ncclProfileP2p, kP2p);
FATHOM_BIT(ncclProfileProxyOp, kProxyOp);
FATHOM_BIT(ncclProfileProxyStep, kProxyStep);
FATHOM_BIT(ncclProfileKernelCh, kKernelChannel);
static_assert(Equal(ncclProfileGroup, side::kGroup) &&
              Equal(ncclProfileProxyCtrl, side::kProxyCtrl) &&
              Equal(ncclProfileNetPlugin, side::kNetPlugin));

#define FATHOM_STATE(real, name) static_assert(Equal(ncclProfilerProxy##real, tracer::name))
FATHOM_STATE(OpSendPosted, kOpSendPosted);
FATHOM_STATE(OpSendTransmitted, kOpSendTransmitted);
FATHOM_STATE(OpSendDone, kOpSendDone);
FATHOM_STATE(OpRecvPosted, kOpRecvPosted);
FATHOM_STATE(OpRecvReceived, kOpRecvReceived);
FATHOM_STATE(OpRecvTransmitted, kOpRecvTransmitted);
FATHOM_STATE(OpRecvDone, kOpRecvDone);
FATHOM_STATE(StepSendGPUWait, kStepSendGpuWait);
FATHOM_STATE(StepSendWait, kStepSendWait);
FATHOM_STATE(StepRecvWait, kStepRecvWait);
FATHOM_STATE(StepRecvFlushWait, kStepRecvFlushWait);
FATHOM_STATE(StepRecvGPUWait, kStepRecvGpuWait);

}  // namespace
