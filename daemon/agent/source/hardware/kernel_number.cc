#include "daemon/agent/source/hardware/kernel_number.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

std::vector<std::string> NamesIn(const std::string& folder, std::size_t most) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename().string();
    if (!absl::StartsWith(name, ".")) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  if (names.size() > most) names.resize(most);
  return names;
}

std::optional<double> PressureIn(const std::string& path) {
  constexpr absl::string_view kKey = "some avg10=";
  const auto text = ReadSmallFile(path);
  if (!text.ok() || !absl::StartsWith(*text, kKey)) return std::nullopt;
  const absl::string_view rest = absl::string_view(*text).substr(kKey.size());
  double percent = 0;
  if (!absl::SimpleAtod(rest.substr(0, rest.find(' ')), &percent)) return std::nullopt;
  return percent / 100;
}

}  // namespace fathom::agent
