#include "collector/import/archive/unpacked_archive.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "collector/import/archive/libarchive.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 256 * 1024;
constexpr std::size_t kMostNotes = 8;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
// One archive, open.
class Reader {
 public:
  explicit Reader(const LibArchive& library)
      : library_(library), archive_(library.read_new(), library.read_free) {}

  absl::Status Open(const std::string& path) {
    // Not all that libarchive knows: for some of them it starts programs.
    library_.read_support_filter_bzip2(archive_.get());
    library_.read_support_filter_gzip(archive_.get());
    library_.read_support_filter_xz(archive_.get());
    library_.read_support_filter_zstd(archive_.get());
    library_.read_support_format_tar(archive_.get());
    library_.read_support_format_zip(archive_.get());
    if (library_.read_open_filename(archive_.get(), path.c_str(), kBlock) == ARCHIVE_OK) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", Why()));
  }

  int Next() { return library_.read_next_header(archive_.get(), &entry_); }
  // Of the member that Next() came to.
  const char* name() const { return library_.entry_pathname(entry_); }
  bool is_file() const { return library_.entry_filetype(entry_) == AE_IFREG; }
  la_ssize_t Read(std::vector<char>& to) {
    return library_.read_data(archive_.get(), to.data(), to.size());
  }

  std::string Why() const {
    const char* text = library_.error_string(archive_.get());
    return text == nullptr ? "not readable" : text;
  }

 private:
  const LibArchive& library_;
  std::unique_ptr<archive, decltype(&archive_read_free)> archive_;
  archive_entry* entry_ = nullptr;
};

// Below the folder, whatever the archive says.
fs::path Inside(const char* name) {
  fs::path out;
  for (const fs::path& part : fs::path(name == nullptr ? "" : name).relative_path()) {
    if (part.empty() || part == "." || part == "..") continue;
    out /= part;
  }
  return out;
}

// Counts what comes out of one archive against the limits.
class Budget {
 public:
  Budget(const std::string& path, const ImportLimits& limits) : path_(path), limits_(limits) {
    std::error_code error;
    size_ = fs::file_size(path, error);
    if (error) size_ = 0;
  }

  absl::Status TakeMember() {
    if (++members_ > limits_.files) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path_, ": more than ", limits_.files, " files"));
    }
    return Spend(0);
  }

  absl::Status Spend(std::size_t bytes) {
    if (limits_.stop != nullptr && *limits_.stop) {
      return absl::CancelledError(path_ + ": interrupted");
    }
    spent_ += bytes;
    if (spent_ > limits_.archive_bytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          path_, ": unpacks to more than ", limits_.archive_bytes, " bytes; see --limit-gib"));
    }
    if (spent_ > UnpackedArchive::kRatioFrom && spent_ / limits_.inflate_ratio > size_) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path_, ": unpacks to more than ", limits_.inflate_ratio, " times its size"));
    }
    return absl::OkStatus();
  }

 private:
  const std::string& path_;
  const ImportLimits& limits_;
  std::uint64_t size_ = 0;
  std::uint64_t spent_ = 0;
  std::uint64_t members_ = 0;
};

// DataLoss: the archive breaks off here. Without a file what is read is dropped: libarchive would
// inflate it as well to come to the next member, but by nobody's limits.
absl::Status CopyMember(Reader& reader, std::FILE* file, const std::string& to, Budget& budget) {
  std::vector<char> block(kBlock);
  while (true) {
    const la_ssize_t count = reader.Read(block);
    if (count == 0) return absl::OkStatus();
    if (count < 0) return absl::DataLossError(reader.Why());
    const auto bytes = static_cast<std::size_t>(count);
    if (absl::Status s = budget.Spend(bytes); !s.ok()) return s;
    if (file != nullptr && std::fwrite(block.data(), 1, bytes, file) != bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(to, ": ", std::strerror(errno), "; TMPDIR may name a larger disk"));
    }
  }
}

absl::Status CopyMember(Reader& reader, const fs::path& to, Budget& budget) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(to.c_str(), "wbxe"));
  if (file != nullptr) return CopyMember(reader, file.get(), to.string(), budget);
  const std::string why = absl::StrCat(to.string(), ": ", std::strerror(errno));
  const absl::Status dropped = CopyMember(reader, nullptr, "", budget);
  const bool bearable = dropped.ok() || absl::IsDataLoss(dropped);
  return bearable ? absl::UnavailableError(why) : dropped;
}

}  // namespace

bool IsArchive(std::string_view head) {
  constexpr std::size_t kUstarAt = 257;
  // Of what only libarchive inflates here, nothing more is seen than that it is packed.
  for (const std::string_view magic : {std::string_view("PK\x03\x04"), std::string_view("BZh"),
                                       std::string_view("\xfd\x37zXZ\x00", 6)}) {
    if (head.starts_with(magic)) return true;
  }
  return head.size() > kUstarAt + 5 && head.substr(kUstarAt, 5) == "ustar";
}

absl::StatusOr<std::unique_ptr<UnpackedArchive>> UnpackedArchive::Unpack(
    const std::string& path, const ImportLimits& limits) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string folder = ((error ? fs::path("/tmp") : parent) / "fathom-archive-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat(path, ": no folder to unpack it in: ", folder, ": ", std::strerror(errno)));
  }
  std::unique_ptr<UnpackedArchive> out(new UnpackedArchive(path, folder));
  if (absl::Status filled = out->Fill(limits); !filled.ok()) return filled;
  return out;
}

UnpackedArchive::~UnpackedArchive() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string UnpackedArchive::Shown(const std::string& text) const {
  return absl::StrReplaceAll(text, {{folder_, path_}});
}

absl::Status UnpackedArchive::Fill(const ImportLimits& limits) {
  const auto library = LibArchive::Load();
  if (!library.ok()) {
    return absl::UnavailableError(absl::StrCat(path_, ": ", library.status().message()));
  }
  Reader reader(**library);
  if (absl::Status opened = reader.Open(path_); !opened.ok()) return opened;
  Budget budget(path_, limits);
  while (true) {
    const int next = reader.Next();
    if (next == ARCHIVE_EOF) return absl::OkStatus();
    if (next == ARCHIVE_FATAL) {
      notes_.push_back(absl::StrCat(path_, ": breaks off: ", reader.Why()));
      return absl::OkStatus();
    }
    if (absl::Status taken = budget.TakeMember(); !taken.ok()) return taken;
    const fs::path name = Inside(reader.name());
    const bool kept = reader.is_file() && !name.empty();
    const fs::path to = fs::path(folder_) / name;
    const absl::Status copied =
        kept ? CopyMember(reader, to, budget) : CopyMember(reader, nullptr, "", budget);
    if (absl::IsResourceExhausted(copied) || absl::IsCancelled(copied)) return copied;
    if (!kept) continue;
    if (copied.ok() || absl::IsDataLoss(copied)) files_.push_back(to.string());
    if (!copied.ok() && notes_.size() < kMostNotes) {
      notes_.push_back(absl::StrCat(path_, "/", name.string(), ": ", copied.message()));
    }
  }
}

}  // namespace fathom::collector
