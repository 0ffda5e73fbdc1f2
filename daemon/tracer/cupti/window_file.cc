#include "daemon/tracer/cupti/window_file.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/tracer/core/host/text.h"
#include "daemon/tracer/core/ring/region.h"
#include "daemon/tracer/cupti/activity_layout.h"

namespace fathom::tracer {
namespace {

// The ring's path with `-<ticket>.window` in place of `.ring`.
bool MakePath(char (&path)[kRegionPathBytes], const char* ring, std::uint32_t ticket) {
  constexpr std::size_t kSuffix = 5;  // ".ring"
  const std::size_t length = strlen(ring);
  if (length < kSuffix || !CopyText(path, sizeof(path), ring)) return false;
  path[length - kSuffix] = '\0';
  return AppendText(path, sizeof(path), "-") && AppendNumber(path, sizeof(path), ticket) &&
         AppendText(path, sizeof(path), ".window");
}

template <typename T>
T Field(const std::uint8_t* activity, std::size_t offset) {
  T value{};
  if (offset != kNoField) memcpy(&value, activity + offset, sizeof(value));
  return value;
}

const ActivityLayout* LayoutOf(std::uint32_t kind, abi::ActivityKind* ours) {
  switch (kind) {
    case kCuptiConcurrentKernel:
      *ours = abi::ActivityKind::kKernel;
      return &kKernelLayout;
    case kCuptiMemcpy:
      *ours = abi::ActivityKind::kCopy;
      return &kMemcpyLayout;
    case kCuptiMemset:
      *ours = abi::ActivityKind::kMemset;
      return &kMemsetLayout;
    case kCuptiSynchronization:
      *ours = abi::ActivityKind::kSync;
      return &kSyncLayout;
    case kCuptiOverhead:
      *ours = abi::ActivityKind::kOverhead;
      return &kOverheadLayout;
    default:
      return nullptr;
  }
}

std::uint8_t DetailOf(abi::ActivityKind kind, const std::uint8_t* activity,
                      const ActivityLayout& layout) {
  if (kind != abi::ActivityKind::kOverhead) return Field<std::uint8_t>(activity, layout.detail);
  return abi::OverheadDetail(Field<std::uint32_t>(activity, layout.detail));
}

}  // namespace

void* DetailsOf(const void* activity) {
  const auto* bytes = static_cast<const std::uint8_t*>(activity);
  if (Field<std::uint32_t>(bytes, 0) != kCuptiOverhead) return nullptr;
  const bool has_some = Field<std::uint32_t>(bytes, kOverheadLayout.detail) == kOverheadQueueFull;
  return has_some ? Field<void*>(bytes, kOverheadDetails) : nullptr;
}

bool WindowFile::Open(const TracerState& state, std::uint32_t ticket, std::uint32_t cupti_version,
                      const abi::ClockPair& opened) {
  char path[kRegionPathBytes];
  if (!MakePath(path, state.path, ticket)) return false;
  void* at = MapNewFile(path, abi::kWindowFileBytes);
  if (at == nullptr) return false;
  auto* bytes = static_cast<std::uint8_t*>(at);
  header_ = static_cast<abi::WindowFileHeader*>(at);
  names_ = reinterpret_cast<char*>(bytes + abi::kWindowNamesOffset);
  records_ = reinterpret_cast<abi::WindowRecord*>(bytes + abi::kWindowRecordsOffset);
  memset(known_, 0, sizeof(known_));
  header_->magic = abi::kWindowMagic;
  header_->version = abi::kWindowVersion;
  header_->ticket = ticket;
  header_->pid = state.region.header->pid;
  header_->generation = state.region.header->generation;
  header_->cupti_version = cupti_version;
  header_->record_bytes = sizeof(abi::WindowRecord);
  header_->capacity = abi::kWindowRecords;
  header_->name_slots = abi::kWindowNames;
  header_->name_bytes = abi::kWindowNameBytes;
  header_->opened = opened;
  return true;
}

void WindowFile::Take(const void* activity) {
  while (busy_.exchange(true, std::memory_order_acquire)) sched_yield();
  if (header_ != nullptr) TakeLocked(static_cast<const std::uint8_t*>(activity));
  busy_.store(false, std::memory_order_release);
}

void WindowFile::TakeLocked(const std::uint8_t* activity) {
  abi::ActivityKind kind = abi::ActivityKind::kNone;
  const ActivityLayout* layout = LayoutOf(Field<std::uint32_t>(activity, 0), &kind);
  if (layout == nullptr) return;
  const auto start = Field<std::uint64_t>(activity, layout->start);
  const auto end = Field<std::uint64_t>(activity, layout->end);
  // CUPTI could not tell the times of this overhead: nothing of the GPU's work is lost.
  if (kind == abi::ActivityKind::kOverhead && (start == 0 || end < start)) return;
  const std::uint32_t count = header_->record_count.load(std::memory_order_relaxed);
  if (end < start || start == 0 || count == abi::kWindowRecords) {
    header_->lost.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::uint64_t took = end - start;
  abi::WindowRecord& record = records_[count];
  record.start_ns = static_cast<std::int64_t>(start);
  record.duration_ns = took < ~std::uint32_t{0} ? static_cast<std::uint32_t>(took) : ~0U;
  record.name = NameOf(Field<const char*>(activity, layout->name));
  record.kind = static_cast<std::uint8_t>(kind);
  record.detail = DetailOf(kind, activity, *layout);
  record.stream = Field<std::uint32_t>(activity, layout->stream);
  record.correlation = Field<std::uint32_t>(activity, layout->correlation);
  record.bytes = Field<std::uint64_t>(activity, layout->bytes);
  header_->record_count.store(count + 1, std::memory_order_release);
}

std::uint16_t WindowFile::NameOf(const char* name) {
  if (name == nullptr) return abi::kNoWindowName;
  std::uint64_t slot = (reinterpret_cast<std::uint64_t>(name) * 0x9e3779b97f4a7c15ULL) >> 53;
  while (known_[slot] != nullptr && known_[slot] != name) slot = (slot + 1) % kHashSlots;
  if (known_[slot] == name) return index_[slot];
  const std::uint32_t count = header_->name_count.load(std::memory_order_relaxed);
  if (count == abi::kWindowNames) return abi::kNoWindowName;
  CopyText(names_ + std::size_t{count} * abi::kWindowNameBytes, abi::kWindowNameBytes, name);
  known_[slot] = name;
  index_[slot] = static_cast<std::uint16_t>(count);
  header_->name_count.store(count + 1, std::memory_order_relaxed);
  return index_[slot];
}

WindowCounts WindowFile::Close(const abi::ClockPair& closed) {
  while (busy_.exchange(true, std::memory_order_acquire)) sched_yield();
  WindowCounts counts;
  if (header_ != nullptr) {
    counts.records = header_->record_count.load(std::memory_order_relaxed);
    counts.lost = header_->lost.load(std::memory_order_relaxed);
    header_->closed = closed;
    header_->ready.store(1, std::memory_order_release);
    munmap(header_, abi::kWindowFileBytes);
    header_ = nullptr;
  }
  busy_.store(false, std::memory_order_release);
  return counts;
}

}  // namespace fathom::tracer
