// A fixed table from the address of a live framework object (work, buffer) to the op it belongs to.
//
// Filled where the object is constructed, read where a worker or a waiter meets it, emptied where
// it is destructed: so what it answers is exact, also when the heap reuses an address.
//
// Model: buckets of 8 entries, chosen by a hash of the address; a full bucket refuses, and that
// object's later records carry op_id 0 and the address instead. An object is found only between its
// Insert and its Remove, and the host orders these (nobody uses an object that is being made or is
// gone), so entries of one address never race; entries of others are claimed by compare-and-swap.
// An entry that was never used has key 0 and is claimed only after those before it, one that was
// emptied has key 1: so nothing lies behind the first 0, and a look mostly ends at the first or
// second entry. Thread-safety: thread-safe, wait-free (8 probes). Zero-filled memory is an empty
// table. Ownership: holds no reference. Cost: hot path; one cache line, two in a crowded bucket.
#ifndef FATHOM_DAEMON_TRACER_CORE_TABLE_ADDRESS_TABLE_H_
#define FATHOM_DAEMON_TRACER_CORE_TABLE_ADDRESS_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fathom::tracer {

// What a worker or a waiter needs to know of an op.
struct OpRef {
  std::uint64_t op_id = 0;  // 0: not known
  std::uint16_t group_slot = 0xffff;
  std::uint8_t kind = 0;  // fathom::CollectiveKind
};

class AddressTable {
 public:
  // Ties `address` to `op`, in place of what it was tied to. False if its bucket is full.
  // Requires: address > 1; op.op_id < 2^40.
  bool Insert(std::uint64_t address, const OpRef& op) {
    Entry* bucket = BucketOf(address);
    Entry* entry = Find(bucket, address);
    for (std::size_t i = 0; entry == nullptr && i < kBucket; ++i) {
      std::uint64_t key = bucket[i].key.load(std::memory_order_relaxed);
      // A 0 that another thread takes first is no longer one to stop at: look at the next.
      if (key <= kGone &&
          bucket[i].key.compare_exchange_strong(key, address, std::memory_order_relaxed)) {
        entry = &bucket[i];
      }
    }
    if (entry == nullptr) return false;
    entry->value.store(Pack(op), std::memory_order_relaxed);
    return true;
  }

  // The op `address` is tied to; op_id 0 if it is not.
  OpRef Lookup(std::uint64_t address) {
    Entry* entry = Find(BucketOf(address), address);
    return entry == nullptr ? OpRef{} : Unpack(entry->value.load(std::memory_order_relaxed));
  }

  // Unties `address`; true if it was tied.
  bool Remove(std::uint64_t address) {
    Entry* entry = Find(BucketOf(address), address);
    if (entry != nullptr) entry->key.store(kGone, std::memory_order_relaxed);
    return entry != nullptr;
  }

 private:
  static constexpr std::size_t kBucket = 8;
  static constexpr std::size_t kBuckets = 512;
  static constexpr std::uint64_t kGone = 1;
  static constexpr std::uint64_t kOpIdMask = (std::uint64_t{1} << 40) - 1;

  struct Entry {
    std::atomic<std::uint64_t> key;
    std::atomic<std::uint64_t> value;
  };

  // Fibonacci hashing: heap addresses differ in their middle bits.
  Entry* BucketOf(std::uint64_t address) {
    return entries_[(address * 0x9e3779b97f4a7c15ULL) >> 55];
  }

  static Entry* Find(Entry* bucket, std::uint64_t address) {
    for (std::size_t i = 0; i < kBucket; ++i) {
      const std::uint64_t key = bucket[i].key.load(std::memory_order_relaxed);
      if (key == address) return &bucket[i];
      if (key == 0) break;
    }
    return nullptr;
  }

  static std::uint64_t Pack(const OpRef& op) {
    return (op.op_id & kOpIdMask) | std::uint64_t{op.group_slot} << 40 |
           std::uint64_t{op.kind} << 56;
  }
  static OpRef Unpack(std::uint64_t value) {
    return {value & kOpIdMask, static_cast<std::uint16_t>(value >> 40),
            static_cast<std::uint8_t>(value >> 56)};
  }

  Entry entries_[kBuckets][kBucket];
  static_assert(kBuckets == 512, "the shift by 55 leaves 9 bits");
};

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_TABLE_ADDRESS_TABLE_H_
