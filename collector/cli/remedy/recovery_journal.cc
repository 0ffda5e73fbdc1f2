#include "collector/cli/remedy/recovery_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/str_format.h"
#include "collector/cli/process/state_folder.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

// The records of all whole lines; `end`: behind the last of them.
absl::StatusOr<std::vector<RecoveryRecord>> Parse(const std::string& text, const std::string& file,
                                                  std::size_t* end) {
  std::vector<RecoveryRecord> records;
  *end = 0;
  for (std::size_t to = text.find('\n'); to != text.npos; to = text.find('\n', *end)) {
    auto record = ReadRecordLine(std::string_view(text).substr(*end, to - *end));
    if (!record.ok()) {
      return absl::DataLossError(
          Cat(file, ", line ", records.size() + 1, ": ", Message(record.status())));
    }
    records.push_back(*std::move(record));
    *end = to + 1;
  }
  return records;
}

std::string Contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

absl::Status CannotWrite(const std::string& file) {
  return absl::ResourceExhaustedError(
      Cat(file, " cannot be written, so nothing is done: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecoveryJournal>> RecoveryJournal::Open(const fs::path& file) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return CannotWrite(file);
  auto journal = std::unique_ptr<RecoveryJournal>(new RecoveryJournal(fd, file));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return absl::UnavailableError(Cat("another fathom recover holds ", file.string()));
  }
  if (auto read = journal->ReadAll(); !read.ok()) return read;
  return journal;
}

RecoveryJournal::~RecoveryJournal() { close(fd_); }

absl::Status RecoveryJournal::ReadAll() {
  const std::string text = Contents(file_);
  std::size_t end = 0;
  auto records = Parse(text, file_, &end);
  if (!records.ok()) return records.status();
  records_ = *std::move(records);
  if (end < text.size() && ftruncate(fd_, static_cast<off_t>(end)) != 0) return CannotWrite(file_);
  return absl::OkStatus();
}

absl::Status RecoveryJournal::Append(const RecoveryRecord& record) {
  const std::string line = RecordLine(record) + "\n";
  const off_t before = lseek(fd_, 0, SEEK_END);
  const ssize_t wrote = write(fd_, line.data(), line.size());
  if (wrote == static_cast<ssize_t>(line.size()) && fsync(fd_) == 0) return absl::OkStatus();
  const absl::Status status = CannotWrite(file_);
  if (before >= 0 && ftruncate(fd_, before) != 0) return CannotWrite(file_);
  return status;
}

absl::StatusOr<std::vector<RecoveryRecord>> ReadJournal(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return absl::NotFoundError(Cat("no journal ", file.string()));
  std::size_t end = 0;
  return Parse(Contents(file), file, &end);
}

fs::path DefaultJournalFolder() { return StateFolder() / "recover"; }

fs::path JournalOf(const fs::path& folder, std::string_view job) {
  std::string name;
  for (const char c : job) {
    const bool plain = IsAsciiAlnum(c) || c == '_' || c == '-' || (c == '.' && !name.empty());
    name += plain ? std::string(1, c) : absl::StrFormat("%%%02X", static_cast<unsigned char>(c));
  }
  return folder / (name + ".jsonl");
}

}  // namespace fathom::cli
