// The audit log: an append-only file of records, each chained to the one before by SHA-256.
//
// Owned by the actuator. Who holds the file's lock is the one fathom-cordon that acts; a second
// one waits for it. A record is on disk (fsync) before Append returns, so nothing is done that the
// log does not know; when it cannot be written, nothing may be done.
//
//   {"seq":1,"prev":"<64 hex>", … fields of the record …,"hash":"<64 hex>"}
//
// hash = SHA-256 of the line without its hash member; prev = hash of the line before (zeros first).
// A last line without its end is what a crash leaves: it was never acknowledged, is cut off, and
// that is told. Any other flaw is an error that names the line.
// Thread-safety: thread-compatible. Errors: Unavailable (another holds the lock), DataLoss (the
// chain is broken), ResourceExhausted or PermissionDenied (cannot be written). Cost: one fsync a
// record; Open reads the whole file.
#ifndef FATHOM_COLLECTOR_CORDON_AUDIT_AUDIT_LOG_H_
#define FATHOM_COLLECTOR_CORDON_AUDIT_AUDIT_LOG_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "collector/cordon/policy/record.h"

namespace fathom::cordon {

class AuditLog {
 public:
  using Reader = std::function<void(const Record&)>;

  // Locks, verifies and gives every record to `reader` in order. Makes folder and file.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& file,
                                                        const Reader& reader);
  ~AuditLog();

  absl::Status Append(const Record& record);
  // What a crash had left at the end and was cut off, in bytes.
  std::int64_t cut_off() const { return cut_off_; }

 private:
  AuditLog(std::string file, int fd) : file_(std::move(file)), fd_(fd) {}
  absl::Status ReadAll(const Reader& reader);

  const std::string file_;
  const int fd_;
  std::uint64_t sequence_ = 0;
  std::string previous_ = std::string(64, '0');
  std::int64_t end_ = 0;
  std::int64_t cut_off_ = 0;
};

// Reads without locking or writing. Errors: DataLoss naming the first line that does not fit.
absl::Status VerifyAudit(const std::string& text, const AuditLog::Reader& reader);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_AUDIT_AUDIT_LOG_H_
