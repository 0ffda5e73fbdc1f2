#include "tests/fakes/ring_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "proto/types/data_type.h"

namespace fathom::fakes {
namespace {

void CopyText(char* to, std::size_t bytes, const std::string& text) {
  std::memset(to, 0, bytes);
  std::memcpy(to, text.data(), std::min(bytes - 1, text.size()));
}

void FillLayout(abi::RegionHeader& h, std::uint32_t records) {
  h.magic = abi::kMagic;
  h.version_major = abi::kVersionMajor;
  h.version_minor = abi::kVersionMinor;
  h.header_bytes = sizeof(abi::RegionHeader);
  h.region_bytes = abi::RegionBytes(records);
  h.record_bytes = sizeof(abi::EventRecord);
  h.record_count = records;
  h.control_offset = abi::kControlOffset;
  h.groups_offset = abi::kGroupsOffset;
  h.group_slots = abi::kGroupSlots;
  h.group_bytes = sizeof(abi::GroupSlot);
  h.arena_offset = abi::kArenaOffset;
  h.arena_bytes = abi::kMemberArenaBytes;
  h.records_offset = abi::kRecordsOffset;
  h.transfers_offset = abi::RegionBytes(records);
  h.transfer_slots = abi::kTransferSlots;
  h.transfer_bytes = sizeof(abi::TransferSlot);
}

}  // namespace

RingFolder::RingFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "fathom-ring-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

RingFolder::~RingFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

RingWriter::RingWriter(const std::string& folder, const RingOptions& options)
    : capacity_(options.records), bytes_(abi::FileBytes(options.records)) {
  const std::uint32_t pid = options.pid == 0 ? static_cast<std::uint32_t>(getpid()) : options.pid;
  name_ = std::to_string(pid) + "-" + std::to_string(options.generation) + ".ring";
  path_ = folder + "/" + name_;
  const int fd = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes_)) != 0) {
    throw std::runtime_error("cannot make " + path_);
  }
  void* base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (base == MAP_FAILED) throw std::runtime_error("cannot map " + path_);
  base_ = static_cast<unsigned char*>(base);
  abi::RegionHeader& h = header();
  FillLayout(h, options.records);
  h.pid = pid;
  h.generation = options.generation;
  h.start_time_ticks = options.start_time_ticks;
  h.rank = options.rank;
  h.world_size = options.world_size;
  h.local_rank = options.rank;
  h.created_mono_ns = 1;
  h.sources = abi::kSourceGloo;
  CopyText(h.job, abi::kNameBytes, options.job);
  CopyText(h.tracer_version, sizeof(h.tracer_version), "test");
  h.ready.store(options.ready ? 1 : 0, std::memory_order_release);
}

RingWriter::~RingWriter() { munmap(base_, bytes_); }

std::uint16_t RingWriter::AddGroup(const std::string& name, std::uint32_t size,
                                   std::uint32_t my_rank,
                                   const std::vector<std::uint32_t>& members) {
  const auto slot = static_cast<std::uint16_t>(control().group_count.load());
  abi::GroupSlot& g = group(slot);
  g.ordinal = slot;
  g.size = size;
  g.my_rank = my_rank;
  g.member_form = static_cast<std::uint32_t>(abi::MemberForm::kUnknown);
  if (!members.empty()) {
    const std::uint32_t offset = control().arena_used.load();
    const auto bytes = static_cast<std::uint32_t>(members.size() * sizeof(std::uint32_t));
    std::memcpy(base_ + abi::kArenaOffset + offset, members.data(), bytes);
    control().arena_used.store(offset + bytes);
    g.member_form = static_cast<std::uint32_t>(abi::MemberForm::kListed);
    g.member_count = static_cast<std::uint32_t>(members.size());
    g.member_offset = offset;
  }
  CopyText(g.name, abi::kNameBytes, name);
  g.state.store(2, std::memory_order_release);
  control().group_count.store(slot + 1u, std::memory_order_release);
  return slot;
}

void RingWriter::Write(abi::EventRecord record) {
  const std::uint64_t ticket = control().head.fetch_add(1, std::memory_order_relaxed);
  abi::EventRecord& slot = records()[ticket & (capacity_ - 1)];
  std::atomic_ref<std::uint64_t> commit(slot.commit);
  commit.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  record.commit = 0;
  const auto* from = reinterpret_cast<const std::uint64_t*>(&record);
  auto* to = reinterpret_cast<std::uint64_t*>(&slot);
  for (std::size_t i = 1; i < sizeof(record) / 8; ++i) {
    std::atomic_ref<std::uint64_t>(to[i]).store(from[i], std::memory_order_relaxed);
  }
  commit.store(ticket + 1, std::memory_order_release);
}

void RingWriter::WriteHalf() {
  const std::uint64_t ticket = control().head.fetch_add(1);
  std::atomic_ref<std::uint64_t>(records()[ticket & (capacity_ - 1)].commit).store(0);
}

void RingWriter::Truncate(std::size_t bytes) {
  if (truncate(path_.c_str(), static_cast<off_t>(bytes)) != 0) {
    throw std::runtime_error("truncate failed");
  }
}

abi::EventRecord RecordOf(const FakeOp& op, abi::RecordKind kind, std::int64_t time_ns) {
  abi::EventRecord r{};
  const bool api = kind == abi::RecordKind::kOpEnter || kind == abi::RecordKind::kOpReturn;
  r.time_ns = time_ns;
  r.thread_id = op.thread;
  r.record_kind = static_cast<std::uint8_t>(kind);
  r.collective_kind = static_cast<std::uint8_t>(op.kind);
  r.data_type = static_cast<std::uint8_t>(DataType::kFloat32);
  r.flags = kind == abi::RecordKind::kOpReturn ? std::uint8_t{abi::kFlagAsync} : std::uint8_t{0};
  r.group_slot = op.group;
  r.peer = abi::kNoPeer;
  r.op_id = api || op.work == 0 ? op.op_id : 0;
  r.sequence = api ? op.sequence : abi::kNoSequence64;
  r.bytes = api ? op.bytes : 0;
  r.extra = kind == abi::RecordKind::kOpEnter ? 0 : op.work;
  return r;
}

std::vector<abi::EventRecord> RecordsOf(const FakeOp& op) {
  using abi::RecordKind;
  const std::int64_t t = op.enter_ns;
  std::vector<abi::EventRecord> out = {
      RecordOf(op, RecordKind::kOpEnter, t), RecordOf(op, RecordKind::kExecStart, t + 20),
      RecordOf(op, RecordKind::kOpReturn, t + 30), RecordOf(op, RecordKind::kWaitStart, t + 40)};
  if (op.end_ns == 0) return out;
  out.push_back(RecordOf(op, RecordKind::kExecEnd, op.end_ns));
  out.push_back(RecordOf(op, RecordKind::kWaitEnd, op.end_ns + 10));
  return out;
}

void WriteOp(RingWriter& ring, const FakeOp& op) {
  for (const abi::EventRecord& record : RecordsOf(op)) ring.Write(record);
}

}  // namespace fathom::fakes
