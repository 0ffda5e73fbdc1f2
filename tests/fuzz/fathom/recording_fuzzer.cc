// Bytes that claim to be a recording. The first byte chooses: odd, the rest is the file; even, the
// rest is the message in a whole block, so that what lies behind zstd's checksum is reached too.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "collector/import/fathom/fathom_importer.h"
#include "tests/collector/import/fathom/recording_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fathom::collector::FathomImporter;
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) bytes = fathom::collector::PackBlock(bytes);
  const int file = memfd_create("recording", MFD_CLOEXEC);
  if (file < 0) return 0;
  if (write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
    fathom::collector::Recording recording;
    fathom::collector::ImportLimits limits;
    limits.ranks = 1024;
    (void)FathomImporter().Read({"/proc/self/fd/" + std::to_string(file)}, limits, recording);
  }
  close(file);
  return 0;
}
