// A process of a training job for tests: writes a region by the protocol of daemon/abi, and breaks
// the protocol where told to.
//
// Used by tests/daemon/agent, tests/fuzz and tests/bench. Maps the file like the tracer does.
//
// Thread-safety: Write may be called from several threads. Ownership: owns the mapping; the file
// stays when the writer goes, as after a kill -9.
#ifndef FATHOM_TESTS_FAKES_RING_WRITER_H_
#define FATHOM_TESTS_FAKES_RING_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/abi/event_record.h"
#include "daemon/abi/ring_layout.h"
#include "proto/types/collective_kind.h"

namespace fathom::fakes {

struct RingOptions {
  std::uint32_t pid = 0;  // 0 = this process
  std::uint32_t generation = 0;
  std::uint64_t start_time_ticks = 0;  // 0 = any
  std::uint32_t records = abi::kMinRecords;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 2;
  std::string job = "job";
  bool ready = true;
};

// A fresh folder below the system's folder for temporary files, removed with all its files.
class RingFolder {
 public:
  RingFolder();
  RingFolder(const RingFolder&) = delete;
  RingFolder& operator=(const RingFolder&) = delete;
  ~RingFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class RingWriter {
 public:
  RingWriter(const std::string& folder, const RingOptions& options);
  RingWriter(const RingWriter&) = delete;
  RingWriter& operator=(const RingWriter&) = delete;
  ~RingWriter();

  // `members` empty: not known. Returns the slot.
  std::uint16_t AddGroup(const std::string& name, std::uint32_t size, std::uint32_t my_rank,
                         const std::vector<std::uint32_t>& members = {});

  // Ticket, payload, commit.
  void Write(abi::EventRecord record);
  // Takes a ticket and dies: the slot stays marked as being written.
  void WriteHalf();
  std::uint64_t NewOpId() { return ++last_op_; }

  abi::RegionHeader& header() { return *At<abi::RegionHeader>(0); }
  abi::ControlBlock& control() { return *At<abi::ControlBlock>(abi::kControlOffset); }
  abi::GroupSlot& group(std::uint16_t slot) { return At<abi::GroupSlot>(abi::kGroupsOffset)[slot]; }
  abi::EventRecord* records() { return At<abi::EventRecord>(abi::kRecordsOffset); }
  abi::TransferSlot& transfer(std::uint32_t place) {
    return At<abi::TransferSlot>(abi::RegionBytes(capacity_))[place];
  }
  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }
  std::uint32_t capacity() const { return capacity_; }
  void Truncate(std::size_t bytes);

 private:
  template <typename T>
  T* At(std::size_t offset) {
    return reinterpret_cast<T*>(base_ + offset);
  }

  std::string name_;
  std::string path_;
  std::uint32_t capacity_;
  std::size_t bytes_;
  unsigned char* base_ = nullptr;
  std::uint64_t last_op_ = 0;
};

// A collective that is told whole: enter, exec start, return, exec end, wait start, wait end.
struct FakeOp {
  std::uint64_t op_id = 0;
  std::uint16_t group = 0;
  std::uint64_t sequence = 0;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint64_t bytes = 1 << 20;
  std::int64_t enter_ns = 0;
  std::int64_t end_ns = 0;  // 0 = it never ends
  std::uint32_t thread = 7;
  std::uint64_t work = 0;  // 0: records carry the op_id alone
};

abi::EventRecord RecordOf(const FakeOp& op, abi::RecordKind kind, std::int64_t time_ns);
void WriteOp(RingWriter& ring, const FakeOp& op);
std::vector<abi::EventRecord> RecordsOf(const FakeOp& op);

}  // namespace fathom::fakes

#endif  // FATHOM_TESTS_FAKES_RING_WRITER_H_
