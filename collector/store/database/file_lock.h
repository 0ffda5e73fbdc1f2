// One writer a store: a lock beside its file, held for as long as the store has it.
//
// Used by Store. Model: flock on FILE.lock, which is made readable to nobody else and stays; the
// kernel lets the lock go with the process, however that ends. SQLite's own locks are held for the
// time of a write only: two collectors would take turns and undo what the other wrote.
//
// Thread-safety: thread-compatible. Ownership: the destructor lets go. Errors: Unavailable, naming
// the file: another holds it, or it cannot be made. Cost: three system calls.
#ifndef FATHOM_COLLECTOR_STORE_DATABASE_FILE_LOCK_H_
#define FATHOM_COLLECTOR_STORE_DATABASE_FILE_LOCK_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

namespace fathom::collector {

class FileLock {
 public:
  static absl::StatusOr<std::unique_ptr<FileLock>> Take(const std::string& file);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_DATABASE_FILE_LOCK_H_
