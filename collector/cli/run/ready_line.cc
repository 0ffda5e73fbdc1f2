#include "collector/cli/run/ready_line.h"
#include "collector/cli/text/text.h"

#include <vector>

namespace fathom::cli {

absl::StatusOr<Listening> ParseReadyLine(std::string_view line, std::string_view program) {
  const std::vector<std::string_view> words = SplitWords(line, " \r\n");
  if (words.size() < 2 || words[0] != program || words[1] != "ready") {
    return absl::InvalidArgumentError(Cat("it said '", line.substr(0, 80), "'"));
  }
  Listening out;
  for (const std::string_view word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || word.substr(equals + 1).starts_with('/')) continue;
    absl::StatusOr<HostPort> address = ParseHostPort(word.substr(equals + 1));
    if (!address.ok()) return address.status();
    out.insert_or_assign(std::string(word.substr(0, equals)), *std::move(address));
  }
  return out;
}

}  // namespace fathom::cli
