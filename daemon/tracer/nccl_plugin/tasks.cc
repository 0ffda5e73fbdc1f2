#include "daemon/tracer/nccl_plugin/tasks.h"

namespace fathom::tracer::nccl_plugin {
namespace {

// `word`: generation 32, told 8 (an end was written), expected 8, started 8, stopped 8.
struct alignas(64) Task {
  std::atomic<std::uint64_t> word;
  std::atomic<std::uint64_t> first_start_ns;
  std::atomic<std::uint64_t> last_end_ns;
  // Of its op. Zero at first, as all of the table: else it would lie in the file.
  std::uint64_t op_id;
  std::uint16_t group_slot;
  std::uint8_t kind;

  OpRef op() const { return {op_id, group_slot, kind}; }
};

constinit Task tasks[kTasks];
constinit std::atomic<std::uint32_t> next_task{0};

constexpr std::uint64_t kStoppedOne = 1;
constexpr std::uint64_t kStartedOne = 1 << 8;
constexpr std::uint64_t kToldOne = 1 << 24;

std::uint32_t Stopped(std::uint64_t word) { return word & 0xff; }
std::uint32_t Started(std::uint64_t word) { return word >> 8 & 0xff; }
std::uint32_t Expected(std::uint64_t word) { return word >> 16 & 0xff; }
std::uint32_t Told(std::uint64_t word) { return word >> 24 & 0xff; }

bool AllDone(std::uint64_t word) {
  return Stopped(word) == Started(word) && Stopped(word) >= Expected(word);
}

bool IsCurrent(std::uint64_t word, Handle handle) { return word >> 32 == handle.generation(); }

Task* TaskOf(Handle handle) { return handle.place() < kTasks ? &tasks[handle.place()] : nullptr; }

// Adds `one` to a field of the task's word; the word before, or none where the task is another.
bool Add(Task* task, Handle handle, std::uint64_t one, std::uint64_t* before) {
  std::uint64_t word = task->word.load(std::memory_order_acquire);
  do {
    if (!IsCurrent(word, handle)) return false;
  } while (!task->word.compare_exchange_weak(word, word + one, std::memory_order_acq_rel));
  *before = word;
  return true;
}

void Lower(std::atomic<std::uint64_t>& least, std::uint64_t value) {
  std::uint64_t seen = least.load(std::memory_order_relaxed);
  while ((seen == 0 || value < seen) && value != 0 &&
         !least.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

void Raise(std::atomic<std::uint64_t>& most, std::uint64_t value) {
  std::uint64_t seen = most.load(std::memory_order_relaxed);
  while (value > seen && !most.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

Handle StartTask(const OpRef& op, std::uint8_t expected) {
  const std::uint32_t turn = next_task.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t place = turn % kTasks;
  const auto generation = static_cast<std::uint32_t>(turn / kTasks + 1);
  Task& task = tasks[place];
  task.first_start_ns.store(0, std::memory_order_relaxed);
  task.last_end_ns.store(0, std::memory_order_relaxed);
  task.op_id = op.op_id;
  task.group_slot = op.group_slot;
  task.kind = op.kind;
  task.word.store(std::uint64_t{generation} << 32 | std::uint64_t{expected} << 16,
                  std::memory_order_release);
  return Handle::OfTask(place, generation);
}

OpRef OpOfTask(Handle handle) {
  const Task* task = TaskOf(handle);
  if (task == nullptr || !IsCurrent(task->word.load(std::memory_order_acquire), handle)) return {};
  const OpRef op = task->op();
  std::atomic_thread_fence(std::memory_order_acquire);
  return IsCurrent(task->word.load(std::memory_order_relaxed), handle) ? op : OpRef{};
}

bool StartChannel(const TracerState& state, Handle handle, std::uint64_t gpu_ns) {
  Task* task = TaskOf(handle);
  std::uint64_t before = 0;
  if (task == nullptr || !Add(task, handle, kStartedOne, &before)) return false;
  Lower(task->first_start_ns, gpu_ns);
  if (Started(before) == 0) NoteGpuStart(state, task->op(), gpu_ns);
  return true;
}

bool NoteChannelEnd(Handle handle, std::uint64_t gpu_ns) {
  Task* task = TaskOf(handle);
  if (task == nullptr || !IsCurrent(task->word.load(std::memory_order_acquire), handle)) {
    return false;
  }
  Raise(task->last_end_ns, gpu_ns);
  return true;
}

// Who ends a task for the first time is settled together with the stop: channels of several threads
// may each be the last one that ran.
bool StopChannel(const TracerState& state, Handle handle) {
  Task* task = TaskOf(handle);
  if (task == nullptr) return false;
  std::uint64_t word = task->word.load(std::memory_order_acquire);
  std::uint64_t stopped = 0;
  bool first = false;
  do {
    if (!IsCurrent(word, handle)) return false;
    stopped = word + kStoppedOne;
    first = AllDone(stopped) && Told(word) == 0;
  } while (!task->word.compare_exchange_weak(word, stopped + (first ? kToldOne : 0),
                                             std::memory_order_acq_rel));
  if (!AllDone(stopped)) return true;
  NoteGpuEnd(state, task->op(), task->first_start_ns.load(std::memory_order_relaxed),
             task->last_end_ns.load(std::memory_order_relaxed), first);
  return true;
}

}  // namespace fathom::tracer::nccl_plugin
