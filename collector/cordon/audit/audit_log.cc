#include "collector/cordon/audit/audit_log.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "collector/cordon/audit/record_json.h"

namespace fathom::cordon {
namespace {

constexpr std::size_t kHex = 64;
constexpr std::string_view kHashMember = ",\"hash\":\"";
constexpr std::size_t kTail = kHashMember.size() + kHex + 2;  // …"}

std::string Sha256(std::string_view text) {
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string hex;
  for (const unsigned char byte : digest) {
    hex.push_back("0123456789abcdef"[byte >> 4]);
    hex.push_back("0123456789abcdef"[byte & 15]);
  }
  return hex;
}

// The line without its hash member, and the hash. False: not such a line.
bool Split(std::string_view line, std::string& body, std::string& hash) {
  if (line.size() <= kTail || !line.ends_with("\"}")) return false;
  const std::size_t at = line.size() - kTail;
  if (line.substr(at, kHashMember.size()) != kHashMember) return false;
  body = std::string(line.substr(0, at)) + "}";
  hash = std::string(line.substr(at + kHashMember.size(), kHex));
  return true;
}

absl::Status CheckLine(std::string_view line, std::uint64_t number, std::string& previous,
                       const AuditLog::Reader& reader) {
  const auto flaw = [&](const std::string& why) {
    return absl::DataLossError(absl::StrCat("line ", number, ": ", why));
  };
  std::string body, hash;
  if (!Split(line, body, hash)) return flaw("it does not end with its hash");
  Record record;
  Link link;
  if (auto status = ReadRecord(body, record, link); !status.ok()) {
    return flaw(std::string(status.message()));
  }
  if (link.sequence != number) return flaw(absl::StrCat("its number is ", link.sequence));
  if (link.previous != previous) return flaw("it does not follow the line before");
  if (Sha256(body) != hash) return flaw("its hash is not that of its text");
  previous = hash;
  reader(record);
  return absl::OkStatus();
}

// Whole lines only. `end`: the offset after the last one.
absl::Status CheckLines(std::string_view text, std::uint64_t& number, std::string& previous,
                        std::size_t& end, const AuditLog::Reader& reader) {
  for (end = 0;;) {
    const auto newline = text.find('\n', end);
    if (newline == text.npos) return absl::OkStatus();
    const auto line = text.substr(end, newline - end);
    if (auto status = CheckLine(line, number + 1, previous, reader); !status.ok()) return status;
    ++number;
    end = newline + 1;
  }
}

absl::Status Errno(const std::string& file, const char* what) {
  const std::string text = absl::StrCat(file, ": ", what, ": ", std::strerror(errno));
  return errno == EACCES || errno == EROFS ? absl::PermissionDeniedError(text)
                                           : absl::ResourceExhaustedError(text);
}

}  // namespace

absl::Status VerifyAudit(const std::string& text, const AuditLog::Reader& reader) {
  std::uint64_t number = 0;
  std::string previous(kHex, '0');
  std::size_t end = 0;
  return CheckLines(text, number, previous, end, reader);
}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& file,
                                                         const Reader& reader) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) return Errno(file, "cannot be opened");
  std::unique_ptr<AuditLog> log(new AuditLog(file, fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return absl::UnavailableError(absl::StrCat(file, ": another fathom-cordon holds it"));
  }
  if (auto status = log->ReadAll(reader); !status.ok()) return status;
  return log;
}

AuditLog::~AuditLog() { close(fd_); }

absl::Status AuditLog::ReadAll(const Reader& reader) {
  std::string text;
  std::array<char, 65'536> buffer;
  ssize_t got = 0;
  while ((got = read(fd_, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (got < 0) return Errno(file_, "cannot be read");
  std::size_t end = 0;
  if (auto status = CheckLines(text, sequence_, previous_, end, reader); !status.ok()) {
    return absl::DataLossError(absl::StrCat(file_, ": ", std::string(status.message()),
                                            "; keep the file, find out who changed it, and start "
                                            "with a new one"));
  }
  end_ = static_cast<std::int64_t>(end);
  cut_off_ = static_cast<std::int64_t>(text.size() - end);
  if (cut_off_ > 0 && ftruncate(fd_, end_) != 0) return Errno(file_, "cannot be cut");
  return absl::OkStatus();
}

absl::Status AuditLog::Append(const Record& record) {
  std::string line = WriteRecord(record, {sequence_ + 1, previous_});
  const std::string hash = Sha256(line);
  line.pop_back();
  line.append(kHashMember).append(hash).append("\"}\n");
  const auto size = static_cast<ssize_t>(line.size());
  if (pwrite(fd_, line.data(), line.size(), end_) != size || fsync(fd_) != 0) {
    const absl::Status status = Errno(file_, "cannot be written");
    // Half a line would be cut off at the next start; better now.
    if (ftruncate(fd_, end_) != 0) return Errno(file_, "cannot be written nor cut");
    return status;
  }
  end_ += size;
  ++sequence_;
  previous_ = hash;
  return absl::OkStatus();
}

}  // namespace fathom::cordon
