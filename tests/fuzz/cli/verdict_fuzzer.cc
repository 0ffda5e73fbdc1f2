// Whatever JSON a server sends: it becomes text without control characters.
#include <cstddef>
#include <cstdint>
#include <string>

#include "collector/cli/render/lists.h"
#include "collector/cli/render/yaml.h"
#include "collector/cli/report/verdict_card.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fathom::cli::Json;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return 0;
  const fathom::cli::ListStyle style{{}, true, 0};
  const auto verdict = fathom::cli::ReadVerdict(value);
  std::string out =
      fathom::cli::VerdictCard(verdict, {}, "") + fathom::cli::VerdictPage(verdict, {});
  if (value.is_array()) {
    out += fathom::cli::JobsTable(value, style) + fathom::cli::RanksTable(value, style) +
           fathom::cli::VerdictsTable(value, style) + fathom::cli::NodesTable(value, style);
  }
  out += fathom::cli::ToYaml(value);
  for (const char c : out) {
    if (c != '\n' && static_cast<unsigned char>(c) < 0x20) __builtin_trap();
  }
  return 0;
}
