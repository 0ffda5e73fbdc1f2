#include "collector/import/archive/libarchive.h"

#include "collector/process/loaded_library.h"

namespace fathom::collector {

absl::StatusOr<const LibArchive*> LibArchive::Load() {
  static LibArchive table;
  static const absl::Status status = table.Fill();
  if (!status.ok()) return status;
  return &table;
}

absl::Status LibArchive::Fill() {
  LoadedLibrary library(FATHOM_LIBARCHIVE);
  library.Find("archive_error_string", error_string);
  library.Find("archive_read_new", read_new);
  library.Find("archive_read_free", read_free);
  library.Find("archive_read_support_filter_bzip2", read_support_filter_bzip2);
  library.Find("archive_read_support_filter_gzip", read_support_filter_gzip);
  library.Find("archive_read_support_filter_xz", read_support_filter_xz);
  library.Find("archive_read_support_filter_zstd", read_support_filter_zstd);
  library.Find("archive_read_support_format_tar", read_support_format_tar);
  library.Find("archive_read_support_format_zip", read_support_format_zip);
  library.Find("archive_read_open_filename", read_open_filename);
  library.Find("archive_read_next_header", read_next_header);
  library.Find("archive_read_data", read_data);
  library.Find("archive_write_new", write_new);
  library.Find("archive_write_free", write_free);
  library.Find("archive_write_set_format_pax_restricted", write_set_format_pax_restricted);
  library.Find("archive_write_add_filter_gzip", write_add_filter_gzip);
  library.Find("archive_write_open_fd", write_open_fd);
  library.Find("archive_write_header", write_header);
  library.Find("archive_write_data", write_data);
  library.Find("archive_write_close", write_close);
  library.Find("archive_entry_new", entry_new);
  library.Find("archive_entry_free", entry_free);
  library.Find("archive_entry_pathname", entry_pathname);
  library.Find("archive_entry_filetype", entry_filetype);
  library.Find("archive_entry_set_pathname", entry_set_pathname);
  library.Find("archive_entry_set_size", entry_set_size);
  library.Find("archive_entry_set_filetype", entry_set_filetype);
  library.Find("archive_entry_set_perm", entry_set_perm);
  library.Find("archive_entry_set_mtime", entry_set_mtime);
  return library.status();
}

}  // namespace fathom::collector
