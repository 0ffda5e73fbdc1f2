// Reads one trivially copyable field at a given offset of a byte copy of shared memory.
//
// Used by the ring and window sources, which copy first and look afterwards; the ABI's structs hold
// atomics and so cannot be copied themselves.
//
// Thread-safety: pure. Errors: none; the caller has checked the bounds.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_RING_BYTE_FIELD_H_
#define FATHOM_DAEMON_AGENT_SOURCE_RING_BYTE_FIELD_H_

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace fathom::agent {

// Requires: offset + sizeof(T) <= bytes.size().
template <typename T>
T FieldAt(std::span<const unsigned char> bytes, std::size_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_RING_BYTE_FIELD_H_
