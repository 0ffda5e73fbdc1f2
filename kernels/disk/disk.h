// How fast a disk writes, keeps and gives back, and whether it gives back what it was given.
//
// Used by suite. Model: a file without a name in bounds.folder, written from the start to the end
// and made durable with fsync; then small durable writes, one by one; then read back past the page
// cache (O_DIRECT, else its pages are dropped first) and compared. The file is gone with
// the process, however that ends.
//
// Figures: disk_write (B/s, fsync included), disk_sync (s, median of small durable writes),
// disk_sync_p95 (s), disk_read (B/s).
//
// Errors: skipped where the folder lies in memory or cannot be written, with the system's reason;
// faulty where what was read differs. A device that hangs leaves the process in an uninterruptible
// wait: suite/child_run gives it up. Cost: a third of bounds.bytes on disk, at most 64 MiB.
#ifndef FATHOM_KERNELS_DISK_DISK_H_
#define FATHOM_KERNELS_DISK_DISK_H_

#include "kernels/measure/bounds.h"
#include "kernels/measure/figure.h"

namespace fathom::kernels {

ProbeResult Disk(const Bounds& bounds);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_DISK_DISK_H_
