// The functions of libarchive that fathom calls, loaded when the first archive is met.
//
// Used by UnpackedArchive and by the support bundle's TarFile. Names are libarchive's own without
// `archive_`; types and constants come from its headers. See collector/process/loaded_library.h for
// why.
//
// Thread-safety: Load() may be called from any thread; what it returns is constant and never goes.
// Errors: Unavailable, with the name of the library.
#ifndef FATHOM_COLLECTOR_IMPORT_ARCHIVE_LIBARCHIVE_H_
#define FATHOM_COLLECTOR_IMPORT_ARCHIVE_LIBARCHIVE_H_

#include <archive.h>
#include <archive_entry.h>

#include "absl/status/statusor.h"

namespace fathom::collector {

struct LibArchive {
  static absl::StatusOr<const LibArchive*> Load();

  decltype(&::archive_error_string) error_string = nullptr;

  decltype(&::archive_read_new) read_new = nullptr;
  decltype(&::archive_read_free) read_free = nullptr;
  decltype(&::archive_read_support_filter_bzip2) read_support_filter_bzip2 = nullptr;
  decltype(&::archive_read_support_filter_gzip) read_support_filter_gzip = nullptr;
  decltype(&::archive_read_support_filter_xz) read_support_filter_xz = nullptr;
  decltype(&::archive_read_support_filter_zstd) read_support_filter_zstd = nullptr;
  decltype(&::archive_read_support_format_tar) read_support_format_tar = nullptr;
  decltype(&::archive_read_support_format_zip) read_support_format_zip = nullptr;
  decltype(&::archive_read_open_filename) read_open_filename = nullptr;
  decltype(&::archive_read_next_header) read_next_header = nullptr;
  decltype(&::archive_read_data) read_data = nullptr;

  decltype(&::archive_write_new) write_new = nullptr;
  decltype(&::archive_write_free) write_free = nullptr;
  decltype(&::archive_write_set_format_pax_restricted) write_set_format_pax_restricted = nullptr;
  decltype(&::archive_write_add_filter_gzip) write_add_filter_gzip = nullptr;
  decltype(&::archive_write_open_fd) write_open_fd = nullptr;
  decltype(&::archive_write_header) write_header = nullptr;
  decltype(&::archive_write_data) write_data = nullptr;
  decltype(&::archive_write_close) write_close = nullptr;

  decltype(&::archive_entry_new) entry_new = nullptr;
  decltype(&::archive_entry_free) entry_free = nullptr;
  decltype(&::archive_entry_pathname) entry_pathname = nullptr;
  decltype(&::archive_entry_filetype) entry_filetype = nullptr;
  decltype(&::archive_entry_set_pathname) entry_set_pathname = nullptr;
  decltype(&::archive_entry_set_size) entry_set_size = nullptr;
  decltype(&::archive_entry_set_filetype) entry_set_filetype = nullptr;
  decltype(&::archive_entry_set_perm) entry_set_perm = nullptr;
  decltype(&::archive_entry_set_mtime) entry_set_mtime = nullptr;

 private:
  absl::Status Fill();
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_ARCHIVE_LIBARCHIVE_H_
