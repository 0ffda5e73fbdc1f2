#include "collector/import/reading/input_file.h"

#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kLeastBlock = 4096;
// Asked for first of a file that is held whole: most dumps are no larger.
constexpr std::size_t kFirstPiece = 8 * 1024;
// A frame may ask for any window; zstd's own tools refuse more than this too.
constexpr int kLargestWindowLog = 27;

enum class Packing : std::uint8_t { kNone, kGzip, kZstd };

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

absl::Status ErrnoStatus(const std::string& path) {
  const int error = errno;
  const std::string message = absl::StrCat(path, ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(message);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(message);
  return absl::UnavailableError(message);
}

// No more than the whole file needs: many small ones cost what is in them.
std::size_t BlockFor(std::FILE* file, std::size_t largest) {
  struct stat facts {};
  if (fstat(fileno(file), &facts) != 0 || !S_ISREG(facts.st_mode)) return largest;
  return std::min(largest, std::max(kLeastBlock, static_cast<std::size_t>(facts.st_size) + 1));
}

}  // namespace

struct InputFile::State {
  std::string path;
  ImportLimits limits;
  std::unique_ptr<std::FILE, CloseFile> file;
  Packing packing = Packing::kNone;
  bool member_open = false;  // inside a gzip member or a zstd frame
  bool ended = false;
  z_stream stream{};
  std::unique_ptr<ZSTD_DCtx, FreeZstd> zstd;
  std::size_t block_room = 0;
  std::unique_ptr<unsigned char[]> block;
  std::size_t block_at = 0;
  std::size_t block_size = 0;
  std::uint64_t read = 0;      // bytes of the file
  std::uint64_t returned = 0;  // bytes given out

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (packing == Packing::kGzip) inflateEnd(&stream);
  }

  absl::Status Fill() {
    block_at = 0;
    return FillInto(block.get(), block_room, block_size);
  }

  absl::Status FillInto(void* to, std::size_t size, std::size_t& got) {
    got = std::fread(to, 1, size, file.get());
    read += got;
    if (limits.bytes_read != nullptr) *limits.bytes_read += got;
    return got == 0 && std::ferror(file.get()) != 0 ? ErrnoStatus(path) : absl::OkStatus();
  }

  std::size_t left() const { return block_size - block_at; }

  absl::Status Broken(std::string_view what) {
    ended = true;
    return absl::DataLossError(
        absl::StrCat(path, ": offset ", read - left(), ": ", std::string(what)));
  }

  absl::Status CheckLimits() const {
    if (returned > limits.file_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, ": holds more than ", limits.file_bytes, " bytes; see --limit-gib"));
    }
    if (packing != Packing::kNone && returned > limits.inflate_ratio * read) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, ": inflates to more than ", limits.inflate_ratio, " times its size"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::size_t> ReadPlain(char* to, std::size_t size);
  absl::StatusOr<std::size_t> Inflate(char* to, std::size_t size);
  absl::StatusOr<std::size_t> Unzstd(char* to, std::size_t size);
  absl::Status Begin();  // the first block is there: tells the packing
};

absl::StatusOr<std::size_t> InputFile::State::ReadPlain(char* to, std::size_t size) {
  if (left() == 0 && size >= block_room) {
    std::size_t got = 0;
    if (absl::Status filled = FillInto(to, std::min(size, kReadAtOnce), got); !filled.ok()) {
      return filled;
    }
    return got;
  }
  if (left() == 0) {
    if (absl::Status filled = Fill(); !filled.ok()) return filled;
  }
  const std::size_t count = std::min(size, left());
  std::memcpy(to, block.get() + block_at, count);
  block_at += count;
  return count;
}

absl::StatusOr<std::size_t> InputFile::State::Inflate(char* to, std::size_t size) {
  stream.next_out = reinterpret_cast<Bytef*>(to);
  stream.avail_out = static_cast<uInt>(std::min(size, kReadAtOnce));
  const uInt wanted = stream.avail_out;
  while (stream.avail_out == wanted) {
    if (left() == 0) {
      if (absl::Status filled = Fill(); !filled.ok()) return filled;
      if (block_size == 0) {
        if (member_open) return Broken("the zipped file ends early");
        return std::size_t{0};
      }
    }
    stream.next_in = block.get() + block_at;
    stream.avail_in = static_cast<uInt>(left());
    member_open = true;
    const int result = inflate(&stream, Z_NO_FLUSH);
    block_at = block_size - stream.avail_in;
    if (result == Z_STREAM_END) {  // another member may follow
      member_open = false;
      inflateReset(&stream);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return Broken("the zipped data is broken");
    }
  }
  return wanted - stream.avail_out;
}

absl::StatusOr<std::size_t> InputFile::State::Unzstd(char* to, std::size_t size) {
  ZSTD_outBuffer out{to, size, 0};
  while (out.pos == 0) {
    if (left() == 0) {
      if (absl::Status filled = Fill(); !filled.ok()) return filled;
      if (block_size == 0) {
        if (member_open) return Broken("the compressed file ends early");
        return std::size_t{0};
      }
    }
    ZSTD_inBuffer in{block.get() + block_at, left(), 0};
    const std::size_t result = ZSTD_decompressStream(zstd.get(), &out, &in);
    block_at += in.pos;
    if (ZSTD_isError(result) != 0) return Broken("the compressed data is broken");
    member_open = result != 0;
  }
  return out.pos;
}

absl::Status InputFile::State::Begin() {
  const auto starts = [this](std::initializer_list<unsigned char> magic) {
    return block_size >= magic.size() && std::equal(magic.begin(), magic.end(), block.get());
  };
  const absl::Status no_memory = absl::ResourceExhaustedError(path + ": no memory to inflate");
  if (starts({0x1f, 0x8b})) {
    constexpr int kGzipWindow = 15 + 16;
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) return no_memory;
    packing = Packing::kGzip;
  } else if (starts({0x28, 0xb5, 0x2f, 0xfd})) {
    zstd.reset(ZSTD_createDCtx());
    if (zstd == nullptr) return no_memory;
    ZSTD_DCtx_setParameter(zstd.get(), ZSTD_d_windowLogMax, kLargestWindowLog);
    packing = Packing::kZstd;
  }
  return absl::OkStatus();
}

InputFile::InputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
InputFile::InputFile(InputFile&&) noexcept = default;
InputFile& InputFile::operator=(InputFile&&) noexcept = default;
InputFile::~InputFile() = default;

absl::StatusOr<InputFile> InputFile::Open(const std::string& path, const ImportLimits& limits,
                                          std::size_t at_once) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->limits = limits;
  state->file.reset(std::fopen(path.c_str(), "rbe"));
  if (state->file == nullptr) return ErrnoStatus(path);
  std::setvbuf(state->file.get(), nullptr, _IONBF, 0);  // it is asked for blocks
  state->block_room = BlockFor(state->file.get(), at_once);
  state->block = std::make_unique_for_overwrite<unsigned char[]>(state->block_room);
  if (absl::Status filled = state->Fill(); !filled.ok()) return filled;
  if (absl::Status begun = state->Begin(); !begun.ok()) return begun;
  return InputFile(std::move(state));
}

absl::StatusOr<std::size_t> InputFile::Read(char* to, std::size_t size) {
  if (state_->ended || size == 0) return std::size_t{0};
  const std::atomic<bool>* stop = state_->limits.stop;
  if (stop != nullptr && *stop) return absl::CancelledError(state_->path + ": interrupted");
  auto count = state_->packing == Packing::kGzip   ? state_->Inflate(to, size)
               : state_->packing == Packing::kZstd ? state_->Unzstd(to, size)
                                                   : state_->ReadPlain(to, size);
  if (!count.ok()) return count;
  state_->returned += *count;
  state_->ended = *count == 0;
  if (absl::Status within = state_->CheckLimits(); !within.ok()) return within;
  return count;
}

std::uint64_t InputFile::offset() const { return state_->returned; }

absl::StatusOr<std::string> ReadHead(const std::string& path, const ImportLimits& limits) {
  ImportLimits uncounted = limits;  // the file will be read again
  uncounted.bytes_read = nullptr;
  auto file = InputFile::Open(path, uncounted, kHeadBytes);
  if (!file.ok()) return file.status();
  std::string head;
  std::size_t have = 0;
  while (have < kHeadBytes) {
    if (have == head.size()) head.resize(std::min(kHeadBytes, std::max(kFirstPiece, 2 * have)));
    const auto count = file->Read(head.data() + have, head.size() - have);
    if (!count.ok() && have == 0) return count.status();
    if (!count.ok() || *count == 0) break;
    have += *count;
  }
  head.resize(have);
  return head;
}

absl::StatusOr<std::string> ReadWhole(const std::string& path, const ImportLimits& limits,
                                      bool* cut) {
  auto file = InputFile::Open(path, limits);
  if (!file.ok()) return file.status();
  std::string bytes;
  std::size_t have = 0;
  while (true) {
    if (have == bytes.size()) bytes.resize(std::max(kFirstPiece, 2 * have));
    const auto count = file->Read(bytes.data() + have, bytes.size() - have);
    const bool broken = !count.ok();
    if (broken) {
      if (cut == nullptr || !absl::IsDataLoss(count.status()) || have == 0) return count.status();
      *cut = true;
    }
    if (broken || *count == 0) {
      bytes.resize(have);
      return bytes;
    }
    have += *count;
    if (have > limits.dump_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, ": more than ", limits.dump_bytes, " bytes; see --limit-gib"));
    }
  }
}

}  // namespace fathom::collector
