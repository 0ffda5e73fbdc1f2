// The traps of NCCL's profiler interface, played one by one.
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>

#include "daemon/abi/ring_layout.h"
#include "tests/daemon/tracer/nccl/plugin_job.h"

namespace fathom::nccl_side {
namespace {

constexpr int kTasks = 2048;                   // places of the plugin's table
constexpr int kSilentCalls = 64;               // calls without an event until no end is promised
constexpr std::uint64_t kGpu = 7'000'000'000;  // some time of its clock

// --- when an op begins and ends ---

void Enqueued(Job& job) { job.Enqueue(job.world, {}); }

void OneChannel(Job& job) { job.EnqueueAndRun({}, {100, 200}); }

void StartThree(Job& job, std::vector<void*>* channels) {
  void* task = job.Enqueue(job.world, {.channels = 3});
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t starts[] = {100, 90, 110};
    channels->push_back(job.side.StartChannel(job.world->context, task, i, starts[i]));
  }
  job.side.StopChannel(channels->at(0), 150);
  job.side.StopChannel(channels->at(1), 300);
}

void TwoOfThreeStop(Job& job) {
  std::vector<void*> channels;
  StartThree(job, &channels);
}

void ThreeOfThreeStop(Job& job) {
  std::vector<void*> channels;
  StartThree(job, &channels);
  job.side.StopChannel(channels[2], 200);
}

void OneOfThreeRuns(Job& job) { job.EnqueueAndRun({.channels = 3}, {100, 200}); }

// Point-to-point: more channels are announced than run, and they need not run together.
void MessageOnFewerChannels(Job& job) {
  void* task = job.Enqueue(job.world, {.function = "Send", .channels = 4, .peer = 2});
  job.Run(job.world, task, {{100, 200}});
  job.Run(job.world, task, {{150, 300}});
}

// The counter of NCCL is per function, ours per communicator.
void SequenceOfNccl(Job& job) {
  job.Enqueue(job.world, {.function = "AllReduce", .sequence = 0});
  job.Enqueue(job.world, {.function = "AllGather", .sequence = 0});
  job.Enqueue(job.world, {.function = "AllReduce", .sequence = 1});
  StageComm* other = job.Make(4);
  job.Enqueue(other, {.function = "AllReduce", .sequence = 0});
}

void EachKind(Job& job) {
  std::uint64_t at = 0;
  for (const char* name : {"AllGather", "Broadcast", "ReduceScatter", "Reduce", "AllReduce"}) {
    at += 100;
    job.EnqueueAndRun({.function = name, .count = 1024, .peer = 2}, {at, at + 10});
  }
}

// --- groups ---

// The first `run` of them run.
void RunBySize(Job& job, std::size_t run) {
  const std::vector<Call> calls = {{.count = 16}, {.count = 4096}, {.count = 256}};
  const std::vector<std::size_t> order = {1, 2, 0};
  const std::vector<void*> tasks = job.Group(job.world, calls, order);
  for (std::size_t i = 0; i < run; ++i) {
    const std::uint64_t at = 100 * (order[i] + 1);
    job.Run(job.world, tasks[order[i]], {{at, at + 10}});
  }
}

void GroupBySize(Job& job) { RunBySize(job, 3); }
void LargestOfGroup(Job& job) { RunBySize(job, 1); }

void GroupOfKinds(Job& job) {
  const std::vector<Call> calls = {{.function = "AllReduce"},
                                   {.function = "AllGather"},
                                   {.function = "Send", .peer = 2},
                                   {.function = "Recv", .peer = 0}};
  const std::vector<void*> tasks = job.Group(job.world, calls, {3, 1, 2, 0});
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::uint64_t at = 100 * (i + 1);
    job.Run(job.world, tasks[i], {{at, at + 10}});
  }
}

// More calls in a group than versions 3 and 4 can hold until their events come.
void GroupOfMany(Job& job) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < 70; ++i) order.push_back(i);
  for (void* task : job.Group(job.world, std::vector<Call>(70), order)) {
    job.Run(job.world, task, {{100, 200}});
  }
}

// --- whose context it is ---

void TwoMadeElsewhere(Job& job) {
  StageComm* other = job.Make(2);
  job.Run(other, job.Enqueue(other, {.count = 8}), {{100, 110}});
  job.Run(job.world, job.Enqueue(job.world, {.count = 16}), {{200, 210}});
}

void GroupMadeElsewhere(Job& job) {
  const std::vector<void*> tasks = job.Group(job.world, {Call{}}, {0});
  job.Run(job.world, tasks[0], {{100, 110}});
  job.EnqueueAndRun({}, {200, 210});
  job.EnqueueAndRun({}, {300, 310});
}

// Without hooks the op is told from its launch.
void Unhooked(Job& job) {
  for (const char* name : {"AllReduce", "ReduceScatter", "AllGather"}) {
    const Call call = {.function = name, .count = 256};
    void* user = job.side.StartCall(job.world->context, call);
    job.Run(job.world, job.side.StartLaunched(job.world->context, call, user), {{100, 200}});
  }
}

// --- calls without events of their own ---

void MadeOfMessages(Job& job) {
  for (const char* name : {"AlltoAll", "Gather", "Scatter"}) {
    std::vector<void*> tasks;
    job.Api(job.world, {.function = name, .peer = 2}, [&] {
      for (const char* part : {"Send", "Recv"}) {
        const Call call = {.function = part, .channels = 4, .peer = 2};
        void* user = job.side.StartCall(job.world->context, call);
        tasks.push_back(job.side.StartLaunched(job.world->context, call, user));
        job.side.Stop(user);
      }
    });
    job.Run(job.world, tasks[0], {{100, 150}});
    job.Run(job.world, tasks[1], {{120, 180}});
  }
}

// Symmetric-memory kernels: the call and its launch, nothing of the kernel.
void SymmetricCall(Job& job) {
  job.Api(job.world, {}, [&] {
    if (job.side.version() < 5) return;
    void* group = job.side.StartOther(job.world->context, kGroupApi, nullptr);
    void* user = job.side.StartCall(job.world->context, {});
    void* launch = job.side.StartOther(job.world->context, kKernelLaunch, group);
    job.side.Expect(group == nullptr && launch == nullptr, "no handle for what is not asked for");
    job.side.Stop(user);
  });
}

void Symmetric(Job& job) {
  for (int i = 0; i < 3; ++i) SymmetricCall(job);
}

// Long silence, then events again.
void SymmetricThenChannels(Job& job) {
  for (int i = 0; i < kSilentCalls + 6; ++i) SymmetricCall(job);
  job.EnqueueAndRun({}, {100, 200});
  job.EnqueueAndRun({}, {300, 400});
}

void SymmetricGroups(Job& job) {
  for (int i = 0; i < kSilentCalls + 6; ++i) job.Group(job.world, {Call{}}, {});
}

// The kernels' events are not asked for, those of calls and launches are.
void EventsWithoutKernels(Job& job) {
  job.Enqueue(job.world, {});
  job.Group(job.world, {Call{}, {.count = 8}}, {0, 1});
  StageComm* other = job.Make(4);
  job.Enqueue(other, {});
}

void CopyEngine(Job& job) {
  job.Api(job.world, {.function = "AllGather"}, [&] {
    void* user = job.side.StartCall(job.world->context, {.function = "AllGather"});
    for (const std::uint64_t type : {kCeColl, kCeSync, kCeBatch}) {
      void* event = job.side.StartOther(job.world->context, type, user);
      job.side.Expect(event == nullptr, "no handle for a copy engine");
      for (int state = 25; state <= 30; ++state) job.side.State(event, state, nullptr);
      job.side.Stop(event);
    }
    job.side.Stop(user);
  });
}

void OneRank(Job& job) { job.Api(job.world, {}); }

void OtherTypes(Job& job) {
  void* task = job.Enqueue(job.world, {});
  const bool wide = job.side.version() >= 5;  // else a type is one byte
  std::vector<std::uint64_t> types = {0, 3, kGroup, kProxyCtrl, kNetPlugin, kColl | kP2p, 0xff};
  for (const std::uint64_t type : {kGroupApi, kKernelLaunch, kCeColl, kCeSync, kCeBatch}) {
    types.push_back(type);
  }
  if (wide) types.insert(types.end(), {1ull << 15, kColl | 1ull << 40, kColl | 1ull << 63});
  for (const std::uint64_t type : types) {
    for (void* context : {job.world->context, static_cast<void*>(nullptr)}) {
      void* handle = job.side.StartOther(context, type, task);
      job.side.Expect(handle == nullptr, "no handle for what is not asked for");
    }
  }
  job.Run(job.world, task, {{100, 200}});
}

// --- what gets lost ---

// Stops that never come, for more tasks than there are places; then some come all the same.
void LostStops(Job& job) {
  std::vector<std::pair<void*, void*>> lost;  // task and channel
  for (int i = 0; i < kTasks; ++i) {
    void* task = job.Enqueue(job.world, {});
    lost.emplace_back(task, job.side.StartChannel(job.world->context, task, 0, kGpu));
  }
  for (int i = 0; i < 10; ++i) job.EnqueueAndRun({.count = 8}, {100, 200});
  for (int i = 0; i < 10; ++i) {
    const auto& [task, channel] = lost[static_cast<std::size_t>(i)];
    job.side.StopChannel(channel, kGpu);
    void* late = job.side.StartChannel(job.world->context, task, 1, kGpu);
    job.side.Expect(late == nullptr, "no channel of a task that is no more");
  }
  for (int i = 0; i < 10; ++i) job.EnqueueAndRun({.count = 16}, {300, 400});
}

// A communicator is aborted while its op runs; its last events come after it.
void Abort(Job& job) {
  StageComm* other = job.Make(4);
  void* context = other->context;
  void* task = job.Enqueue(other, {});
  void* channel = job.side.StartChannel(context, task, 0, 100);
  stage_inside([](void* of) { static_cast<Job*>(of)->side.Finalize(nullptr); }, &job);
  ncclCommAbort(other);
  job.side.Finalize(context);
  job.side.StopChannel(channel, 200);
  void* const late = job.side.StartLaunched(context, {}, nullptr);
  if (late != nullptr) job.side.Stop(late);
  job.side.StartOther(context, kGroup, nullptr);
  StageComm* next = job.Make(4);
  job.Run(next, job.Enqueue(next, {.count = 8}), {{300, 400}});
}

// --- threads ---

void StopOnAnotherThread(Job& job) {
  for (int i = 0; i < 20; ++i) {
    void* task = job.Enqueue(job.world, {});
    void* channel = nullptr;
    std::thread([&] { channel = job.side.StartChannel(job.world->context, task, 0, 100); }).join();
    std::thread([&] { job.side.StopChannel(channel, 200); }).join();
  }
}

void ChannelsOfManyThreads(Job& job) {
  constexpr int kThreads = 4;
  constexpr int kOps = 400;
  std::vector<void*> tasks;
  for (int i = 0; i < kOps; ++i) tasks.push_back(job.Enqueue(job.world, {.channels = kThreads}));
  std::atomic<int> at_start{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto offset = static_cast<std::uint64_t>(t);
      at_start.fetch_add(1);
      while (at_start.load() < kThreads) std::this_thread::yield();
      for (void* task : tasks) {
        void* channel = job.side.StartChannel(job.world->context, task, t, 104 - offset);
        job.side.StopChannel(channel, 200 + offset);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// With blocking = 0 another thread launches, when the call is long over.
void NotBlocking(Job& job) {
  job.AnswerInProgress();
  for (const std::size_t count : {16u, 32u}) {
    void* user = nullptr;
    const Call call = {.count = count};
    job.Api(job.world, call, [&] {
      user = job.side.StartCall(job.world->context, call);
      job.side.Stop(user);
    });
    std::thread([&] {
      job.Run(job.world, job.side.StartLaunched(job.world->context, call, user), {{100, 200}});
    }).join();
  }
}

// --- times and states ---

void StopWithoutState(Job& job) {
  void* task = job.Enqueue(job.world, {});
  job.side.Stop(job.side.StartChannel(job.world->context, task, 0, 100));
}
void StartAtZero(Job& job) { job.EnqueueAndRun({}, {0, 200}); }
void StopAtZero(Job& job) { job.EnqueueAndRun({}, {100, 0}); }
// A channel that has no time beside one that has.
void OneStartsAtZero(Job& job) {
  job.Run(job.world, job.Enqueue(job.world, {.channels = 2}), {{0, 0}, {100, 200}});
}

void NullHandles(Job& job) {
  void* task = job.Enqueue(job.world, {});
  void* channel = job.side.StartChannel(job.world->context, task, 0, 100);
  std::uint64_t arguments[4] = {kGpu, kGpu, kGpu, kGpu};
  job.side.Stop(nullptr);
  for (int state = -1; state <= 32; ++state) {
    job.side.State(nullptr, state, nullptr);
    job.side.State(nullptr, state, arguments);
    job.side.State(task, state, nullptr);
    job.side.State(task, state, arguments);
    job.side.State(channel, state, nullptr);
    if (state != kKernelChannelStop) job.side.State(channel, state, arguments);
  }
  job.side.StopChannel(channel, 200);
  job.side.Expect(job.side.StartChannel(job.world->context, nullptr, 0, 1) == nullptr,
                  "no channel without a task");
  job.side.Finalize(nullptr);
}

// --- transfers ---

void ForeignTransfers(Job& job) {
  void* task = job.Enqueue(job.world, {});
  const ProxyOp own = {getpid(), 0, 2, 8, 4096, 1};
  ProxyOp foreign = own;
  foreign.pid = getpid() + 1;
  ProxyOp odd = own;
  odd.peer = -1;
  void* const wild = reinterpret_cast<void*>(0xfffffffffffffff2);  // looks like a task
  void* const wilder = reinterpret_cast<void*>(0x7ffffffffff8);
  struct {
    void *context, *parent;
    ProxyOp what;
    int rank;
  } const rows[] = {{wild, wild, foreign, 1},          {wilder, wilder, foreign, 1},
                    {wild, task, foreign, 1},          {nullptr, nullptr, own, 1},
                    {wilder, wilder, own, 1},          {job.world->context, task, own, 3},
                    {job.world->context, task, odd, 1}};
  for (const auto& row : rows) {
    void* transfer = job.side.StartTransfer(row.context, row.parent, row.what, row.rank);
    job.side.Expect(transfer == nullptr, "no transfer of another process, rank or op");
    void* step = job.side.StartStep(row.context, transfer);
    job.side.Expect(step == nullptr, "no step without a transfer");
  }
  job.Run(job.world, task, {{100, 200}});
}

// One of this process is told, whatever its context; its parent's number may be out of date.
void OwnTransfers(Job& job) {
  void* task = job.Enqueue(job.world, {});
  void* transfer = job.side.StartTransfer(reinterpret_cast<void*>(0x7ffffffffff8), task,
                                          {getpid(), 5, 2, 8, 4096, 1}, 1);
  job.side.Expect(transfer != nullptr, "a transfer");
  void* step = job.side.StartStep(nullptr, transfer);
  for (int state = 0; state <= 22; ++state) {
    job.side.State(transfer, state, nullptr);
    job.side.State(step, state == 9 ? 8 : state, nullptr);
  }
  void* const stale = reinterpret_cast<void*>(reinterpret_cast<std::uint64_t>(task) + (9ull << 32));
  void* none = job.side.StartTransfer(nullptr, stale, {getpid(), 5, 2, 8, 4096, 1}, 1);
  job.side.Expect(none == nullptr, "no transfer of a task that is no more");
}

// --- beginning and end ---

void Off(Job& job) {
  void* const context = job.side.Init(43, 4, 1);
  job.side.Expect(context == nullptr && job.world->context == nullptr, "no context");
  job.side.Expect(job.side.mask() == 0, "no event is asked for");
  void* task = job.Enqueue(job.world, {});
  job.side.Expect(task == nullptr, "no task");
  for (const std::uint64_t type : {kProxyOp, kProxyStep, kKernelChannel, kCollApi, kP2p, kGroup}) {
    job.side.Expect(job.side.StartOther(nullptr, type, nullptr) == nullptr, "no handle");
  }
  job.side.Stop(nullptr);
  job.side.State(nullptr, kKernelChannelStop, nullptr);
  job.side.Finalize(nullptr);
  ncclCommDestroy(job.world);
}

void Mask(Job& job) {
  printf("mask %d\n", job.side.mask());
  job.Api(job.world, {});
}

// NCCL reads its mask at each call, also while another communicator is being made: as when the
// plugin asks for NCCL's version then.
void MaskWhileMaking(Job& job) {
  static Job* made = &job;
  static const int mask = job.side.mask();
  static int looks = 0;
  stage_at_version([] {
    ++looks;
    made->side.Expect(made->side.mask() == mask, "the mask stays as it is");
  });
  job.Make(4);
  job.side.Expect(looks > 0, "the version is asked for");
}

void MoreContextsThanPlaces(Job& job) {
  std::vector<void*> contexts;
  for (std::uint32_t i = 0; i < abi::kGroupSlots + 40; ++i) {
    contexts.push_back(job.side.Init(100 + i, 4, 1));
  }
  job.side.Expect(contexts[abi::kGroupSlots - 2] != nullptr, "a place is left");
  job.side.Expect(contexts[abi::kGroupSlots - 1] == nullptr, "no place is left");
  void* none = contexts.back();
  job.side.Expect(job.side.StartLaunched(none, {}, nullptr) == nullptr, "no task without context");
  StageComm* other = job.Make(4);
  job.Enqueue(other, {.count = 8});
  for (void* context : contexts) job.side.Finalize(context);
  job.EnqueueAndRun({.count = 16}, {100, 200});
  StageComm* next = job.Make(4);
  job.Run(next, job.Enqueue(next, {.count = 32}), {{300, 400}});
}

}  // namespace

Trap TrapOf(const std::string& name) {
  static const std::map<std::string, Trap> kTraps = {
      {"enqueued", Enqueued},
      {"one_channel", OneChannel},
      {"two_of_three_stop", TwoOfThreeStop},
      {"three_of_three_stop", ThreeOfThreeStop},
      {"one_of_three_runs", OneOfThreeRuns},
      {"message_on_fewer_channels", MessageOnFewerChannels},
      {"sequence_of_nccl", SequenceOfNccl},
      {"each_kind", EachKind},
      {"group_by_size", GroupBySize},
      {"largest_of_group", LargestOfGroup},
      {"group_of_kinds", GroupOfKinds},
      {"group_of_many", GroupOfMany},
      {"elsewhere", OneChannel},
      {"elsewhere_two", TwoMadeElsewhere},
      {"elsewhere_group", GroupMadeElsewhere},
      {"unhooked", Unhooked},
      {"made_of_messages", MadeOfMessages},
      {"symmetric", Symmetric},
      {"symmetric_then_channels", SymmetricThenChannels},
      {"symmetric_groups", SymmetricGroups},
      {"events_without_kernels", EventsWithoutKernels},
      {"elsewhere_events_without_kernels", EventsWithoutKernels},
      {"copy_engine", CopyEngine},
      {"alone", OneRank},
      {"other_types", OtherTypes},
      {"lost_stops", LostStops},
      {"abort", Abort},
      {"stop_on_another_thread", StopOnAnotherThread},
      {"channels_of_many_threads", ChannelsOfManyThreads},
      {"not_blocking", NotBlocking},
      {"stop_without_state", StopWithoutState},
      {"start_at_zero", StartAtZero},
      {"stop_at_zero", StopAtZero},
      {"one_starts_at_zero", OneStartsAtZero},
      {"null_handles", NullHandles},
      {"foreign_transfers", ForeignTransfers},
      {"own_transfers", OwnTransfers},
      {"off", Off},
      {"mask", Mask},
      {"mask_while_making", MaskWhileMaking},
      {"more_contexts_than_places", MoreContextsThanPlaces},
  };
  const auto found = kTraps.find(name);
  return found == kTraps.end() ? nullptr : found->second;
}

}  // namespace fathom::nccl_side
