// What the collector knows of one rank besides its iterations: its process and its health.
//
// Owned by RankTable, one a rank. Filled from RankInfo, RankGone and RankHealth; read by the view
// builder and the API.
//
// Units: ns; collector's monotonic clock for *_mono. Thread-safety: plain values under JobState's
// lock. Cost: some 300 bytes a rank, besides what a rank in trouble tells.
#ifndef FATHOM_COLLECTOR_JOB_RANKS_RANK_STATE_H_
#define FATHOM_COLLECTOR_JOB_RANKS_RANK_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "proto/types/gpu.h"

namespace fathom::collector {

// abi::SourceBit: hooks in place (RankInfo.sources), that have told something, that are switched
// off.
enum SourceBit : std::uint32_t {
  kGloo = 1,
  kPython = 2,
  kNccl = 4,
  kCuda = 8,
  kNcclPlugin = 16,
  kCupti = 32,
  kNcclTransfers = 64,
  kProducts = 128,
};

struct RankProcess {
  static constexpr std::uint32_t kNoNode = 0xffffffff;
  static constexpr std::uint32_t kNoUser = 0xffffffff;  // Linux gives it to nobody

  std::uint32_t node = kNoNode;  // index into RankTable::nodes()
  std::uint32_t pid = 0;
  std::uint64_t boot = 0;            // which of its node's, hashed; 0: not told
  std::uint64_t start_ticks = 0;     // since that boot
  std::int64_t started_wall_ns = 0;  // for display
  std::uint32_t user = kNoUser;
  std::uint64_t mark = 0;  // of node, boot, start and pid: the process among those of former lives
  std::uint32_t restart_count = 0;
  std::uint32_t local_rank = 0;
  std::uint32_t sources = 0;

  bool SameProcess(const RankProcess& o) const {
    const bool same_boot = boot == o.boot || boot == 0 || o.boot == 0;
    return node == o.node && pid == o.pid && same_boot && start_ticks == o.start_ticks;
  }
};

// A connection of a rank that is stuck in an op; `state.peer` is told only where both ends are
// seen.
struct RankSocket {
  std::string local, peer;
  diagnosis::PathState state;
};

// What only a rank that is silent, is gone, lost records or refused a window has to tell.
struct RankTrouble {
  std::string open_mark;
  Nanos open_mark_age;
  std::string window_refused;  // why its newest window of detail did not open
  std::shared_ptr<const diagnosis::StackSeen> stack;  // null: none
  std::vector<std::pair<std::string, std::uint64_t>> tracer_drops;
  std::vector<diagnosis::OpenOp> open_ops;
  std::vector<diagnosis::GroupProgress> groups;
  std::optional<GroupId> newest_group;  // where groups are told
  std::vector<RankSocket> sockets;
  std::vector<diagnosis::Transfer> transfers;
};

struct RankHealthState {
  bool known = false;
  MonoNs received_mono;
  diagnosis::ProcessState state = diagnosis::ProcessState::kUnknown;
  std::string wait_channel;
  Nanos last_event_age;
  std::int64_t cpu_ns = 0;
  std::int64_t cpu_at_silence_ns = 0;  // cpu_ns when the present silence began
  std::int64_t runqueue_ns = 0, runqueue_at_silence_ns = 0;  // likewise
  std::uint64_t io_bytes = 0, io_at_silence = 0;             // likewise
  std::uint64_t faults = 0, faults_at_silence = 0;
  std::uint32_t oom_kills = 0;
  bool frozen = false;
  Nanos typical_iteration;
  std::int64_t iterations_seen = 0;
  std::int32_t recent_pause_ms = 0, longest_pause_ms = 0;
  std::uint32_t sources_seen = 0;  // SourceBit: something has come from these
  std::uint32_t sources_off = 0;   // SourceBit: switched off now
  std::uint32_t plugin_mask = 0;   // the ring's word
  std::uint64_t records_total = 0, records_lost = 0, records_torn = 0, records_invalid = 0;
  std::vector<diagnosis::ProcessSample> samples;  // of a silence outside of any op; else empty
  std::unique_ptr<RankTrouble> trouble;           // null: nothing of it, as of nearly all ranks
};

struct RankState {
  RankProcess process;
  std::unique_ptr<const Gpu> gpu;  // null: not known, or it drives several
  bool gone = false;
  bool exited_orderly = false;
  WallNs gone_at;                  // by its node's clock
  std::optional<int> wait_status;  // as wait(2) gives it
  bool communication_failed = false;
  MonoNs announced_mono;
  MonoNs summary_mono;  // newest batch
  RankHealthState health;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_RANKS_RANK_STATE_H_
