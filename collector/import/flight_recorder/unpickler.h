// A pickle reader that can only make plain values: it never runs, imports or constructs anything.
//
// Used by dump.cc. Model: a stack machine over the opcodes of protocols 0 to 5 that build None,
// bools, numbers, text, bytes, lists, tuples, sets and dicts, and the memo. Every other opcode
// (GLOBAL, REDUCE, BUILD, INST, OBJ, NEWOBJ, persistent ids, extensions, out-of-band buffers) is an
// error that names opcode and offset. Nothing recurses on input, and no length is believed before
// that many bytes are there.
//
// A file that ends early is not lost: what was built until then is kept. The dict or list at the
// bottom of the stack takes the items that are complete, from the inside out, and `cut_at` says
// where the bytes ended.
//
// Thread-safety: pure. Errors: InvalidArgument (forbidden or unknown opcode, malformed operand),
// ResourceExhausted (limits). Cost: O(bytes); text is not copied. Source: CPython's
// Lib/pickletools.py for the meaning of each opcode.
#ifndef FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_UNPICKLER_H_
#define FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_UNPICKLER_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "collector/import/flight_recorder/value.h"

namespace fathom::collector::flight_recorder {

struct UnpickleLimits {
  std::size_t values = 32'000'000;  // 2000 ops × 40 frames × 3 fields is 240 000
  std::size_t links = 128'000'000;  // items of all lists and dicts together
  std::size_t stack = 8'000'000;
  std::size_t marks = 4096;         // depth of open containers
  std::uint32_t memo = 32'000'000;  // highest memo index
};

struct Unpickled {
  std::optional<std::size_t> cut_at;  // the bytes ended here, before STOP
};

// Builds `document` from its own bytes.
absl::StatusOr<Unpickled> Unpickle(Document& document, const UnpickleLimits& limits = {});

// Whether `head` can be the beginning of a pickle of a dict.
bool LooksLikePickle(std::string_view head);

}  // namespace fathom::collector::flight_recorder

#endif  // FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_UNPICKLER_H_
