// Bounded text for the tracer: copying into fixed fields and reading small numbers, without heap.
//
// Used by settings, identity and the group table, on cold paths only.
// Thread-safety: pure functions. Errors: too long is cut (CopyText) or refused (ParseUint).
#ifndef FATHOM_DAEMON_TRACER_CORE_HOST_TEXT_H_
#define FATHOM_DAEMON_TRACER_CORE_HOST_TEXT_H_

#include <cstddef>
#include <cstdint>

namespace fathom::tracer {

// Copies `from` (may be null) into `to` of `size` bytes, cut to fit between two UTF-8 characters,
// NUL-ended, and fills the rest with zeros. Returns false if it was cut. Requires: size > 0.
bool CopyText(char* to, std::size_t size, const char* from);

// Appends like CopyText to what `to` holds already. Requires: `to` is NUL-ended within size.
bool AppendText(char* to, std::size_t size, const char* from);

// Appends `value` in decimal.
bool AppendNumber(char* to, std::size_t size, std::uint64_t value);

// Reads a plain decimal number ≤ `max`: digits only, at least one. False leaves *out alone.
bool ParseUint(const char* text, std::uint32_t max, std::uint32_t* out);

// Replaces every byte that is not a letter, a digit, '.', '_', or '-' by '_'.
void KeepNameBytes(char* text);

// True if `text` is not empty and KeepNameBytes would leave it as it is.
bool IsName(const char* text);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_HOST_TEXT_H_
