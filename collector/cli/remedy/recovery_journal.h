// The journal of a job's recoveries on disk: append-only, one at a time may write.
//
// Owned by the verbs `recover run` and `recover undo`; `recover show` reads. Model: one file a job,
// a line of JSON a record (recovery_record.h). A record is on disk (fsync) before Append returns,
// so nothing is done that the journal does not know; when it cannot be written nothing may be done.
// A last line without its end is what a crash leaves: it was never acknowledged and is cut off.
//
// Thread-safety: single-threaded; who holds the file's lock writes. Errors: Unavailable (another
// recovery of the job is under way), DataLoss (a line that is no record), ResourceExhausted (it
// cannot be written). Cost: one fsync a record; Open reads the whole file.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_JOURNAL_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_JOURNAL_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collector/cli/remedy/recovery_record.h"

namespace fathom::cli {

class RecoveryJournal {
 public:
  // Makes folder and file, locks it, and reads what is there.
  static absl::StatusOr<std::unique_ptr<RecoveryJournal>> Open(const std::filesystem::path& file);
  ~RecoveryJournal();
  RecoveryJournal(const RecoveryJournal&) = delete;
  RecoveryJournal& operator=(const RecoveryJournal&) = delete;

  absl::Status Append(const RecoveryRecord& record);
  // What was there when it was opened.
  const std::vector<RecoveryRecord>& records() const { return records_; }

 private:
  RecoveryJournal(int fd, std::string file) : fd_(fd), file_(std::move(file)) {}
  absl::Status ReadAll();

  const int fd_;
  const std::string file_;
  std::vector<RecoveryRecord> records_;
};

// Without locking or writing; a last line without its end is left out.
absl::StatusOr<std::vector<RecoveryRecord>> ReadJournal(const std::filesystem::path& file);

// Root's is /var/lib/fathom/recover, a user's lies in XDG_STATE_HOME.
std::filesystem::path DefaultJournalFolder();
// The file of a job: its name with what is no letter, digit, '.', '_' or '-' as %XX.
std::filesystem::path JournalOf(const std::filesystem::path& folder, std::string_view job);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_JOURNAL_H_
