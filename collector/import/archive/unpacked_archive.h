// The files of a tar or zip archive, unpacked into a private folder for as long as the object
// lives.
//
// Used by collector/import/recognise.cc, before importers see any path: an archive of ranks is read
// as a folder of ranks.
//
// Model: libarchive does the reading: tar (plain, gzip, zstd, xz, bzip2) and zip. Only regular
// files are taken; links, devices and archives within archives are left out. A member's name is
// reduced to parts that stay below the folder ("..", roots and empty parts go), so no archive
// writes anywhere else. Unpacked rather than streamed, because importers read some files twice and
// side by side; the folder lies under TMPDIR.
//
// Bounds: ImportLimits.archive_bytes in all, .files members, .inflate_ratio once kRatioFrom bytes
// came out; what is left out counts too, as it is inflated all the same. Thread-safety:
// thread-compatible. Ownership: owns the folder. Errors: ResourceExhausted (a bound, the disk),
// InvalidArgument, Unavailable (no libarchive on this machine); a broken archive gives what came
// before the break, and a note. Cost: disk for what is unpacked.
#ifndef FATHOM_COLLECTOR_IMPORT_ARCHIVE_UNPACKED_ARCHIVE_H_
#define FATHOM_COLLECTOR_IMPORT_ARCHIVE_UNPACKED_ARCHIVE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/import/reading/importer.h"

namespace fathom::collector {

// Whether a file whose (inflated) first bytes these are is an archive, or, packed by xz or bzip2,
// may be one.
bool IsArchive(std::string_view head);

class UnpackedArchive {
 public:
  static constexpr std::uint64_t kRatioFrom = 64 << 20;

  static absl::StatusOr<std::unique_ptr<UnpackedArchive>> Unpack(const std::string& path,
                                                                 const ImportLimits& limits);
  ~UnpackedArchive();
  UnpackedArchive(const UnpackedArchive&) = delete;
  UnpackedArchive& operator=(const UnpackedArchive&) = delete;

  const std::vector<std::string>& files() const { return files_; }  // where they lie now
  const std::vector<std::string>& notes() const { return notes_; }
  // `text` with the private folder's name replaced by the archive's: what people should read.
  std::string Shown(const std::string& text) const;

 private:
  UnpackedArchive(std::string path, std::string folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}
  absl::Status Fill(const ImportLimits& limits);

  const std::string path_;
  const std::string folder_;
  std::vector<std::string> files_;
  std::vector<std::string> notes_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_ARCHIVE_UNPACKED_ARCHIVE_H_
