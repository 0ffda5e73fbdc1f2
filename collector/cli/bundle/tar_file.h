// A .tar.gz of texts, readable by its owner only.
//
// Used by `fathom export bundle`. Thread-safety: thread-compatible. Ownership: owns the file; one
// that was not finished is removed. Errors: AlreadyExists (never overwrites), Unavailable (the
// disk, or no libarchive on this machine).
#ifndef FATHOM_COLLECTOR_CLI_BUNDLE_TAR_FILE_H_
#define FATHOM_COLLECTOR_CLI_BUNDLE_TAR_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "collector/import/archive/libarchive.h"

namespace fathom::cli {

class TarFile {
 public:
  // `when`: seconds since the epoch, of all members.
  static absl::StatusOr<std::unique_ptr<TarFile>> Create(const std::string& path,
                                                         std::int64_t when);
  ~TarFile();
  TarFile(const TarFile&) = delete;
  TarFile& operator=(const TarFile&) = delete;

  absl::Status Add(const std::string& name, const std::string& text);
  absl::Status Finish();

 private:
  TarFile(const collector::LibArchive& library, std::string path, std::int64_t when)
      : library_(library), path_(std::move(path)), when_(when) {}
  absl::Status Check(int code) const;

  const collector::LibArchive& library_;
  const std::string path_;
  const std::int64_t when_;
  int fd_ = -1;
  archive* archive_ = nullptr;
  bool finished_ = false;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_BUNDLE_TAR_FILE_H_
