#include "kernels/disk/disk.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/measure/digest.h"
#include "kernels/measure/samples.h"
#include "kernels/measure/workers.h"

namespace fathom::kernels {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kSmall = 4096;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kMostSyncs = 200;

ProbeResult Skipped(std::string why) {
  return {.probe = {}, .outcome = Outcome::kSkipped, .reason = std::move(why)};
}

std::string Failed(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

class NamelessFile {
 public:
  explicit NamelessFile(const std::string& folder) {
    fd_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd_ >= 0) return;
    std::string path = folder + "/fathom-probe-XXXXXX";  // where the file system has no O_TMPFILE
    fd_ = mkostemp(path.data(), O_CLOEXEC);
    if (fd_ >= 0) unlink(path.c_str());
  }
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;
  ~NamelessFile() {
    if (fd_ >= 0) close(fd_);
  }

  int fd() const { return fd_; }
  bool InMemory() const {
    struct statfs system {};
    return fstatfs(fd_, &system) == 0 &&
           (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
  }

 private:
  int fd_ = -1;
};

// Blocks that differ from each other, so that one given back in the place of another is noticed.
void Fill(std::vector<std::uint64_t>& block, std::size_t number) {
  std::uint64_t state = number + 1;
  for (std::uint64_t& word : block) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    word = state;
  }
}

struct Course {
  const Bounds& bounds;
  int fd;
  std::size_t blocks = 0;    // written
  std::string failure = {};  // of a call
  int error = 0;             // its errno
  bool changed = false;
  ProbeResult result = {};

  bool Fail(const char* what) {
    error = errno;
    failure = Failed(what);
    return false;
  }
};

bool WriteAll(Course& course) {
  std::vector<std::uint64_t> block(kBlock / sizeof(std::uint64_t));
  const std::size_t most = std::max(kBlock, std::min(kMostBytes, course.bounds.bytes / 3)) / kBlock;
  double took = 0;
  while (course.blocks < most && !course.bounds.Stopped() && took < course.bounds.seconds / 3) {
    Fill(block, course.blocks);
    const double before = WallSeconds();
    const auto at = static_cast<off_t>(course.blocks * kBlock);
    if (pwrite(course.fd, block.data(), kBlock, at) != static_cast<ssize_t>(kBlock)) {
      return course.Fail("write");
    }
    took += WallSeconds() - before;
    ++course.blocks;
  }
  const double before = WallSeconds();
  if (fsync(course.fd) != 0) return course.Fail("fsync");
  took += WallSeconds() - before;
  const auto bytes = static_cast<double>(course.blocks * kBlock);
  course.result.figures.push_back({.name = "disk_write", .value = bytes / took, .unit = "B/s"});
  return true;
}

// The same bytes again into their place: what is compared later stays what it was.
bool SyncSmall(Course& course) {
  std::vector<std::uint64_t> block(kBlock / sizeof(std::uint64_t));
  Fill(block, 0);
  std::vector<double> times;
  const double end = WallSeconds() + course.bounds.seconds / 3;
  do {
    const double before = WallSeconds();
    if (pwrite(course.fd, block.data(), kSmall, 0) != static_cast<ssize_t>(kSmall) ||
        fdatasync(course.fd) != 0) {
      return course.Fail("fdatasync");
    }
    times.push_back(WallSeconds() - before);
  } while (times.size() < kMostSyncs && WallSeconds() < end && !course.bounds.Stopped());
  Figure median = MedianFigure("disk_sync", "", times, "s");
  median.less_is_better = true;
  course.result.figures.push_back(std::move(median));
  course.result.figures.push_back({.name = "disk_sync_p95",
                                   .value = QuantileOf(times, 0.95),
                                   .unit = "s",
                                   .less_is_better = true});
  return true;
}

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};

// Past the page cache where the file system can, else with its pages dropped first.
void LeaveCache(int fd) {
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_DIRECT);
}

bool ReadBack(Course& course) {
  LeaveCache(course.fd);
  std::vector<std::uint64_t> expected(kBlock / sizeof(std::uint64_t));
  const std::unique_ptr<void, Freed> block(std::aligned_alloc(kSmall, kBlock));
  std::vector<double> rates;
  for (std::size_t i = 0; i < course.blocks && !course.bounds.Stopped(); ++i) {
    const double before = WallSeconds();
    if (pread(course.fd, block.get(), kBlock, static_cast<off_t>(i * kBlock)) !=
        static_cast<ssize_t>(kBlock)) {
      return course.Fail("read");
    }
    rates.push_back(double{kBlock} / (WallSeconds() - before));
    Fill(expected, i);
    course.changed = course.changed || std::memcmp(block.get(), expected.data(), kBlock) != 0;
  }
  course.result.figures.push_back(MedianFigure("disk_read", "", rates, "B/s"));
  return true;
}

}  // namespace

ProbeResult Disk(const Bounds& bounds) {
  const NamelessFile file(bounds.folder);
  if (file.fd() < 0) return Skipped(Failed(bounds.folder.c_str()));
  if (file.InMemory()) return Skipped(bounds.folder + " lies in memory");
  Course course{.bounds = bounds, .fd = file.fd()};
  const bool whole = WriteAll(course) && SyncSmall(course) && ReadBack(course);
  if (!whole) {
    // A full disk is no fault of the device; an error of its own is.
    const bool full = course.error == ENOSPC || course.error == EDQUOT;
    course.result.outcome = full ? Outcome::kSkipped : Outcome::kFaulty;
    course.result.reason = course.failure;
  }
  if (course.changed) {
    course.result.outcome = Outcome::kFaulty;
    course.result.reason = "what was read back is not what was written";
  }
  return course.result;
}

}  // namespace fathom::kernels
