// Any text as the settings file of fathom-collector: refused in one line, or settings that come
// back the same when they are printed and read again.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "collector/config/settings.h"
#include "collector/config/thresholds.h"

namespace {

using fathom::collector::CollectorConfig;

bool Load(std::string_view text, CollectorConfig& config) {
  const int file = memfd_create("settings", MFD_CLOEXEC);
  if (file < 0) return false;
  bool loaded = false;
  if (write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    fathom::collector::Texts texts;
    loaded = fathom::collector::LoadFile("/proc/self/fd/" + std::to_string(file), texts).ok() &&
             fathom::collector::Apply(texts, "fuzz", config).ok();
  }
  close(file);
  return loaded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  CollectorConfig config;
  if (!Load({reinterpret_cast<const char*>(data), size}, config)) return 0;
  const bool allowed = CheckThresholds(config).ok();
  config.notify.clear();  // a secret, of which only the host is printed
  const std::string printed = Print(config);
  CollectorConfig again;
  if (!Load(printed, again) || Print(again) != printed) std::abort();
  if (allowed && !CheckThresholds(again).ok()) std::abort();
  return 0;
}
