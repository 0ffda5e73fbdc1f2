// What a kProducts record holds: the products of matrices of a process since its last such record
// of the class, and the stretch of time in which one thread computed them.
//
// Packed by daemon/tracer/core/products.cc, unpacked by
// daemon/agent/pipeline/iteration/products.cc.
//
//   field      63             32 31              0
//   data_type                    | FlopClass      |
//   bytes     | FLOP of the class, of all threads |
//   sequence  | busy ns         | products        |  of this thread
//   extra     | ns since begin  | ns since end    |  of the stretch, before time_ns
//
// A stretch holds products of one thread that lie less than kStretchGapNs apart. With kFlagDevice
// the products were put on a stream of a GPU: when it computed them is not told, and busy, begin
// and end are 0. Where FLOP of more than one class are to be told, further records without products
// follow. Units: FLOP (a multiplication and an addition are two); ns of CLOCK_MONOTONIC, cut at
// 4.29 s. Thread-safety: values.
#ifndef FATHOM_DAEMON_ABI_PRODUCTS_H_
#define FATHOM_DAEMON_ABI_PRODUCTS_H_

#include <cstdint>

#include "daemon/abi/event_record.h"
#include "proto/types/flop_class.h"

namespace fathom::abi {

inline constexpr std::int64_t kStretchGapNs = 1'000'000;

struct Products {
  FlopClass flop_class = FlopClass::kFp32;
  std::uint64_t flop = 0;
  std::uint32_t count = 0;
  std::uint32_t busy_ns = 0;
  std::uint32_t since_begin_ns = 0;
  std::uint32_t since_end_ns = 0;

  friend bool operator==(const Products&, const Products&) = default;
};

// Fills in the fields of `record` that hold them.
constexpr void PackProducts(const Products& products, EventRecord& record) {
  record.data_type = static_cast<std::uint8_t>(products.flop_class);
  record.bytes = products.flop;
  record.sequence = std::uint64_t{products.busy_ns} << 32 | products.count;
  record.extra = std::uint64_t{products.since_begin_ns} << 32 | products.since_end_ns;
}

constexpr Products UnpackProducts(const EventRecord& record) {
  Products products;
  products.flop_class = static_cast<FlopClass>(record.data_type);
  products.flop = record.bytes;
  products.count = static_cast<std::uint32_t>(record.sequence);
  products.busy_ns = static_cast<std::uint32_t>(record.sequence >> 32);
  products.since_begin_ns = static_cast<std::uint32_t>(record.extra >> 32);
  products.since_end_ns = static_cast<std::uint32_t>(record.extra);
  return products;
}

}  // namespace fathom::abi

#endif  // FATHOM_DAEMON_ABI_PRODUCTS_H_
