// Makes the shared-memory region of this process: file, space, mapping, header.
//
// Called once by activation.cc. The layout is daemon/abi/ring_layout.h.
//
// Model: the file is made under a hidden name, given its full space (so a full /dev/shm shows here
// and not as a SIGBUS later), filled in, and only then renamed to `<pid>-<generation>.ring`,
// without ever replacing a file: an existing name means an earlier image of this pid, so the next
// generation is tried. The descriptor is closed again; the mapping stays until the process ends.
// Thread-safety: single-threaded, from activation. Ownership: the mapping is never given back.
// Errors: false, with errno as the failing call left it, and nothing left behind in the folder.
// Cost: cold path; about 1 ms for the default size.
#ifndef FATHOM_DAEMON_TRACER_CORE_RING_REGION_H_
#define FATHOM_DAEMON_TRACER_CORE_RING_REGION_H_

#include <cstddef>

#include "daemon/tracer/core/host/identity.h"
#include "daemon/tracer/core/host/settings.h"
#include "daemon/tracer/core/ring/ring_writer.h"

namespace fathom::tracer {

inline constexpr std::size_t kRegionPathBytes = 320;

// Fills in `region` and the file's `path`. Requires: settings.shm_dir is not null.
bool CreateRegion(const Settings& settings, const Identity& identity, Region* region,
                  char (&path)[kRegionPathBytes]);

// A new file of `bytes` at `path`, its whole space reserved, mapped for writing; null with errno if
// it cannot be had, and then there is no file. Cold path.
void* MapNewFile(const char* path, std::size_t bytes);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_RING_REGION_H_
