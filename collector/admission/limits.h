// Bounds on what a peer may make the collector hold: one place, so that the worst case can be added
// up (docs/design/0003-collector.md does).
//
// Used by collector/ingest (validation), collector/job and collector/http. Sizes in bytes where
// not said otherwise. Thread-safety: constants.
#ifndef FATHOM_COLLECTOR_ADMISSION_LIMITS_H_
#define FATHOM_COLLECTOR_ADMISSION_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace fathom::collector {

inline constexpr std::uint32_t kMaxWorldSize = 1'000'000;
inline constexpr std::size_t kMaxMessageBytes = 4u << 20;
inline constexpr std::size_t kMaxNameBytes = 256;   // job, node, group, version
inline constexpr std::size_t kMaxTextBytes = 1024;  // descriptions, errors

// A batch of summaries.
inline constexpr int kMaxIterationsPerBatch = 1024;
inline constexpr int kMaxGroupsPerBatch = 64;
inline constexpr std::int64_t kMaxIterationJump = 100'000;  // beyond the newest known one
inline constexpr std::int64_t kMaxAnchorStep = 1'000'000'000;

// A job.
inline constexpr std::size_t kMaxGroupsPerRank = 64;       // known by name and members
inline constexpr std::size_t kMaxGroupColumnsPerRank = 8;  // kept per iteration
inline constexpr int kMaxOpenOps = 16;
inline constexpr int kMaxFrames = 64;      // of a stack
inline constexpr int kMaxSockets = 256;    // of a rank
inline constexpr int kMaxTransfers = 256;  // of a rank
inline constexpr std::size_t kMaxFrameBytes = 200;
inline constexpr int kMaxHealthGroups = 64;
inline constexpr int kMaxDropReasons = 32;
inline constexpr int kMaxPlanParts = 64;
inline constexpr int kMaxHardwareDevices = 512;   // of a node, in a message
inline constexpr int kMaxHardwareReadings = 256;  // of a device

// With what a job was started, told by one rank a node.
inline constexpr int kMaxRunFacts = 400;
inline constexpr int kMaxRunWork = 512;             // kinds of ops on communicators
inline constexpr std::size_t kMaxRunVariants = 32;  // that nodes of a job differ in

// Rows, fetched on suspicion.
inline constexpr int kMaxRowsPerRank = 20'000;
inline constexpr int kMaxIterationsPerRequest = 64;  // row.proto
inline constexpr int kMaxPackedRanks = 4096;         // whose ops come in one block
inline constexpr std::size_t kMaxCachedRowsPerJob = 500'000;
inline constexpr std::size_t kMaxShownRowsPerJob = 100'000;  // four pictures of 16 ranks

// The window of summaries: what one rank may cost, everything counted (architecture, section 5).
inline constexpr std::size_t kMaxBytesPerRank = 4096;
inline constexpr std::size_t kDetailBytesPerRank = 2240;  // exact columns
inline constexpr std::size_t kHistoryIterations = 300;    // 4 bytes each, for display
inline constexpr std::size_t kStripIterations = 2000;     // per job: index, begin, duration
inline constexpr std::size_t kMaxSlots = 96;
inline constexpr std::size_t kMinSlots = 20;
inline constexpr std::size_t kSettlingIterations = 2;  // the newest: slower agents may yet report

// A window of detail.
inline constexpr int kMaxActivitySums = 128;
// A capture of one rank's stacks; the agent sends at most 30 KiB.
inline constexpr int kMaxCaptureFrames = 4096;
inline constexpr int kMaxCaptureDepth = 256;
inline constexpr int kMaxCaptureOrder = 8192;
inline constexpr int kMaxCaptureDoing = 16;
inline constexpr double kMaxCaptureSeconds = 3600;

// Sessions.
inline constexpr int kMaxRejectsPerStream = 1000;  // then the stream is closed
inline constexpr std::size_t kMaxQueuedRequestsPerStream = 64;
inline constexpr int kMostMessagesTogether = 256;     // that follow another within it
inline constexpr std::size_t kMaxForeignRanks = 256;  // announced, another's, remembered

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_ADMISSION_LIMITS_H_
