// Writes the side file of a window: activity records in compact form, each name once.
//
// Used by activity_window.cc: on the thread that opens and closes, and in CUPTI's own calls when a
// buffer is full. The layout is daemon/abi/window_file.h.
//
// Model: the file has its full size from the start, so that a full file system shows then. A name
// is known by its address, which CUPTI keeps for the life of the module. Thread-safety: Take
// excludes itself (a spinning flag: it runs on CUPTI's threads, off the hot path). Ownership: one
// file at a time; Close unmaps it. Errors: Open is false where the file cannot be had; records that
// do not fit are counted.
#ifndef FATHOM_DAEMON_TRACER_CUPTI_WINDOW_FILE_H_
#define FATHOM_DAEMON_TRACER_CUPTI_WINDOW_FILE_H_

#include <atomic>
#include <cstdint>

#include "daemon/abi/window_file.h"
#include "daemon/tracer/core/tracer_state.h"
#include "daemon/tracer/core/window.h"

namespace fathom::tracer {

// The block that CUPTI hands over with `activity`, to be freed; null where there is none.
void* DetailsOf(const void* activity);

class WindowFile {
 public:
  bool Open(const TracerState& state, std::uint32_t ticket, std::uint32_t cupti_version,
            const abi::ClockPair& opened);
  // One CUPTI activity record; kinds that a window does not keep are passed over.
  void Take(const void* activity);
  // Whatever comes later is passed over.
  WindowCounts Close(const abi::ClockPair& closed);

 private:
  static constexpr std::uint32_t kHashSlots = 2048;  // twice the names

  void TakeLocked(const std::uint8_t* activity);
  std::uint16_t NameOf(const char* name);

  std::atomic<bool> busy_{false};
  abi::WindowFileHeader* header_ = nullptr;
  char* names_ = nullptr;
  abi::WindowRecord* records_ = nullptr;
  const char* known_[kHashSlots] = {};
  std::uint16_t index_[kHashSlots] = {};
};

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CUPTI_WINDOW_FILE_H_
