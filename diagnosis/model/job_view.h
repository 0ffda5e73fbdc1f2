// All that diagnosis may look at for one job, as plain data: the single input of every rule.
//
// Built by collector/job (live) and by importers (offline). Diagnosis never asks for more by
// itself: Watch() says which rows it would like, the caller fetches them and calls Diagnose().
//
// Shapes: `window` is ordered by index without gaps where data came; an iteration may lack ranks.
// `groups` is sorted by id, `ranks` by rank. `rows` holds the ops of the iterations asked for, of
// the ranks that answered, each sorted by enter.
// Thread-safety: plain values; a JobView is built, then only read.
// Cost: window O(ranks × iterations); rows only for what was asked.
#ifndef FATHOM_DIAGNOSIS_MODEL_JOB_VIEW_H_
#define FATHOM_DIAGNOSIS_MODEL_JOB_VIEW_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/model/comm_op.h"
#include "diagnosis/model/rank_record.h"
#include "diagnosis/model/schedule_trace.h"
#include "proto/types/flop_class.h"
#include "proto/types/gpu.h"
#include "proto/types/ids.h"
#include "proto/types/issue_latency.h"
#include "proto/types/time_units.h"

namespace fathom::diagnosis {

struct Group {
  GroupId id;
  std::string name;
  std::string description;
  std::uint32_t size = 0;
  std::vector<RankId> members;  // global ranks in group order; empty when not known
  bool guessed = false;         // identity from order of construction only
};

// One communicator in one iteration of one rank. elapsed = end − enter of each op, summed.
struct GroupIteration {
  GroupId group;
  std::uint32_t count = 0;
  Nanos elapsed;
  Nanos shortest;  // of what is no receive: one of what is at hand takes no time; 0: none such
  Nanos longest;
  Nanos first;  // elapsed of the first op of the iteration on this group
};

struct RankIteration {
  RankId rank;
  MonoNs begin;
  Nanos duration;
  Nanos cpu;       // of the training thread
  Nanos runqueue;  // runnable, waiting for a core
  Nanos blocked;   // in waits on communication
  // Where communication runs beside computing (peers/beside_time). Of `blocked`, ops that computing
  // may have hidden; between such ops and during those that it hid it computed; the longest op from
  // which on that is not known. All 0: none such is known.
  Nanos unsure;
  Nanos beside;
  Nanos leading;
  bool settled = false;  // so was `blocked`; its rows tell no more of it
  Nanos gc;
  Nanos dataloader;
  Nanos loader_starved;              // of that: processes that make its batches waited for a core
  Nanos device_wait;                 // its host stood still for its device
  Nanos device;                      // its device computed or copied; 0 where no device was traced
  std::uint64_t blocks = 0;          // of threads, that its kernels ran; 0 where grids are not told
  std::uint64_t batch_elements = 0;  // of the largest tensors of its batches; 0: not known
  // Nothing that is seen ran: the longest stretch, and the rest; both 0 where it is not known.
  Nanos void_between;
  Nanos void_within;
  std::uint32_t mega_flop = 0;  // of its products of matrices, in 10^6; 0: not known
  std::uint32_t ops = 0;
  std::vector<GroupIteration> groups;
};

struct IterationSummary {
  Iteration index;
  WallNs begin;
  std::vector<RankIteration> ranks;  // sorted by rank; those that reported
  IssueLatency issued;               // of all of them; empty: no device tells when it begins an op
  FlopByClass flop{};                // of all of them; 0 where no product was seen
};

// An op that has not ended, as the agent sees it in the ring.
struct OpenOp {
  GroupId group;
  Sequence sequence = kNoSequence;
  CollectiveKind kind = CollectiveKind::kUnknown;
  DataType data_type = DataType::kUnknown;
  std::uint64_t bytes = 0;
  RankId peer = kNoRank;
  Nanos age;
  bool started = false;
};

// What a rank sends to, or receives from, one other rank in an op that is open, on one channel of
// NCCL's, in steps (abi::TransferSlot). A send: posted ≥ gpu ≥ moved ≥ done; a receive: posted ≥
// moved ≥ gpu ≥ done.
struct Transfer {
  GroupId group;
  Sequence sequence = kNoSequence;
  RankId peer = kNoRank;
  std::uint32_t channel = 0;
  bool sends = false;
  std::uint32_t steps = 0;
  std::uint32_t posted = 0;  // a buffer was offered: to the GPU, to the network
  std::uint32_t gpu = 0;     // the GPU has filled it; it was handed to the GPU
  std::uint32_t moved = 0;   // the network has taken it; it has arrived
  std::uint32_t done = 0;    // the network has confirmed it; the GPU has taken it
  Nanos still_for;           // since a count changed, as far as was looked
};

struct GroupProgress {
  GroupId group;
  std::uint64_t entered = 0;
  std::uint64_t started = 0;
  std::uint64_t completed = 0;
};

// What a rank sent to another over one connection, in two stretches of time: up to a moment, and
// from then on. busy: time in which data was queued or not yet confirmed.
struct PathFlow {
  RankId peer = kNoRank;
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_since = 0;
  Nanos busy_before;
  Nanos busy_since;
  bool within_host = false;  // both ends have one address: no device of the network carries it
};

enum class ProcessState : std::uint8_t {
  kUnknown,
  kRunning,          // R
  kSleeping,         // S, I
  kUninterruptible,  // D
  kStopped,          // T
  kTraced,           // t: held by a debugger
  kZombie,           // Z
  kGone,             // no such process any more
};

// The main thread's stack of a rank that is silent: a suspect, or a sample of those that wait.
struct StackSeen {
  std::vector<std::string> frames;  // innermost first, "function (file:line)"
  std::uint32_t samples = 0;        // in this silence
  std::uint32_t functions = 0;      // distinct innermost functions among them
  std::string error;                // why there is none
  std::string source;               // "py-spy", "in-process", "native"
  Nanos pause;            // its thread was stopped so long for the newest sample; 0: it was not
  Nanos longest_pause;    // for any of them
  bool given_up = false;  // that was too long for its agent, which takes no more
};

// What the process of a silent rank had used at a moment of its silence: counters, of which only
// differences tell. Descendants are processes that it started, and those that these started.
struct ProcessSample {
  Nanos silent_for;
  Nanos cpu;
  Nanos starved;
  std::uint64_t io = 0;
  std::uint64_t faults = 0;
  bool descendants_known = false;
  Nanos descendants_cpu;
  std::uint64_t descendants_io = 0;
};

// What is known of a rank besides its iterations.
struct RankFacts {
  RankId rank;
  std::string node;
  std::optional<Gpu> gpu;  // none: not known, or it drives several
  std::uint32_t pid = 0;
  ProcessState state = ProcessState::kUnknown;
  bool exited_orderly = false;
  std::string wait_channel;
  Nanos silent_for;                       // since its newest record; 0 while it is active
  Nanos cpu_while_silent;                 // CPU time its process used in that time
  Nanos starved_while_silent;             // its training thread was runnable, and waited for a core
  std::uint64_t io_while_silent = 0;      // bytes read and written by system calls
  std::uint64_t faults_while_silent = 0;  // page faults
  // Of a rank that is silent outside of any op, oldest first: the beginning of its silence, then
  // about one a second, the newest. Empty: only the sums above are known.
  std::vector<ProcessSample> samples;
  std::string open_mark;  // "gc", "dataloader", "checkpoint (torch.save)": what it said it began
  Nanos in_mark_for;      // since then; 0: not told
  StackSeen stack;
  std::uint64_t oom_kills = 0;        // in its cgroup, since its agent saw it first
  bool frozen = false;                // its cgroup is frozen
  WallNs gone_at;                     // its node's clock; not known while it lives
  std::optional<int> wait_status;     // of a process that is gone, as wait(2) gives it
  bool communication_failed = false;  // of its last ops one reported an error
  Nanos typical_iteration;            // 0: no period known
  std::int64_t iterations_seen = 0;
  Nanos recent_pause;           // the longest between two of its latest ops; 0: too few are known
  Nanos longest_pause;          // the longest that is remembered
  bool agent_reachable = true;  // false: what is said here is old
  std::vector<OpenOp> open_ops;
  std::vector<GroupProgress> groups;
  std::optional<GroupId> newest_group;  // of its newest op, where `groups` is told
  std::vector<PathFlow> flows;          // to its peers, where the transport was recorded
  std::vector<PathState> paths;         // to its peers, live, of a rank that is stuck in an op
  std::vector<Transfer> transfers;      // of the ops that it is stuck in, where NCCL tells
};

struct RankRows {
  std::vector<CommOp> ops;
  std::vector<Mark> marks;
  // Of traces with Python stacks; live those that the user named.
  std::vector<FunctionCall> functions;
  std::vector<DeviceWait> device_waits;  // by begin; empty where kernels were not traced
};

// All activities of one kind and name on a device, in a window of detail.
struct ActivitySum {
  std::string kind;  // "kernel", "copy", "memset", "sync"; "cupti", "driver": time of the host
  std::string name;  // of the kernel or of the host's time
  std::uint64_t count = 0;
  Nanos total;
  Nanos longest;
  std::uint64_t bytes = 0;
};

// What a rank's device did in a few iterations, every kernel counted.
struct DeviceWindow {
  Iteration first{-1};
  std::int64_t iterations = 0;
  Nanos lasted;
  Nanos busy;              // a kernel, a copy or a memset ran
  std::uint64_t lost = 0;  // records that did not fit
  std::vector<ActivitySum> sums;
};

// A signal that rules rely on, and what its absence hides.
struct SignalState {
  enum class Level : std::uint8_t { kOff, kPartly, kOn };
  std::string name;
  Level level = Level::kOff;
  std::string hides;
};

// The slow episode a job is in, as Watch() last saw it. Handing it back keeps the baseline and the
// onset when the window has moved past them, and asks for the rows of the same ranks again as far
// as they will do. onset −1: none.
struct Episode {
  Iteration onset{-1};
  WallNs onset_time;
  Nanos expected;                  // iteration time before the onset
  Nanos noise;                     // and its standard deviation
  std::vector<RankId> asked = {};  // whose rows were wanted last; sorted
  bool wide = false;   // rows of few ranks did not tell; set by whoever called Diagnose(), until
                       // the episode is over
  bool named = false;  // somebody was convicted of it; set likewise
  std::vector<Episode> rise = {};  // at most one: slower yet, within an episode of nobody's doing
};

// An iteration as Watch() last judged it. The window of many communicators is short, and what is
// usual must not be learned anew from what happens to be in it.
struct PastIteration {
  Iteration index;
  WallNs begin;
  Nanos duration;  // of the job
  bool regular = true;
};

// A single long iteration between regular ones, and whose own time made it so.
struct Spike {
  Iteration index;
  WallNs begin;
  Nanos lost;                     // of the job, beyond what is usual
  RankId rank = kNoRank;          // kNoRank: nobody's alone
  Nanos own;                      // of the rank, beyond what is usual for it
  Nanos compute, gc, dataloader;  // of that
};

// Those that have been seen; a window is too short to hold several.
struct SpikeMemory {
  Iteration judged{-1};       // none is missing up to here
  std::vector<Spike> spikes;  // the largest of late, by index
};

struct JobView {
  std::string name;
  std::uint32_t world_size = 0;
  std::uint32_t nodes = 0;
  WallNs now;
  std::vector<Group> groups;
  std::vector<RankFacts> ranks;
  std::vector<IterationSummary> window;
  std::int64_t iterations_seen = 0;  // since the job began; 0: those of the window
  std::map<RankId, RankRows> rows;
  // Of ranks that were asked for one, never null; often empty.
  std::map<RankId, std::shared_ptr<const DeviceWindow>> device_windows;
  std::vector<SignalState> signals;
  std::uint64_t records_dropped = 0;
  std::vector<RankRecord> records;  // of a job that stopped; sorted by rank; empty live
  ScheduleTrace schedule;           // of a job whose trace names its ops; empty live
  Episode episode;                  // Suspicion::episode of the last Watch(); optional
  std::vector<PastIteration> past;  // Suspicion::past of the last Watch(); by index; optional
  SpikeMemory spikes;               // Suspicion::spikes likewise
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_JOB_VIEW_H_
