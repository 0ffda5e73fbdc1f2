#include "collector/cli/bundle/tar_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "collector/cli/text/text.h"

namespace fathom::cli {

absl::StatusOr<std::unique_ptr<TarFile>> TarFile::Create(const std::string& path,
                                                         std::int64_t when) {
  const auto library = collector::LibArchive::Load();
  if (!library.ok()) return absl::UnavailableError(Cat(path, ": ", library.status().message()));
  std::unique_ptr<TarFile> file(new TarFile(**library, path, when));
  file->fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file->fd_ < 0) {
    const std::string why = Cat(path, ": ", std::strerror(errno));
    if (errno == EEXIST) return absl::AlreadyExistsError(Cat(why, "; name another with --file"));
    return absl::UnavailableError(why);
  }
  file->archive_ = (*library)->write_new();
  (*library)->write_set_format_pax_restricted(file->archive_);
  (*library)->write_add_filter_gzip(file->archive_);
  auto status = file->Check((*library)->write_open_fd(file->archive_, file->fd_));
  if (!status.ok()) return status;
  return file;
}

TarFile::~TarFile() {
  if (archive_ != nullptr) library_.write_free(archive_);
  if (fd_ < 0) return;
  close(fd_);
  if (!finished_) unlink(path_.c_str());
}

absl::Status TarFile::Check(int code) const {
  if (code >= ARCHIVE_WARN) return absl::OkStatus();
  const char* why = library_.error_string(archive_);
  return absl::UnavailableError(Cat(path_, ": ", why == nullptr ? "cannot be written" : why));
}

absl::Status TarFile::Add(const std::string& name, const std::string& text) {
  archive_entry* entry = library_.entry_new();
  library_.entry_set_pathname(entry, name.c_str());
  library_.entry_set_size(entry, static_cast<la_int64_t>(text.size()));
  library_.entry_set_filetype(entry, AE_IFREG);
  library_.entry_set_perm(entry, 0600);
  library_.entry_set_mtime(entry, when_, 0);
  absl::Status status = Check(library_.write_header(archive_, entry));
  library_.entry_free(entry);
  if (!status.ok()) return status;
  const la_ssize_t written = library_.write_data(archive_, text.data(), text.size());
  return written == static_cast<la_ssize_t>(text.size()) ? absl::OkStatus() : Check(ARCHIVE_FATAL);
}

absl::Status TarFile::Finish() {
  absl::Status status = Check(library_.write_close(archive_));
  finished_ = status.ok();
  return status;
}

}  // namespace fathom::cli
