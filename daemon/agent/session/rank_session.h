// One traced process: its ring, its pipeline, its /proc facts, from the first look to its end.
//
// Made by agent for each ring that ring_directory opens; polled by the agent's loop.
//
// Model: Poll reads the control block, refreshes the group table when it grew, drains the ring into
// the pipeline, samples the API-calling threads and what makes batches at the plan's paces, looks
// whether a process that is silent was stopped, and closes iterations, in this order (each step
// needs what the one before saw). A region that cannot be read any more (truncated) makes the
// session broken: it stays until its process is gone, says why once, and reads no more. Retire
// drains a last time and lets go of the region; the pipeline stays for late row requests.
//
// A rank that the launcher's variables did not give is taken from the first group, if that is all.
//
// Units: CLOCK_MONOTONIC ns. Thread-safety: single-threaded, owned by the poll loop.
// Ownership: owns region, pipeline and samplers.
// Errors: Poll's status is the first failure of the region; later polls return OK and do nothing.
// Cost: an idle Poll is one system call; else see ring_consumer and rank_pipeline.
#ifndef FATHOM_DAEMON_AGENT_SESSION_RANK_SESSION_H_
#define FATHOM_DAEMON_AGENT_SESSION_RANK_SESSION_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/agent/budget/work_part.h"
#include "daemon/agent/pipeline/held_back.h"
#include "daemon/agent/pipeline/rank_pipeline.h"
#include "daemon/agent/session/switch_watch.h"
#include "daemon/agent/session/window_watch.h"
#include "daemon/agent/source/held/cpu_limit.h"
#include "daemon/agent/source/held/stop_watch.h"
#include "daemon/agent/source/process/process_facts.h"
#include "daemon/agent/source/process/thread_sampler.h"
#include "daemon/agent/source/process/worker_sampler.h"
#include "daemon/agent/source/ring/group_table.h"
#include "daemon/agent/source/ring/region_reader.h"
#include "daemon/agent/source/ring/ring_consumer.h"

namespace fathom::agent {

// How often the clocks of its threads, and of what makes its batches, are read.
struct SamplePace {
  std::int64_t threads_ns = 5'000'000;
  std::int64_t workers_ns = 250'000'000;
};

struct SessionSettings {
  std::string folder;  // of the rings
  PipelineSettings pipeline;
  KernelRoots roots;
  std::uint64_t max_records_per_poll = 1 << 20;
  CostMeter* meter = nullptr;  // of what its polls cost; outlives it
  // A ring whose process /proc never showed (another pid namespace, or it ended before this agent
  // started) is let go after so long a silence; that says nothing of the process. One that said
  // itself that it exits is believed after two seconds.
  std::int64_t unseen_silence_ns = 600'000'000'000;
};

class RankSession {
 public:
  RankSession(std::string name, RegionReader region, const SessionSettings& settings);
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;
  ~RankSession();

  struct PollResult {
    std::uint64_t records = 0;
    std::vector<std::uint16_t> new_groups;  // slots
    bool gpu_changed = false;
  };
  absl::StatusOr<PollResult> Poll(std::int64_t now_ns);

  void SetPace(const SamplePace& pace) { pace_ = pace; }

  // Whether the process is gone, as /proc tells it, or out of sight for too long.
  bool IsGone(std::int64_t now_ns);
  // Whether it has ended since it was last seen alive, waited for or not; false where the kernel
  // cannot tell. One system call.
  bool Exited() const;
  // The process was never visible to this agent: its end cannot be known.
  bool unseen() const { return !seen_alive_; }

  PollResult Retire(std::int64_t now_ns);
  bool retired() const { return region_ == nullptr; }

  // ring file name, who the process is; rank and world may come from its first group.
  const std::string& name() const { return name_; }
  const RegionIdentity& identity() const { return identity_; }
  uid_t owner() const { return owner_; }  // of its ring
  bool rank_known() const { return identity_.rank != abi::kNoPeer; }
  // Its job gets a name of its own: another process has the same one, and each is alone in it
  // (training runs that one script starts beside one another).
  void StandApart();

  RankPipeline& pipeline() { return pipeline_; }
  const RankPipeline& pipeline() const { return pipeline_; }
  std::span<const GroupFacts> groups() const { return group_facts_; }
  // Ops of a communicator are told by NCCL's profiler plugin alone, because no call is hooked: NCCL
  // is linked statically.
  bool OnlyThePluginTells() const;
  // It is on its own, and known by the steps of its optimizer.
  bool TellsByStepsOnly() const;
  // The one that all its communicators that tell one are on.
  const std::optional<Gpu>& gpu() const { return gpu_; }
  std::span<const GroupProgress> progress() const { return group_progress_; }
  const RingCounters& ring() const { return ring_counters_; }
  const ControlSnapshot& control() const { return control_; }
  const ProcessLife& life() const { return life_; }
  std::uint64_t capacity() const { return capacity_; }
  // Time of the newest record of an op of the training; before the first one, of the region's
  // creation.
  std::int64_t last_event_ns() const;
  std::uint32_t training_thread() const;
  // How long it was seen to be stopped from outside, in all.
  std::int64_t stopped_ns() const { return stops_ == nullptr ? 0 : stops_->stopped_ns(); }
  // Keeps what of its facts is asked for after its end.
  void Note(const ProcessFacts& facts);
  // Killed for want of memory in its cgroup since the first Note, as is told now.
  std::uint64_t OomKills() const;
  // No record for max(2 s, 3 typical iterations).
  bool Silent(std::int64_t now_ns) const;
  // Reads the group table's progress words again, and ends what communicators that were stopped
  // had in flight.
  void RefreshProgress();
  // What its process's proxies move now, where that is told; empty for one that is gone.
  std::vector<TransferSeen> Transfers() const;

  // Asks the process for a window of detail: `order` with the slot of `group` filled in. Errors:
  // NotFound where the process is not in that group, and those of WindowWatch.
  absl::Status AskWindow(std::uint64_t request_id, GroupId group, WindowOrder order);
  // What became of it, once; also when the process is gone.
  [[nodiscard]] std::optional<WindowOutcome> TakeWindow(std::int64_t now_ns);
  const WindowWatch& window() const { return window_; }
  // Orders the process to switch its sources: `words` with the slot of `group` filled in. Errors:
  // as AskWindow; FailedPrecondition with a word for why the process may not.
  absl::Status AskSwitch(std::uint64_t request_id, GroupId group, SwitchWords words,
                         std::int64_t deadline_ns);
  // What became of orders, each once; also when the process is gone.
  std::vector<SwitchOutcome> TakeSwitches(std::int64_t now_ns);
  // The sequence of its newest op on the group; nothing: it is no member, its process
  // is gone, or it has entered none lately.
  std::optional<std::uint64_t> NewestSequence(GroupId group) const;
  // Of the function with this number; empty where it has none. Reads the table again where the
  // number is new.
  std::string FunctionName(std::uint32_t number);

 private:
  bool HasGroupOf(abi::SourceBit source) const;
  absl::Status Drain(std::int64_t now_ns, bool last_call, PollResult& result);
  void TakeGroups(PollResult& result);
  void TakeGpu(PollResult& result);
  // Whether a communicator may have told its device since the last look.
  bool DeviceDue(std::int64_t now_ns);
  void SampleThreads(std::int64_t now_ns);
  void SampleWorkers(std::int64_t now_ns);
  void ReadLimit(std::int64_t now_ns);
  void LookForStops(std::int64_t now_ns);
  void Handled(WorkPart part, std::uint64_t events) const;
  void ReadFunctionNames();
  // The place of a communicator in the process's table; none where it is not a member.
  std::optional<std::uint32_t> SlotOf(GroupId group) const;

  const std::string name_;
  const SessionSettings settings_;
  std::unique_ptr<RegionReader> region_;
  RegionIdentity identity_;
  uid_t owner_ = 0;
  const std::uint64_t capacity_;
  std::unique_ptr<RingConsumer> consumer_;
  std::unique_ptr<GroupTable> table_;
  std::unique_ptr<ThreadSampler> sampler_;
  std::unique_ptr<WorkerSampler> workers_;
  std::unique_ptr<CpuLimitReader> limit_;
  std::unique_ptr<StopWatch> stops_;
  HeldBack workers_held_back_;
  RankPipeline pipeline_;
  WindowWatch window_;
  SwitchWatch switches_;
  std::vector<std::string> function_names_;
  ControlSnapshot control_;
  RingCounters ring_counters_;
  std::vector<GroupFacts> group_facts_;
  std::vector<GroupProgress> group_progress_;
  std::optional<Gpu> gpu_;
  ProcessLife life_;
  bool broken_ = false;
  bool seen_alive_ = false;
  std::string cgroup_;
  std::uint64_t first_oom_kills_ = 0;
  int pidfd_ = -1;  // of a process that was seen alive
  SamplePace pace_;
  std::int64_t last_sample_ns_ = 0;
  std::int64_t last_worker_sample_ns_ = 0;
  std::int64_t last_limit_ns_ = 0;
  std::int64_t last_heartbeat_ns_ = 0;
  std::int64_t last_device_look_ns_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_RANK_SESSION_H_
