// A record as it lies in the ring after its `commit`, word by word.
//
// Built by op_recorder.cc, kept in a hook's Frame, and written by ring_writer.h. What others have
// as abi::EventRecord is packed once, by Pack.
//
// Model: two words hold all narrow fields. They are put together in registers and stored whole:
// narrow fields, stored one by one and loaded back as a word, would wait for their stores, and
// putting each together anew for the ring took half of what a record costs in instructions.
//   what   thread id (32 bits), RecordKind, CollectiveKind, DataType, flags (8 bits each)
//   where  group slot (16 bits), reduction, reserved (8 bits each), peer (32 bits)
// Byte order: as on a little-endian machine; others do not build.
// Thread-safety: values. Errors: none. Cost: hot path, a few instructions.
#ifndef FATHOM_DAEMON_TRACER_CORE_RING_PACKED_RECORD_H_
#define FATHOM_DAEMON_TRACER_CORE_RING_PACKED_RECORD_H_

#include <bit>
#include <cstdint>

#include "daemon/abi/event_record.h"

namespace fathom::tracer {

static_assert(std::endian::native == std::endian::little);

struct PackedRecord {
  std::int64_t time_ns;
  std::uint64_t what;
  std::uint64_t where;
  std::uint64_t op_id;
  std::uint64_t sequence;
  std::uint64_t bytes;
  std::uint64_t extra;

  static constexpr int kKindShift = 32;
  static constexpr int kCollectiveShift = 40;
  static constexpr int kDataTypeShift = 48;
  static constexpr int kFlagsShift = 56;
  static constexpr int kReductionShift = 16;
  static constexpr int kPeerShift = 32;

  // All of `what` but the thread.
  static constexpr std::uint64_t What(abi::RecordKind kind, std::uint8_t collective_kind,
                                      std::uint8_t data_type = 0, std::uint8_t flags = 0) {
    return std::uint64_t{static_cast<std::uint8_t>(kind)} << kKindShift |
           std::uint64_t{collective_kind} << kCollectiveShift |
           std::uint64_t{data_type} << kDataTypeShift | std::uint64_t{flags} << kFlagsShift;
  }
  static constexpr std::uint64_t Where(std::uint16_t group_slot, std::uint32_t peer,
                                       std::uint8_t reduction = 0) {
    return group_slot | std::uint64_t{reduction} << kReductionShift |
           std::uint64_t{peer} << kPeerShift;
  }

  std::uint8_t collective_kind() const {
    return static_cast<std::uint8_t>(what >> kCollectiveShift);
  }
  std::uint8_t flags() const { return static_cast<std::uint8_t>(what >> kFlagsShift); }
  std::uint16_t group_slot() const { return static_cast<std::uint16_t>(where); }

  void set_kind(abi::RecordKind kind) {
    constexpr std::uint64_t kMask = std::uint64_t{0xff} << kKindShift;
    what = (what & ~kMask) | std::uint64_t{static_cast<std::uint8_t>(kind)} << kKindShift;
  }
  void add_flags(std::uint8_t flags) { what |= std::uint64_t{flags} << kFlagsShift; }
  void drop_flags(std::uint8_t flags) { what &= ~(std::uint64_t{flags} << kFlagsShift); }
};

inline PackedRecord Pack(const abi::EventRecord& record) {
  // The narrow fields were just stored one by one. Loading them as one word would stall: the empty
  // statement keeps the compiler from it.
  std::uint64_t thread = record.thread_id, group = record.group_slot;
  __asm__("" : "+r"(thread), "+r"(group));
  PackedRecord packed;
  packed.time_ns = record.time_ns;
  packed.what = thread | PackedRecord::What(static_cast<abi::RecordKind>(record.record_kind),
                                            record.collective_kind, record.data_type, record.flags);
  packed.where = group | PackedRecord::Where(0, record.peer, record.reduction);
  packed.op_id = record.op_id;
  packed.sequence = record.sequence;
  packed.bytes = record.bytes;
  packed.extra = record.extra;
  return packed;
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_RING_PACKED_RECORD_H_
