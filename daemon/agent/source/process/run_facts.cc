#include "daemon/agent/source/process/run_facts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/agent/source/process/code_mark.h"
#include "daemon/agent/source/process/library_versions.h"
#include "daemon/agent/source/process/process_files.h"

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxCommandBytes = 256 * 1024;
constexpr std::size_t kSecretBytes = 24;

constexpr std::array<const char*, 10> kPrefixes = {"NCCL_",   "CUDA_",      "CUBLAS_", "PYTORCH_",
                                                   "TORCH_",  "GLOO_",      "OMP_",    "MKL_",
                                                   "FATHOM_", "NVIDIA_TF32"};
// Of one run or one rank alone.
constexpr std::array<const char*, 11> kLeftOut = {
    "FATHOM_SHM_DIR", "FATHOM_JOB",    "FATHOM_PROFILE",      "FATHOM_HISTORY",
    "FATHOM_REPORT",  "FATHOM_RECORD", "FATHOM_HTTP",         "FATHOM_COLLECTOR",
    "NCCL_COMM_ID",   "NCCL_HOSTID",   "CUDA_VISIBLE_DEVICES"};
constexpr std::array<std::string_view, 10> kPlaces = {
    "local-rank",  "local_rank",  "node-rank",   "node_rank", "master-addr",
    "master_addr", "master-port", "master_port", "rdzv-id",   "rdzv-endpoint"};
constexpr std::array<std::string_view, 12> kSecretWords = {
    "token", "secret", "password",   "passwd",      "pass", "pwd",
    "key",   "apikey", "credential", "credentials", "auth", "bearer"};
constexpr std::array<std::string_view, 6> kSecretEnds = {"token",  "secret", "password",
                                                         "passwd", "apikey", "credentials"};
constexpr std::array<std::string_view, 6> kSecretMarks = {
    "bearer ", "token=", "password=", "passwd=", "secret=", "key="};

std::vector<std::string> SplitNul(const std::string& text) {
  return absl::StrSplit(text, '\0', absl::SkipEmpty());
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool IsOption(const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return false;
  return !absl::ascii_isdigit(static_cast<unsigned char>(word[1])) && word[1] != '.';
}

bool IsSecretWord(const std::string& word) {
  return std::find(kSecretWords.begin(), kSecretWords.end(), word) != kSecretWords.end() ||
         std::any_of(kSecretEnds.begin(), kSecretEnds.end(),
                     [&](std::string_view end) { return absl::EndsWith(word, std::string(end)); });
}

// In words of whatever spelling: db-password, db_password, dbPassword, DBPASSWORD.
bool NamesSecret(const std::string& name) {
  std::string word;
  bool lower = false;  // the letter before
  for (const char c : name + " ") {
    const auto byte = static_cast<unsigned char>(c);
    const bool begins = lower && absl::ascii_isupper(byte);
    if (begins || !absl::ascii_isalnum(byte)) {
      if (IsSecretWord(word)) return true;
      word.clear();
    }
    if (absl::ascii_isalnum(byte)) word += absl::ascii_tolower(byte);
    lower = absl::ascii_islower(byte);
  }
  return false;
}

// A value that names what it holds: "Authorization: Bearer …", "lr=1,token=…".
bool SaysSecret(const std::string& value) {
  const std::string text = absl::AsciiStrToLower(value);
  return std::any_of(kSecretMarks.begin(), kSecretMarks.end(),
                     [&](std::string_view mark) { return text.find(mark) != text.npos; });
}

// A long word of letters and digits, as keys are; a path or a number is none.
bool LooksSecret(const std::string& value) {
  if (value.size() < kSecretBytes) return false;
  bool digit = false, letter = false;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (!absl::ascii_isalnum(byte) && c != '_' && c != '-') return false;
    digit = digit || absl::ascii_isdigit(byte);
    letter = letter || absl::ascii_isalpha(byte);
  }
  return digit && letter;
}

std::string WithoutPassword(const std::string& value) {
  const std::size_t scheme = value.find("://");
  const std::size_t at = value.find('@', scheme == std::string::npos ? 0 : scheme);
  if (scheme == std::string::npos || at == std::string::npos) return value;
  if (value.find('/', scheme + 3) < at) return value;
  return absl::StrCat(value.substr(0, scheme + 3), kMasked, value.substr(at));
}

std::string Printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

void Put(const std::string& name, const std::string& value, ProcessSetup& setup) {
  if (setup.facts.size() >= kMaxFacts) return;
  std::string& held = setup.facts[Printable(name.substr(0, kMaxFactBytes))];
  if (!held.empty()) held += " ";
  held += Printable(value);
  if (held.size() > kMaxFactBytes) held.resize(kMaxFactBytes);
}

// Where the program stands in its command line, and its name.
std::size_t TakeProgram(const std::vector<std::string>& command, ProcessSetup& setup) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "-m" && i + 1 < command.size()) {
      setup.program = command[i + 1];
      return i + 1;
    }
    if (absl::EndsWith(command[i], ".py")) {
      setup.program = BaseName(command[i]);
      return i;
    }
  }
  setup.program = BaseName(command[0]);
  return 0;
}

bool IsOfOnePlace(const std::string& option) {
  const std::string name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  return std::find(kPlaces.begin(), kPlaces.end(), name) != kPlaces.end();
}

void PutArgument(const std::string& name, const std::string& value, ProcessSetup& setup) {
  if (!IsOfOnePlace(name)) Put("argument " + name, Masked(name, value), setup);
}

}  // namespace

std::string Masked(const std::string& name, const std::string& value) {
  if (value.empty()) return value;
  if (NamesSecret(name) || LooksSecret(value) || SaysSecret(value)) return kMasked;
  return WithoutPassword(value);
}

void TakeArguments(const std::vector<std::string>& command, ProcessSetup& setup) {
  if (command.empty()) return;
  for (std::size_t i = TakeProgram(command, setup) + 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && equals > 0) {
      PutArgument(word.substr(0, equals), word.substr(equals + 1), setup);
    } else if (!IsOption(word)) {
      PutArgument("(others)", word, setup);
    } else if (i + 1 < command.size() && !IsOption(command[i + 1])) {
      PutArgument(word, command[++i], setup);
    } else {
      PutArgument(word, "", setup);
    }
  }
}

void TakeEnvironment(const std::vector<std::string>& environment, ProcessSetup& setup) {
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals), value = entry.substr(equals + 1);
    if (name == "FATHOM_PROFILE") setup.profile = Printable(value.substr(0, kMaxFactBytes));
    if (name == "FATHOM_IMAGE") Put("image", value, setup);
    const bool listed = std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](const char* prefix) {
      return absl::StartsWith(name, prefix);
    });
    const bool left_out = std::any_of(kLeftOut.begin(), kLeftOut.end(),
                                      [&](const char* other) { return name == other; });
    if (listed && !left_out) Put("environment " + name, Masked(name, value), setup);
  }
}

ProcessSetup ReadProcessSetup(const KernelRoots& roots, std::uint32_t pid) {
  ProcessSetup setup;
  const std::string folder = absl::StrCat(roots.proc, "/", pid);
  const std::vector<std::string> command =
      SplitNul(ReadRegular(folder + "/cmdline", kMaxCommandBytes));
  TakeEnvironment(SplitNul(ReadRegular(folder + "/environ", kMaxCommandBytes)), setup);
  TakeArguments(command, setup);
  const LibraryVersions versions = ReadLibraryVersions(roots, pid);
  setup.framework = versions.torch.empty() ? "" : "torch";
  setup.device = versions.device;
  const std::pair<const char*, const std::string&> kVersions[] = {
      {"torch", versions.torch},   {"nccl", versions.nccl},     {"cuda", versions.cuda},
      {"python", versions.python}, {"driver", versions.driver}, {"kernel", versions.kernel},
      {"system", versions.system}, {"gpu", versions.gpu}};
  for (const auto& [name, version] : kVersions) {
    if (!version.empty()) Put(name, version, setup);
  }
  const std::string revision = ReadRevision(folder, command);
  if (!revision.empty()) Put("revision", revision, setup);
  const std::string code = ReadCodeMark(folder, command);
  if (!code.empty()) Put("code", code, setup);
  return setup;
}

}  // namespace fathom::agent
