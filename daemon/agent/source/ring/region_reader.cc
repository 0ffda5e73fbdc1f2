#include "daemon/agent/source/ring/region_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/agent/source/ring/byte_field.h"
#include "daemon/agent/source/ring/region_header_check.h"

namespace fathom::agent {
namespace {

using abi::ControlBlock;
using abi::RegionHeader;

RegionIdentity IdentityOf(std::span<const unsigned char> page) {
  const auto text = [page](std::size_t offset, std::size_t bytes) {
    return TextField(page.subspan(offset, bytes));
  };
  const auto u32 = [page](std::size_t offset) { return FieldAt<std::uint32_t>(page, offset); };
  RegionIdentity id;
  id.pid = u32(offsetof(RegionHeader, pid));
  id.generation = u32(offsetof(RegionHeader, generation));
  id.start_time_ticks = FieldAt<std::uint64_t>(page, offsetof(RegionHeader, start_time_ticks));
  id.created_mono_ns = FieldAt<std::int64_t>(page, offsetof(RegionHeader, created_mono_ns));
  id.created_wall_ns = FieldAt<std::int64_t>(page, offsetof(RegionHeader, created_wall_ns));
  id.rank = u32(offsetof(RegionHeader, rank));
  id.world_size = u32(offsetof(RegionHeader, world_size));
  id.local_rank = u32(offsetof(RegionHeader, local_rank));
  id.restart_count = u32(offsetof(RegionHeader, restart_count));
  id.sources = u32(offsetof(RegionHeader, sources));
  id.job = text(offsetof(RegionHeader, job), abi::kNameBytes);
  id.run_id = text(offsetof(RegionHeader, run_id), abi::kNameBytes);
  id.tracer_version = text(offsetof(RegionHeader, tracer_version), 16);
  return id;
}

// Where the table of transfers begins; 0 where there is none, or not one like ours.
std::uint64_t TransfersOffset(std::span<const unsigned char> page, std::uint64_t file_bytes) {
  if (FieldAt<std::uint32_t>(page, offsetof(RegionHeader, header_bytes)) < sizeof(RegionHeader)) {
    return 0;
  }
  const auto offset = FieldAt<std::uint64_t>(page, offsetof(RegionHeader, transfers_offset));
  const auto slots = FieldAt<std::uint32_t>(page, offsetof(RegionHeader, transfer_slots));
  const auto bytes = FieldAt<std::uint32_t>(page, offsetof(RegionHeader, transfer_bytes));
  const auto records = FieldAt<std::uint32_t>(page, offsetof(RegionHeader, record_count));
  const bool ours = slots == abi::kTransferSlots && bytes == sizeof(abi::TransferSlot) &&
                    offset == abi::RegionBytes(records);
  return ours && file_bytes >= abi::FileBytes(records) ? offset : 0;
}

TransferSeen TransferOf(std::uint32_t place, std::span<const unsigned char> slot) {
  using Slot = abi::TransferSlot;
  const auto u32 = [slot](std::size_t offset) { return FieldAt<std::uint32_t>(slot, offset); };
  return {.place = place,
          .turn = u32(offsetof(Slot, turn)),
          .op_id = FieldAt<std::uint64_t>(slot, offsetof(Slot, op_id)),
          .group_slot = FieldAt<std::uint16_t>(slot, offsetof(Slot, group_slot)),
          .peer = u32(offsetof(Slot, peer)),
          .channel = slot[offsetof(Slot, channel)],
          .sends = slot[offsetof(Slot, sends)] == 1,
          .steps = u32(offsetof(Slot, steps)),
          .counts = {u32(offsetof(Slot, posted)), u32(offsetof(Slot, gpu)),
                     u32(offsetof(Slot, moved)), u32(offsetof(Slot, done))}};
}

// All but asked_ticket, which stands elsewhere.
WindowSnapshot WindowOf(std::span<const unsigned char> state) {
  const auto u32 = [state](std::size_t at) { return FieldAt<std::uint32_t>(state, at); };
  const auto u64 = [state](std::size_t at) { return FieldAt<std::uint64_t>(state, at); };
  const auto i64 = [state](std::size_t at) { return FieldAt<std::int64_t>(state, at); };
  WindowSnapshot out;
  out.ticket = u32(offsetof(abi::WindowState, ticket));
  const std::uint32_t phase = u32(offsetof(abi::WindowState, phase));
  if (phase < abi::kWindowPhaseCount) out.phase = static_cast<abi::WindowPhase>(phase);
  const std::uint32_t reason = u32(offsetof(abi::WindowState, reason));
  out.reason = reason < abi::kWindowReasonCount ? static_cast<abi::WindowReason>(reason)
                                                : abi::WindowReason::kFailed;
  out.opened_sequence = u64(offsetof(abi::WindowState, opened_sequence));
  out.closed_sequence = u64(offsetof(abi::WindowState, closed_sequence));
  out.opened_ns = i64(offsetof(abi::WindowState, opened_ns));
  out.closed_ns = i64(offsetof(abi::WindowState, closed_ns));
  out.records = u64(offsetof(abi::WindowState, records));
  return out;
}

void AddSwitches(std::span<const unsigned char> control, ControlSnapshot& out) {
  constexpr std::size_t kOrder = offsetof(ControlBlock, switch_order);
  constexpr std::size_t kState = offsetof(ControlBlock, switch_state);
  const auto u32 = [control](std::size_t at) { return FieldAt<std::uint32_t>(control, at); };
  out.sources_disabled = u32(offsetof(ControlBlock, sources_disabled));
  out.plugin_mask = u32(offsetof(ControlBlock, plugin_mask));
  out.switch_asked = u32(kOrder + offsetof(abi::SwitchOrder, ticket));
  out.switched = u32(kState + offsetof(abi::SwitchState, ticket));
  out.switched_at =
      FieldAt<std::uint64_t>(control, kState + offsetof(abi::SwitchState, at_sequence));
}

}  // namespace

absl::StatusOr<RegionReader> RegionReader::Open(const std::string& path) {
  int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 && errno == EACCES)
    fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) {
    const int error = errno;
    if (error == ENOENT) return absl::NotFoundError(absl::StrCat(path, ": vanished"));
    if (error == EMFILE || error == ENFILE) {
      return absl::ResourceExhaustedError(absl::StrCat(path, ": no file descriptor left"));
    }
    return absl::ErrnoToStatus(error, path);
  }
  RegionReader reader(fd);
  if (absl::Status status = reader.ReadHeader(); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  }
  return reader;
}

RegionReader::RegionReader(RegionReader&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      record_count_(other.record_count_),
      version_minor_(other.version_minor_),
      transfers_offset_(other.transfers_offset_),
      owner_(other.owner_),
      identity_(std::move(other.identity_)) {}

RegionReader& RegionReader::operator=(RegionReader&& other) noexcept {
  std::swap(fd_, other.fd_);
  record_count_ = other.record_count_;
  version_minor_ = other.version_minor_;
  transfers_offset_ = other.transfers_offset_;
  owner_ = other.owner_;
  identity_ = std::move(other.identity_);
  return *this;
}

RegionReader::~RegionReader() {
  if (fd_ >= 0) close(fd_);
}

absl::Status RegionReader::ReadHeader() {
  struct stat info {};
  if (fstat(fd_, &info) != 0) return absl::ErrnoToStatus(errno, "fstat");
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError("not a regular file");
  owner_ = info.st_uid;
  if (info.st_size == 0) return absl::UnavailableError("still empty");
  if (static_cast<std::uint64_t>(info.st_size) < sizeof(RegionHeader)) {
    return absl::InvalidArgumentError(
        absl::StrCat("region header: the file has ", info.st_size, " bytes"));
  }
  // Twice: the first look sees `ready`, the second is sure to see all that came before it.
  unsigned char page[sizeof(RegionHeader)];
  for (int look = 0; look < 2; ++look) {
    if (absl::Status status = ReadAt(0, page, sizeof(page)); !status.ok()) return status;
    std::atomic_thread_fence(std::memory_order_acquire);
    absl::Status status = CheckHeader(page, static_cast<std::uint64_t>(info.st_size));
    if (!status.ok()) return status;
  }
  record_count_ = FieldAt<std::uint32_t>(page, offsetof(RegionHeader, record_count));
  version_minor_ = FieldAt<std::uint16_t>(page, offsetof(RegionHeader, version_minor));
  transfers_offset_ = TransfersOffset(page, static_cast<std::uint64_t>(info.st_size));
  identity_ = IdentityOf(page);
  return absl::OkStatus();
}

absl::Status RegionReader::ReadAt(std::uint64_t offset, void* to, std::size_t bytes) const {
  auto* out = static_cast<unsigned char*>(to);
  while (bytes > 0) {
    const ssize_t got = pread(fd_, out, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, "pread of a ring");
    if (got == 0) return absl::DataLossError(absl::StrCat("truncated at byte ", offset));
    out += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return absl::OkStatus();
}

absl::StatusOr<ControlSnapshot> RegionReader::ReadControl() const {
  constexpr std::size_t kBytes = offsetof(ControlBlock, drops) + 8 * abi::kDropReasons;
  unsigned char raw[kBytes];
  if (absl::Status status = ReadAt(abi::kControlOffset, raw, kBytes); !status.ok()) return status;
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::span<const unsigned char> bytes(raw);
  ControlSnapshot out;
  out.head = FieldAt<std::uint64_t>(bytes, offsetof(ControlBlock, head));
  out.heartbeat_ns = FieldAt<std::uint64_t>(bytes, offsetof(ControlBlock, heartbeat_ns));
  out.group_count = std::min(FieldAt<std::uint32_t>(bytes, offsetof(ControlBlock, group_count)),
                             abi::kGroupSlots);
  out.arena_used = std::min(FieldAt<std::uint32_t>(bytes, offsetof(ControlBlock, arena_used)),
                            abi::kMemberArenaBytes);
  out.exiting = FieldAt<std::uint32_t>(bytes, offsetof(ControlBlock, exiting)) != 0;
  AddSwitches(bytes, out);
  for (std::size_t i = 0; i < abi::kDropReasons; ++i) {
    out.drops[i] = FieldAt<std::uint64_t>(bytes, offsetof(ControlBlock, drops) + 8 * i);
  }
  return out;
}

absl::StatusOr<std::uint64_t> RegionReader::ReadHead() const {
  std::uint64_t head = 0;
  absl::Status status =
      ReadAt(abi::kControlOffset + offsetof(ControlBlock, head), &head, sizeof(head));
  std::atomic_thread_fence(std::memory_order_acquire);
  if (!status.ok()) return status;
  return head;
}

absl::Status RegionReader::ReadRecords(std::uint32_t first, std::span<abi::EventRecord> out) const {
  absl::Status status =
      ReadAt(abi::kRecordsOffset + std::uint64_t{first} * sizeof(abi::EventRecord), out.data(),
             out.size_bytes());
  std::atomic_thread_fence(std::memory_order_acquire);
  return status;
}

absl::Status RegionReader::ReadGroupSlots(std::uint32_t count,
                                          std::vector<unsigned char>& out) const {
  out.resize(std::size_t{count} * sizeof(abi::GroupSlot));
  absl::Status status = ReadAt(abi::kGroupsOffset, out.data(), out.size());
  std::atomic_thread_fence(std::memory_order_acquire);
  return status;
}

absl::StatusOr<std::vector<TransferSeen>> RegionReader::ReadTransfers() const {
  std::vector<TransferSeen> seen;
  if (transfers_offset_ == 0) return seen;
  constexpr std::size_t kSlot = sizeof(abi::TransferSlot);
  std::vector<unsigned char> looks[2];
  for (std::vector<unsigned char>& look : looks) {
    look.resize(abi::kTransferSlots * kSlot);
    absl::Status status = ReadAt(transfers_offset_, look.data(), look.size());
    if (!status.ok()) return status;
    std::atomic_thread_fence(std::memory_order_acquire);
  }
  for (std::uint32_t place = 0; place < abi::kTransferSlots; ++place) {
    const auto slot = [&](int i) { return std::span(looks[i]).subspan(place * kSlot, kSlot); };
    const TransferSeen first = TransferOf(place, slot(0));
    if (first.turn % 2 == 0 || first.op_id == 0) continue;
    if (FieldAt<std::uint32_t>(slot(1), offsetof(abi::TransferSlot, turn)) == first.turn) {
      seen.push_back(first);
    }
  }
  return seen;
}

absl::Status RegionReader::ReadArena(std::uint32_t offset, std::span<unsigned char> out) const {
  return ReadAt(abi::kArenaOffset + offset, out.data(), out.size());
}

absl::Status RegionReader::WriteControl(std::size_t offset, const void* from,
                                        std::size_t bytes) const {
  struct stat info {};
  if (fstat(fd_, &info) != 0) return absl::ErrnoToStatus(errno, "fstat");
  if (static_cast<std::uint64_t>(info.st_size) < abi::kGroupsOffset) {
    return absl::DataLossError("truncated before the control block's end");
  }
  const auto at = static_cast<off_t>(abi::kControlOffset + offset);
  if (pwrite(fd_, from, bytes, at) != static_cast<ssize_t>(bytes)) {
    return absl::ErrnoToStatus(errno, "pwrite of a control word");
  }
  return absl::OkStatus();
}

absl::Status RegionReader::WriteHeartbeat(std::int64_t mono_ns) const {
  const auto value = static_cast<std::uint64_t>(mono_ns);
  return WriteControl(offsetof(ControlBlock, agent_heartbeat_ns), &value, sizeof(value));
}

absl::StatusOr<std::vector<std::string>> RegionReader::ReadFunctionNames() const {
  std::uint32_t count = 0;
  absl::Status status =
      ReadAt(abi::kControlOffset + offsetof(ControlBlock, function_count), &count, sizeof(count));
  if (!status.ok()) return status;
  std::atomic_thread_fence(std::memory_order_acquire);
  std::vector<unsigned char> raw(std::size_t{std::min(count, abi::kFunctionNames)} *
                                 abi::kFunctionNameBytes);
  status =
      ReadAt(abi::kControlOffset + offsetof(ControlBlock, function_names), raw.data(), raw.size());
  if (!status.ok()) return status;
  std::vector<std::string> names;
  for (std::size_t at = 0; at < raw.size(); at += abi::kFunctionNameBytes) {
    names.push_back(TextField(std::span(raw).subspan(at, abi::kFunctionNameBytes)));
  }
  return names;
}

absl::StatusOr<WindowSnapshot> RegionReader::ReadWindow() const {
  constexpr std::size_t kRequest = offsetof(ControlBlock, window_request);
  constexpr std::size_t kState = offsetof(ControlBlock, window_state) - kRequest;
  unsigned char raw[kState + sizeof(abi::WindowState)];
  // Twice: what the first look sees of ticket and phase, the second is sure to see all that came
  // before. Where they change in between, the rest may be of either: then it tells no phase.
  WindowSnapshot looks[2];
  for (WindowSnapshot& look : looks) {
    absl::Status status = ReadAt(abi::kControlOffset + kRequest, raw, sizeof(raw));
    if (!status.ok()) return status;
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::span<const unsigned char> bytes(raw);
    look = WindowOf(bytes.subspan(kState));
    look.asked_ticket = FieldAt<std::uint32_t>(bytes, offsetof(abi::WindowRequest, ticket));
  }
  if (looks[0].ticket != looks[1].ticket || looks[0].phase != looks[1].phase) {
    looks[1].phase = abi::WindowPhase::kNone;
  }
  return looks[1];
}

absl::Status RegionReader::WriteWindowOrder(std::uint32_t ticket, const WindowOrder& order) const {
  using abi::WindowRequest;
  constexpr std::size_t kRequest = offsetof(ControlBlock, window_request);
  constexpr std::size_t kAfterTicket = offsetof(WindowRequest, group_slot);
  constexpr std::size_t kEnd = offsetof(WindowRequest, sources) + sizeof(std::uint32_t);
  unsigned char raw[kEnd] = {};
  const auto put = [&raw](std::size_t at, auto value) {
    std::memcpy(raw + at, &value, sizeof(value));
  };
  put(offsetof(WindowRequest, group_slot), order.group_slot);
  put(offsetof(WindowRequest, open_sequence), order.open_sequence);
  put(offsetof(WindowRequest, close_sequence), order.close_sequence);
  put(offsetof(WindowRequest, deadline_ns), order.deadline_ns);
  put(offsetof(WindowRequest, sources), order.sources);
  absl::Status status =
      WriteControl(kRequest + kAfterTicket, raw + kAfterTicket, kEnd - kAfterTicket);
  if (!status.ok()) return status;
  std::atomic_thread_fence(std::memory_order_release);
  return WriteControl(kRequest + offsetof(WindowRequest, ticket), &ticket, sizeof(ticket));
}

absl::Status RegionReader::WriteSwitchOrder(std::uint32_t ticket, const SwitchWords& words) const {
  using abi::SwitchOrder;
  constexpr std::size_t kOrder = offsetof(ControlBlock, switch_order);
  unsigned char raw[sizeof(SwitchOrder)] = {};
  const auto put = [&raw](std::size_t at, auto value) {
    std::memcpy(raw + at, &value, sizeof(value));
  };
  put(offsetof(SwitchOrder, group_slot), words.group_slot);
  put(offsetof(SwitchOrder, at_sequence), words.at_sequence);
  put(offsetof(SwitchOrder, sources_disabled), words.sources_disabled);
  put(offsetof(SwitchOrder, plugin_mask), words.plugin_mask);
  // Without a ticket while the fields change: what is read then is no order.
  const std::uint32_t none = 0;
  absl::Status status = WriteControl(kOrder, &none, sizeof(none));
  if (!status.ok()) return status;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  constexpr std::size_t kAfterTicket = offsetof(SwitchOrder, group_slot);
  status = WriteControl(kOrder + kAfterTicket, raw + kAfterTicket, sizeof(raw) - kAfterTicket);
  if (!status.ok()) return status;
  std::atomic_thread_fence(std::memory_order_release);
  return WriteControl(kOrder, &ticket, sizeof(ticket));
}

}  // namespace fathom::agent
