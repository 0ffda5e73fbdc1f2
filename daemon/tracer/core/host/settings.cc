#include "daemon/tracer/core/host/settings.h"

#include <string.h>

#include "daemon/tracer/core/host/text.h"

namespace fathom::tracer {
namespace {

constexpr std::uint32_t kBytesPerKib = 1024;
constexpr std::uint32_t kMinKib = abi::kMinRecords * sizeof(abi::EventRecord) / kBytesPerKib;
constexpr std::uint32_t kMaxKib = abi::kMaxRecords * sizeof(abi::EventRecord) / kBytesPerKib;
constexpr std::size_t kMaxPath = 256;

struct SourceName {
  const char* name;
  std::uint32_t bits;
};
constexpr SourceName kSourceNames[] = {
    {"cuda", abi::kSourceCuda | abi::kSourceCupti},
    {"nccl", abi::kSourceNccl | abi::kSourceNcclPlugin | abi::kSourceNcclTransfers},
    {"gloo", abi::kSourceGloo},
    {"python", abi::kSourcePython},
    {"products", abi::kSourceProducts},
};

bool Given(const char* text) { return text != nullptr && *text != '\0'; }

// The largest power of two of records that fits into `kib`.
std::uint32_t RecordsFor(std::uint32_t kib) {
  std::uint32_t records = abi::kMinRecords;
  const std::uint64_t fit = std::uint64_t{kib} * kBytesPerKib / sizeof(abi::EventRecord);
  while (records * 2 <= fit) records *= 2;
  return records;
}

std::uint32_t SourceBits(const char* word, std::size_t length) {
  for (const SourceName& source : kSourceNames) {
    if (strlen(source.name) == length && memcmp(source.name, word, length) == 0) return source.bits;
  }
  return 0;
}

std::uint32_t ReadSources(const char* text, std::uint32_t* bad) {
  std::uint32_t bits = 0;
  while (true) {
    const char* comma = strchr(text, ',');
    const std::size_t length =
        comma == nullptr ? strlen(text) : static_cast<std::size_t>(comma - text);
    const std::uint32_t found = SourceBits(text, length);
    if (found == 0 && length > 0) ++*bad;
    bits |= found;
    if (comma == nullptr) return bits;
    text = comma + 1;
  }
}

void ReadJob(const char* text, Settings* settings) {
  if (!CopyText(settings->job, sizeof(settings->job), text) || !IsName(settings->job)) {
    settings->job[0] = '\0';
    ++settings->bad_settings;
  }
}

}  // namespace

Settings ReadSettings(EnvLookup env) {
  Settings settings;
  const char* disable = env("FATHOM_DISABLE");
  settings.disabled = Given(disable) && strcmp(disable, "0") != 0;

  const char* dir = env("FATHOM_SHM_DIR");
  settings.shm_dir = Given(dir) ? dir : "/dev/shm/fathom";
  if (settings.shm_dir[0] != '/' || strlen(settings.shm_dir) >= kMaxPath) {
    settings.shm_dir = nullptr;
    ++settings.bad_settings;
  }
  if (const char* kib = env("FATHOM_RING_KIB"); Given(kib)) {
    std::uint32_t value = 0;
    if (ParseUint(kib, kMaxKib, &value) && value >= kMinKib) {
      settings.records = RecordsFor(value);
    } else {
      ++settings.bad_settings;
    }
  }
  if (const char* trace = env("FATHOM_TRACE"); Given(trace)) {
    settings.sources = ReadSources(trace, &settings.bad_settings);
  }
  if (const char* transfers = env("FATHOM_NCCL_TRANSFERS"); Given(transfers)) {
    if (strcmp(transfers, "0") == 0) {
      settings.sources &= ~abi::kSourceNcclTransfers;
    } else if (strcmp(transfers, "1") != 0) {
      ++settings.bad_settings;
    }
  }
  if (const char* job = env("FATHOM_JOB"); Given(job)) ReadJob(job, &settings);
  return settings;
}

}  // namespace fathom::tracer
