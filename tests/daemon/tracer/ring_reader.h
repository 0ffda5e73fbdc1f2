// The tests' own reader of a region: copies what is committed, checks nothing else.
//
// Used by tests/daemon/tracer/{core,preload}. Independent of daemon/agent.
// Thread-safety: may read while others write. Ownership: records are copies.
#ifndef FATHOM_TESTS_DAEMON_TRACER_RING_READER_H_
#define FATHOM_TESTS_DAEMON_TRACER_RING_READER_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "daemon/abi/ring_layout.h"

namespace fathom::tracer_test {

// A record and its ticket, or nothing if it is not complete.
inline bool ReadRecord(const abi::EventRecord* records, std::uint64_t mask, std::uint64_t ticket,
                       abi::EventRecord* out) {
  auto* slot = reinterpret_cast<const std::uint64_t*>(&records[ticket & mask]);
  const std::uint64_t before = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (before != ticket + 1) return false;
  std::uint64_t words[8];
  for (int i = 0; i < 8; ++i) words[i] = __atomic_load_n(slot + i, __ATOMIC_RELAXED);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (__atomic_load_n(slot, __ATOMIC_RELAXED) != before) return false;
  std::memcpy(out, words, sizeof(*out));
  return true;
}

// A ring file, mapped; it stays readable when the file is unlinked.
class MappedRing {
 public:
  explicit MappedRing(const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat info = {};
    if (fd < 0 || fstat(fd, &info) != 0) return;
    void* at =
        mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) return;
    base_ = static_cast<unsigned char*>(at);
    bytes_ = static_cast<size_t>(info.st_size);
  }
  MappedRing(const MappedRing&) = delete;
  MappedRing& operator=(const MappedRing&) = delete;
  ~MappedRing() {
    if (base_ != nullptr) munmap(base_, bytes_);
  }

  bool ok() const { return base_ != nullptr; }
  const abi::RegionHeader& header() const {
    return *reinterpret_cast<const abi::RegionHeader*>(base_);
  }
  abi::ControlBlock& control() {
    return *reinterpret_cast<abi::ControlBlock*>(base_ + abi::kControlOffset);
  }
  const abi::GroupSlot& group(std::uint32_t i) const {
    return reinterpret_cast<const abi::GroupSlot*>(base_ + abi::kGroupsOffset)[i];
  }
  std::uint64_t drops(abi::DropReason reason) {
    return control().drops[static_cast<int>(reason)].load();
  }

  // All complete records from the oldest held to the head; `missing` counts the others.
  std::vector<abi::EventRecord> records(std::uint64_t* missing = nullptr) {
    const auto* all = reinterpret_cast<const abi::EventRecord*>(base_ + abi::kRecordsOffset);
    const std::uint64_t head = control().head.load();
    const std::uint64_t count = header().record_count;
    std::vector<abi::EventRecord> found;
    std::uint64_t lost = 0;
    for (std::uint64_t t = head > count ? head - count : 0; t < head; ++t) {
      abi::EventRecord record;
      if (ReadRecord(all, count - 1, t, &record)) {
        found.push_back(record);
      } else {
        ++lost;
      }
    }
    if (missing != nullptr) *missing = lost;
    return found;
  }

 private:
  unsigned char* base_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace fathom::tracer_test

#endif  // FATHOM_TESTS_DAEMON_TRACER_RING_READER_H_
