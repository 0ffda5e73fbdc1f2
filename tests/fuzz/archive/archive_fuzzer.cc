// Any bytes as a file of a job: inflated, unpacked if it is an archive, and its members read by
// whichever importer claims them. Whatever it says of itself, no more comes out than is allowed,
// and nothing outside the private folder.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "collector/import/archive/unpacked_archive.h"
#include "collector/import/reading/input_file.h"
#include "collector/import/recognise.h"

namespace {

namespace fs = std::filesystem;
using fathom::collector::ImportLimits;

void Demand(bool condition) {
  if (!condition) std::abort();
}

void Unpack(const std::string& path, const ImportLimits& limits) {
  const auto unpacked = fathom::collector::UnpackedArchive::Unpack(path, limits);
  if (!unpacked.ok()) return;
  const auto& files = (*unpacked)->files();
  Demand(files.size() <= limits.files);
  if (files.empty()) return;
  // TMPDIR/fathom-archive-XXXXXX, below which all of them lie.
  const std::string folder = (fs::temp_directory_path() / "fathom-archive-").string();
  std::uint64_t bytes = 0;
  for (const std::string& file : files) {
    Demand(file.starts_with(folder) && fs::path(file).lexically_normal() == file);
    Demand(fs::symlink_status(file).type() == fs::file_type::regular);
    bytes += fs::file_size(file);
  }
  Demand(bytes <= limits.archive_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = memfd_create("archive", MFD_CLOEXEC);
  if (file < 0) return 0;
  if (write(file, data, size) == static_cast<ssize_t>(size)) {
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    ImportLimits limits;
    limits.file_bytes = limits.archive_bytes = 4 << 20;
    limits.dump_bytes = 1 << 20;
    limits.files = 64;
    limits.ranks = 1024;
    limits.table_rows = 1 << 14;
    const auto head = fathom::collector::ReadHead(path, limits);
    if (head.ok()) Demand(head->size() <= fathom::collector::kHeadBytes);
    const auto whole = fathom::collector::ReadWhole(path, limits);
    if (whole.ok()) Demand(whole->size() <= limits.dump_bytes);
    if (head.ok() && fathom::collector::IsArchive(*head)) Unpack(path, limits);
    (void)fathom::collector::ReadRecording({path}, "auto", limits);
  }
  close(file);
  return 0;
}
