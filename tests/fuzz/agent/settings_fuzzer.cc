// Arbitrary bytes as fathomd's settings file.
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "daemon/agent/config/settings_loader.h"
#include "tests/fakes/ring_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fathom::fakes::RingFolder folder;
  const std::string path = folder.path() + "/agent.yaml";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto none = [](const std::string&) -> std::optional<std::string> { return std::nullopt; };
  const auto loaded = fathom::agent::LoadSettings({"--config", path}, none);
  if (loaded.ok()) (void)fathom::agent::PrintSettings(loaded->settings);
  return 0;
}
