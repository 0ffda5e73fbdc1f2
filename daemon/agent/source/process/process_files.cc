#include "daemon/agent/source/process/process_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace fathom::agent {
namespace {

constexpr std::size_t kHashDigits = 40;
constexpr std::size_t kShownDigits = 12;
constexpr int kLevels = 12;  // from the script up
constexpr std::size_t kMaxPackedRefs = 1 << 20;

template <typename May>
std::string ReadIf(const std::string& path, std::size_t most, May&& may) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return "";
  std::string text;
  struct stat what {};
  if (fstat(fd, &what) == 0 && S_ISREG(what.st_mode) && may(what)) {
    char chunk[16384];
    while (text.size() < most) {
      const ssize_t got = read(fd, chunk, std::min(sizeof(chunk), most - text.size()));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      text.append(chunk, static_cast<std::size_t>(got));
    }
  }
  close(fd);
  return text;
}

// A commit's hash at the beginning of `text`; empty where there is none.
std::string HashIn(const std::string& text) {
  const auto hex = [](char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); };
  if (text.size() < kHashDigits || !std::all_of(text.begin(), text.begin() + kHashDigits, hex)) {
    return "";
  }
  return text.substr(0, kShownDigits);
}

bool IsReference(const std::string& name) {
  return absl::StartsWith(name, "refs/") && !absl::StrContains(name, "..") &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); });
}

std::string RevisionOf(const std::string& repository) {
  std::string head = ReadRegular(repository + "/HEAD", 1024);
  constexpr char kReference[] = "ref: ";
  if (!absl::StartsWith(head, kReference)) return HashIn(head);
  std::string name = head.substr(sizeof(kReference) - 1);
  absl::StripAsciiWhitespace(&name);
  if (!IsReference(name)) return "";
  std::string hash = HashIn(ReadRegular(absl::StrCat(repository, "/", name), 1024));
  if (!hash.empty()) return hash;
  const std::string packed = ReadRegular(repository + "/packed-refs", kMaxPackedRefs);
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(packed, '\n'))) {
    if (absl::EndsWith(line, " " + name)) return HashIn(line);
  }
  return "";
}

std::string RevisionAbove(std::string folder) {
  for (int level = 0; level < kLevels; ++level, folder += "/..") {
    std::string revision = RevisionOf(folder + "/.git");
    if (!revision.empty()) return revision;
  }
  return "";
}

}  // namespace

std::string ReadRegular(const std::string& path, std::size_t most) {
  return ReadIf(path, most, [](const struct stat&) { return true; });
}

std::string ReadRegularAs(uid_t user, const std::string& path, std::size_t most) {
  return ReadIf(path, most, [user](const struct stat& what) {
    return what.st_uid == user || (what.st_mode & S_IROTH) != 0;
  });
}

std::string ScriptOf(const std::string& folder, const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    if (!absl::EndsWith(word, ".py")) continue;
    return absl::StrCat(folder, absl::StartsWith(word, "/") ? "/root" : "/cwd/", word);
  }
  return "";
}

std::string ReadRevision(const std::string& folder, const std::vector<std::string>& command) {
  const std::string script = ScriptOf(folder, command);
  if (!script.empty()) {
    std::string revision = RevisionAbove(script.substr(0, script.rfind('/')));
    if (!revision.empty()) return revision;
  }
  return RevisionAbove(folder + "/cwd");
}

}  // namespace fathom::agent
