// Finds the rings in the shared-memory folder and says which are new and which belong to the dead.
//
// Called by the agent every scan interval; the agent opens a RankSession for each `opened` ring.
//
// Model: a scan lists the folder and tells names `<pid>-<generation>.ring` from all else. A new
// name is opened and its header checked; one that is not ready yet is tried again at the next
// scan, one that was refused is left alone until its size or time changes, and counted. At most
// `max_rings` are open at once, of a user other than root and the agent's own at most three
// quarters of that, so that no one user keeps the others out; what is beyond is counted in
// `over_limit` and taken up when a place is free. Whether a process still lives is for
// source/process to say. Whose word counts: in a folder that several users share anybody could put
// a ring in another's name, and have its process read. So a ring belongs to the owner of its
// process, as the kernel tells; root and the agent's own user may speak for anybody. Of a process
// that is gone nobody can tell any more whose it was.
//
// Thread-safety: single-threaded, owned by the poll loop.
// Ownership: open rings belong to the caller; it gives them back with Close(name).
// Errors: Scan never fails; the folder's absence is `folder_ok == false`.
// Cost: one readdir a scan, one stat for each refused name, one open for each new one; 10,000 files
//   take about 10 ms (tests/daemon/agent/source/ring/ring_directory_test).
#ifndef FATHOM_DAEMON_AGENT_SOURCE_RING_RING_DIRECTORY_H_
#define FATHOM_DAEMON_AGENT_SOURCE_RING_RING_DIRECTORY_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/agent/source/ring/region_reader.h"

namespace fathom::agent {

struct OpenedRing {
  std::string name;  // file name inside the folder
  RegionReader region;
};

struct RejectedRing {
  std::string name;
  std::string reason;
};

struct ScanResult {
  bool folder_ok = true;
  std::vector<OpenedRing> opened;
  std::vector<RejectedRing> rejected;  // only those that are new to this scan
  std::vector<std::string> vanished;   // open rings whose file is no longer there
  std::size_t over_limit = 0;          // rings without a place
};

struct RingCensus {
  std::uint64_t rejected_total = 0;
  std::size_t open = 0;
  std::size_t over_limit = 0;
};

// `<pid>-<generation>.ring` → (pid, generation); false for any other name.
[[nodiscard]] bool ParseRingName(std::string_view name, std::uint32_t& pid,
                                 std::uint32_t& generation);

class RingDirectory {
 public:
  // `processes`: the kernel's folder of processes.
  RingDirectory(std::string folder, std::size_t max_rings, std::string processes = "/proc");

  ScanResult Scan();

  // The caller is done with the ring `name`; unlinks its file if `remove`.
  void Close(const std::string& name, bool remove);

  const std::string& folder() const { return folder_; }
  RingCensus census() const;

 private:
  // Size and change time of a refused file, to notice when it is written anew.
  using FileStamp = std::pair<std::int64_t, std::int64_t>;

  bool List(std::vector<std::string>& names) const;
  void Try(const std::string& name, ScanResult& result);
  void Forget(const std::set<std::string>& present, ScanResult& result);
  FileStamp StampOf(const std::string& name) const;
  absl::Status CheckOwner(const RegionReader& region) const;
  bool UserHasEnough(const std::string& name) const;

  const std::string folder_;
  const std::size_t max_rings_;
  const std::string processes_;
  std::set<std::string> open_;
  std::map<uid_t, std::set<std::string>> of_user_;  // open ones
  std::map<std::string, FileStamp> refused_;
  std::size_t over_limit_ = 0;
  std::uint64_t rejected_total_ = 0;
};

// Makes the folder if it is not there: 0700, or 01777 where several users share it. One that is
// there must be no link, root's or the agent's own, and nobody else may take files out of it.
absl::Status MakeRingFolder(const std::string& folder, bool shared);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_RING_RING_DIRECTORY_H_
