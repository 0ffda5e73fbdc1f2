#include "daemon/tracer/core/ring/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/tracer/core/host/clock.h"
#include "daemon/tracer/core/host/text.h"

namespace fathom::tracer {
namespace {

constexpr std::uint32_t kMaxGenerations = 1000;
constexpr char kVersion[] = "0.1.0";
constexpr std::uint32_t kBuiltSources =
    abi::kSourceGloo | abi::kSourcePython | abi::kSourceCuda | abi::kSourceCupti |
    abi::kSourceNccl | abi::kSourceNcclPlugin | abi::kSourceNcclTransfers | abi::kSourceProducts;

// Field 22 of /proc/self/stat; 0 when it cannot be read. The name in field 2 may hold anything, so
// counting starts at the last ')'.
std::uint64_t StartTimeTicks() {
  const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[1024];
  const ssize_t got = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (got <= 0) return 0;
  text[got] = '\0';
  const char* at = strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) {
    at = strchr(at + 1, ' ');
  }
  std::uint64_t ticks = 0;
  if (at != nullptr) sscanf(at + 1, "%lu", &ticks);
  return ticks;
}

int OpenHidden(const char* path) {
  const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int fd = open(path, flags, 0600);
  if (fd < 0 && errno == EEXIST && unlink(path) == 0) {
    fd = open(path, flags, 0600);  // left by an earlier process of this pid that died here
  }
  return fd;
}

// Growing a file past RLIMIT_FSIZE would send SIGXFSZ, which ends the host by default.
bool MayGrowTo(std::size_t bytes) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes) return true;
  errno = EFBIG;
  return false;
}

// A signal that arrives meanwhile undoes it: a profiler's timer may send one each millisecond.
int Reserve(int fd, std::size_t bytes) {
  constexpr int kAttempts = 100;
  int failed = EINTR;
  for (int i = 0; i < kAttempts && failed == EINTR; ++i) {
    failed = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  }
  return failed;
}

void* MapFile(int fd, std::size_t bytes) {
  if (!MayGrowTo(bytes) || fchmod(fd, 0600) != 0) return nullptr;
  const int failed = Reserve(fd, bytes);
  if (failed != 0) {
    errno = failed;
    return nullptr;
  }
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  return at == MAP_FAILED ? nullptr : at;
}

void FillLayout(abi::RegionHeader* header, std::uint32_t records) {
  header->magic = abi::kMagic;
  header->version_major = abi::kVersionMajor;
  header->version_minor = abi::kVersionMinor;
  header->header_bytes = sizeof(abi::RegionHeader);
  header->region_bytes = abi::RegionBytes(records);
  header->record_bytes = sizeof(abi::EventRecord);
  header->record_count = records;
  header->control_offset = abi::kControlOffset;
  header->groups_offset = abi::kGroupsOffset;
  header->group_slots = abi::kGroupSlots;
  header->group_bytes = sizeof(abi::GroupSlot);
  header->arena_offset = abi::kArenaOffset;
  header->arena_bytes = abi::kMemberArenaBytes;
  header->records_offset = abi::kRecordsOffset;
  header->transfers_offset = abi::RegionBytes(records);
  header->transfer_slots = abi::kTransferSlots;
  header->transfer_bytes = sizeof(abi::TransferSlot);
}

void FillIdentity(abi::RegionHeader* header, const Settings& settings, const Identity& identity) {
  header->pid = static_cast<std::uint32_t>(getpid());
  header->start_time_ticks = StartTimeTicks();
  header->created_mono_ns = MonotonicNs();
  header->created_wall_ns = ReadClockNs(CLOCK_REALTIME);
  header->rank = identity.rank;
  header->world_size = identity.world_size;
  header->local_rank = identity.local_rank;
  header->restart_count = identity.restart_count;
  header->sources = settings.sources & kBuiltSources;
  header->identity_source = static_cast<std::uint32_t>(identity.source);
  CopyText(header->job, sizeof(header->job), settings.job[0] != '\0' ? settings.job : identity.job);
  CopyText(header->run_id, sizeof(header->run_id), identity.run_id);
  CopyText(header->tracer_version, sizeof(header->tracer_version), kVersion);
}

bool MakePath(char (&path)[kRegionPathBytes], const char* dir, const char* before,
              std::uint32_t generation, const char* after) {
  CopyText(path, sizeof(path), dir);
  return AppendText(path, sizeof(path), "/") && AppendText(path, sizeof(path), before) &&
         AppendNumber(path, sizeof(path), static_cast<std::uint64_t>(getpid())) &&
         AppendText(path, sizeof(path), "-") && AppendNumber(path, sizeof(path), generation) &&
         AppendText(path, sizeof(path), after);
}

// Gives the hidden file its name. The header must tell the generation before the name shows it.
bool Publish(const char* hidden, const char* dir, abi::RegionHeader* header,
             char (&path)[kRegionPathBytes]) {
  for (std::uint32_t generation = 0; generation < kMaxGenerations; ++generation) {
    if (!MakePath(path, dir, "", generation, ".ring")) break;
    header->generation = generation;
    header->ready.store(1, std::memory_order_release);
    if (link(hidden, path) == 0) {
      unlink(hidden);
      return true;
    }
    if (errno != EEXIST) break;
  }
  return false;
}

void PointInto(void* base, std::uint32_t records, Region* region) {
  auto* bytes = static_cast<std::uint8_t*>(base);
  region->header = reinterpret_cast<abi::RegionHeader*>(bytes);
  region->control = reinterpret_cast<abi::ControlBlock*>(bytes + abi::kControlOffset);
  region->groups = reinterpret_cast<abi::GroupSlot*>(bytes + abi::kGroupsOffset);
  region->arena = bytes + abi::kArenaOffset;
  region->records = reinterpret_cast<abi::EventRecord*>(bytes + abi::kRecordsOffset);
  region->transfers = reinterpret_cast<abi::TransferSlot*>(bytes + abi::RegionBytes(records));
  region->slot_mask = records - 1;
}

}  // namespace

bool CreateRegion(const Settings& settings, const Identity& identity, Region* region,
                  char (&path)[kRegionPathBytes]) {
  char hidden[kRegionPathBytes];
  if (!MakePath(hidden, settings.shm_dir, ".", 0, ".new")) return false;
  const int fd = OpenHidden(hidden);
  if (fd < 0) return false;

  const std::size_t bytes = abi::FileBytes(settings.records);
  void* base = MapFile(fd, bytes);
  if (base != nullptr) {
    PointInto(base, settings.records, region);
    FillLayout(region->header, settings.records);
    FillIdentity(region->header, settings, identity);
    if (Publish(hidden, settings.shm_dir, region->header, path)) {
      close(fd);
      return true;
    }
  }
  const int saved = errno;
  if (base != nullptr) munmap(base, bytes);
  *region = Region{};
  unlink(hidden);
  close(fd);
  errno = saved;
  return false;
}

void* MapNewFile(const char* path, std::size_t bytes) {
  const int fd = OpenHidden(path);
  if (fd < 0) return nullptr;
  void* at = MapFile(fd, bytes);
  const int saved = errno;
  if (at == nullptr) unlink(path);
  close(fd);
  errno = saved;
  return at;
}

}  // namespace fathom::tracer
