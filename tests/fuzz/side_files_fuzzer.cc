// Any text as what lies beside dumps: process states, sockets, stacks, error output.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collector/import/side_files/side_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::collector;  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Recording recording;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    recording.view.records.emplace_back().rank = fathom::RankId(rank);
  }
  (void)side_files::KindOf("logs/rank1.txt", text);
  (void)side_files::AddProcesses(text, recording);
  (void)side_files::AddSockets(text, recording);
  (void)side_files::AddStack(text, fathom::RankId(1), recording);
  (void)side_files::AddOutput(text, fathom::RankId(2), recording);
  return 0;
}
