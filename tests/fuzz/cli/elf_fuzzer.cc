// Whatever the file holds: reading it as ELF stays inside it.
#include <cstddef>
#include <cstdint>
#include <span>

#include "collector/cli/doctor/elf_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  fathom::cli::ParseElf(bytes, {"defined", "main"}).status().IgnoreError();
  return 0;
}
