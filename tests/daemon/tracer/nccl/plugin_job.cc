#include "tests/daemon/tracer/nccl/plugin_job.h"

#include <stdio.h>
#include <string.h>

#include <thread>

namespace fathom::nccl_side {
namespace {

constexpr int kInProgress = 7;  // ncclInProgress

Job* maker = nullptr;
bool made_elsewhere = false;

void* MakeContext(int ranks, int rank) {
  void* context = nullptr;
  const auto make = [&] { context = maker->side.Init(42, ranks, rank); };
  if (made_elsewhere) {
    std::thread(make).join();
  } else {
    make();
  }
  return context;
}

void RunInside(void* inside) { (*static_cast<const std::function<void()>*>(inside))(); }

void SetInside(const std::function<void()>& inside) {
  if (inside == nullptr) return stage_inside(nullptr, nullptr);
  stage_inside(RunInside, const_cast<std::function<void()>*>(&inside));
}

int NumberOfType(const char* type) { return strcmp(type, "ncclInt8") == 0 ? 0 : 7; }

// Its real function, by its name.
int CallByName(StageComm* comm, const Call& call) {
  const std::string name = call.function;
  const int type = NumberOfType(call.type);
  const std::size_t n = call.count;
  const int peer = call.peer;
  if (name == "AllReduce") return ncclAllReduce(nullptr, nullptr, n, type, 0, comm, nullptr);
  if (name == "Reduce") return ncclReduce(nullptr, nullptr, n, type, 0, peer, comm, nullptr);
  if (name == "Broadcast") return ncclBroadcast(nullptr, nullptr, n, type, peer, comm, nullptr);
  if (name == "AllGather") return ncclAllGather(nullptr, nullptr, n, type, comm, nullptr);
  if (name == "AlltoAll") return ncclAlltoAll(nullptr, nullptr, n, type, comm, nullptr);
  if (name == "Gather") return ncclGather(nullptr, nullptr, n, type, peer, comm, nullptr);
  if (name == "Scatter") return ncclScatter(nullptr, nullptr, n, type, peer, comm, nullptr);
  if (name == "Send") return ncclSend(nullptr, n, type, peer, comm, nullptr);
  if (name == "Recv") return ncclRecv(nullptr, n, type, peer, comm, nullptr);
  return ncclReduceScatter(nullptr, nullptr, n, type, 0, comm, nullptr);
}

}  // namespace

Job::Job(int version) : side(version) {
  maker = this;
  stage_make_contexts(MakeContext);
}

StageComm* Job::Make(int ranks) {
  made_elsewhere = elsewhere_;
  StageComm* comm = nullptr;
  ncclCommInitRank(&comm, ranks, StageId{}, ranks == 1 ? 0 : 1);
  return comm;
}

void Job::AnswerInProgress() {
  answer_ = kInProgress;
  stage_answer(answer_);
}

void Job::Api(StageComm* comm, const Call& call, const std::function<void()>& inside) {
  SetInside(inside);
  side.Expect(CallByName(comm, call) == answer_, call.function);
}

void* Job::Enqueue(StageComm* comm, const Call& call) {
  void* task = nullptr;
  Api(comm, call, [&] {
    void* user = side.StartCall(comm->context, call);
    task = side.StartLaunched(comm->context, call, user);
    side.Stop(task);
    side.Stop(user);
  });
  return task;
}

void Job::End(const std::function<void()>& inside, int (*end)()) {
  SetInside(inside);
  end();
}

std::vector<void*> Job::Group(StageComm* comm, const std::vector<Call>& calls,
                              const std::vector<std::size_t>& order) {
  std::vector<void*> users;
  std::vector<void*> tasks(calls.size());
  ncclGroupStart();
  for (const Call& call : calls) {
    Api(comm, call, [&] {
      users.push_back(side.StartCall(comm->context, call));
      side.Stop(users.back());
    });
  }
  const auto launch = [&] {
    for (const std::size_t i : order) {
      tasks[i] = side.StartLaunched(comm->context, calls[i], users[i]);
      side.Stop(tasks[i]);
    }
  };
  End(launch, ncclGroupEnd);
  return tasks;
}

void Job::Run(StageComm* comm, void* task, const std::vector<Span>& channels) {
  if (task == nullptr) return;  // NCCL is silent on what has no handle
  std::vector<void*> handles;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    handles.push_back(
        side.StartChannel(comm->context, task, static_cast<int>(i), channels[i].start_ns));
  }
  for (std::size_t i = 0; i < channels.size(); ++i) {
    side.StopChannel(handles[i], channels[i].end_ns);
  }
}

}  // namespace fathom::nccl_side
