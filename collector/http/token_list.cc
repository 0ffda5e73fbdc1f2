#include "collector/http/token_list.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

namespace fathom::collector {
namespace {

constexpr std::string_view kHash = "sha256:";
constexpr std::int64_t kDay_s = 86'400;
constexpr std::int64_t kForever_s = 9'000'000'000;  // 2255: what is later does not fit a WallNs
// A token of 16 random characters is beyond guessing; a shorter one is nobody's.
constexpr std::size_t kMinToken = 16;
constexpr std::size_t kMaxToken = 512;

absl::Status Bad(const std::string& text) { return absl::InvalidArgumentError(text); }

bool ReadRole(const std::string& text, Role& role) {
  role = text == "operator" ? Role::kOperator : text == "viewer" ? Role::kViewer : Role::kNobody;
  return role != Role::kNobody;
}

bool ReadDigest(const std::string& text, TokenList::Digest& digest) {
  const bool plain = text.starts_with(kHash) && text.size() == kHash.size() + 2 * digest.size() &&
                     std::all_of(text.begin() + kHash.size(), text.end(),
                                 [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!plain) return false;
  const std::string bytes = absl::HexStringToBytes(text.substr(kHash.size()));
  std::copy(bytes.begin(), bytes.end(), digest.begin());
  return true;
}

// The end of that day.
bool ReadDay(const std::string& text, WallNs& until) {
  tm day{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%d", &day);
  if (rest == nullptr || *rest != '\0' || text.size() != 10) return false;
  const std::int64_t end_s = std::int64_t{timegm(&day)} + kDay_s;
  until = WallNs(std::clamp<std::int64_t>(end_s, 1, kForever_s) * 1'000'000'000);
  return true;
}

// Whether it is made of what goes into a header and a cookie unchanged, and is of a fit length.
bool IsToken(std::string_view text) {
  constexpr std::string_view kMore = "-._~+/=";
  return text.size() >= kMinToken && text.size() <= kMaxToken &&
         std::all_of(text.begin(), text.end(), [&](unsigned char c) {
           return std::isalnum(c) != 0 || kMore.find(static_cast<char>(c)) != kMore.npos;
         });
}

}  // namespace

absl::Status TokenList::ParseLine(const std::string& line, Entry& entry) {
  std::istringstream words(line);
  std::string role, hash, day, more;
  words >> entry.person.name >> role >> hash >> day >> more;
  if (!ReadRole(role, entry.person.role)) {
    return Bad(absl::StrCat("the role '", role, "' is neither viewer nor operator"));
  }
  if (!ReadDigest(hash, entry.digest)) {
    return Bad(
        "the third word must be sha256: and the 64 hex digits of the token's SHA-256; make them "
        "with printf %s TOKEN | sha256sum");
  }
  if (!day.empty() && !ReadDay(day, entry.until)) {
    return Bad(absl::StrCat("'", day, "' is not a day like 2030-12-31"));
  }
  return more.empty() ? absl::OkStatus() : Bad(absl::StrCat("'", more, "' is a word too many"));
}

absl::StatusOr<TokenList> TokenList::Parse(const std::string& text, const std::string& origin) {
  TokenList list;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    Entry entry;
    if (auto status = ParseLine(line, entry); !status.ok()) {
      return Bad(absl::StrCat(origin, ":", number, ": ", std::string(status.message())));
    }
    list.entries_.push_back(std::move(entry));
  }
  return list;
}

absl::StatusOr<TokenList> TokenList::Load(const std::string& file) {
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(file, ": the tokens cannot be read: ", std::strerror(errno)));
  }
  if ((facts.st_mode & 07) != 0) {
    return absl::FailedPreconditionError(file + ": everybody can read the tokens; chmod 0640 it");
  }
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return absl::FailedPreconditionError(file + ": the tokens cannot be read");
  return Parse(text.str(), file);
}

absl::StatusOr<Person> TokenList::Who(std::string_view token, WallNs now) const {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0) found = &entry;
  }
  if (found == nullptr || !IsToken(token)) {
    return absl::UnauthenticatedError("the token is nobody's");
  }
  if (found->until.ns != 0 && now.ns >= found->until.ns) {
    return absl::UnauthenticatedError("the token of " + found->person.name + " is out of date");
  }
  return found->person;
}

}  // namespace fathom::collector
