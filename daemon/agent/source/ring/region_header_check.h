// Decides whether a region's header describes a region that this build can read.
//
// Used by region_reader and by the fuzzer; TextField also by group_table and window_file. Trusts
// nothing but `file_bytes`.
//
// Thread-safety: a pure function. Errors: Unavailable while `ready` is not set; InvalidArgument
// with the field's name, its value and what was expected.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_RING_REGION_HEADER_CHECK_H_
#define FATHOM_DAEMON_AGENT_SOURCE_RING_REGION_HEADER_CHECK_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"

namespace fathom::agent {

// Offsets of abi::RegionHeader's fields are used through a byte copy: the struct holds an atomic
// and cannot be copied. Requires: page.size() >= sizeof(abi::RegionHeader).
absl::Status CheckHeader(std::span<const unsigned char> page, std::uint64_t file_bytes);

// A char array of the region as a string: up to NUL, unprintable bytes replaced by '?'.
std::string TextField(std::span<const unsigned char> field);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_RING_REGION_HEADER_CHECK_H_
