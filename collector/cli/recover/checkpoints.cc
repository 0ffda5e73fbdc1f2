#include "collector/cli/recover/checkpoints.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kZipTail = 64 << 10;

constexpr std::string_view kDigits = "0123456789";

std::optional<std::int64_t> NumberAt(std::string_view name, std::size_t at) {
  std::int64_t number = 0;
  const auto read = std::from_chars(name.data() + at, name.data() + name.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// ".pt", ".safetensors"; not the ".1-8b" of a model's version.
bool IsEnding(std::string_view text) {
  return text.size() > 1 && std::isalpha(static_cast<unsigned char>(text[1])) != 0 &&
         std::all_of(text.begin() + 2, text.end(), IsAsciiAlnum);
}

// The number after the last "step" or "iter"; without these words the one at the end, unless it is
// a fraction ("loss-0.25") or no ending stands between ("llama-3.1-8b").
std::optional<std::int64_t> StepOf(std::string_view name) {
  for (const std::string_view word : {"step", "iter"}) {
    const std::size_t at = name.rfind(word);
    if (at == name.npos) continue;
    const std::size_t number = name.find_first_not_of("-_=", at + word.size());
    if (number == name.npos) continue;
    if (const auto step = NumberAt(name, number)) return step;
  }
  for (auto dot = name.rfind('.'); dot != name.npos && IsEnding(name.substr(dot));
       dot = name.rfind('.')) {
    name = name.substr(0, dot);
  }
  const std::size_t before = name.find_last_not_of(kDigits);
  const std::size_t digits = before == name.npos ? 0 : before + 1;
  const bool fraction =
      digits >= 2 && name[digits - 1] == '.' && kDigits.find(name[digits - 2]) != kDigits.npos;
  return digits < name.size() && !fraction ? NumberAt(name, digits) : std::nullopt;
}

bool HalfWritten(const std::string& name) {
  static constexpr std::array<const char*, 4> kMarks = {".tmp", ".part", ".incomplete", "tmp_"};
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [&](const char* mark) { return name.find(mark) != std::string::npos; });
}

// A zip file has its directory at its end, so one that was cut has none.
bool CutZip(const fs::path& file, std::uintmax_t size) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 4> head{};
  in.read(head.data(), head.size());
  if (!in || std::string_view(head.data(), 4) != "PK\x03\x04") return false;
  const std::uintmax_t tail = std::min<std::uintmax_t>(size, kZipTail);
  in.seekg(static_cast<std::streamoff>(size - tail));
  std::string end(static_cast<std::size_t>(tail), '\0');
  in.read(end.data(), static_cast<std::streamsize>(tail));
  return end.find("PK\x05\x06") == std::string::npos;
}

void LookAtFile(const fs::path& file, Checkpoint& checkpoint) {
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  const std::int64_t written =
      std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
  checkpoint.written_ns = std::max(checkpoint.written_ns, written);
  if (!checkpoint.torn.empty()) return;
  const std::string name = file.filename();
  const auto size = static_cast<std::uintmax_t>(facts.st_size);
  if (HalfWritten(name)) checkpoint.torn = Cat(name, " is half written");
  if (size == 0) checkpoint.torn = Cat(name, " is empty");
  if (size > 0 && CutZip(file, size)) checkpoint.torn = Cat(name, " was cut");
}

Checkpoint Look(const fs::path& path, std::int64_t step) {
  Checkpoint checkpoint{.path = path, .step = step, .written_ns = 0, .torn = ""};
  std::error_code error, vanished;
  if (!fs::is_directory(path, error)) {
    LookAtFile(path, checkpoint);
    return checkpoint;
  }
  bool parts = false;
  bool metadata = false;
  std::size_t files = 0;
  fs::recursive_directory_iterator each(path, error);
  for (; !error && each != fs::recursive_directory_iterator(); each.increment(error)) {
    const fs::directory_entry& entry = *each;
    if (!entry.is_regular_file(vanished)) continue;
    ++files;
    parts = parts || entry.path().extension() == ".distcp";
    metadata = metadata || entry.path().filename() == ".metadata";
    LookAtFile(entry.path(), checkpoint);
  }
  if (files == 0) checkpoint.torn = "nothing is in it";
  if (error) checkpoint.torn = Cat("it cannot be read whole: ", error.message());
  if (parts && !metadata) checkpoint.torn = "its .metadata is missing";
  return checkpoint;
}

}  // namespace

absl::StatusOr<std::vector<Checkpoint>> FindCheckpoints(const fs::path& folder) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  std::error_code error;
  fs::directory_iterator each(folder, error);
  for (; !error && each != fs::directory_iterator(); each.increment(error)) {
    const std::string name = each->path().filename();
    if (const auto step = StepOf(name)) found.emplace_back(*step, each->path());
  }
  if (error) return absl::NotFoundError(Cat(folder.string(), ": ", error.message()));
  std::sort(found.rbegin(), found.rend());
  if (found.size() > kMostLooked) found.resize(kMostLooked);
  std::vector<Checkpoint> checkpoints;
  for (const auto& [step, path] : found) {
    checkpoints.push_back(Look(path, step));
    if (HalfWritten(path.filename()))
      checkpoints.back().torn = "its name says that it is half written";
  }
  return checkpoints;
}

}  // namespace fathom::cli
