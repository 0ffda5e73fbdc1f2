// What inflating costs of reading .gz traces, and what other libraries would make of it.
//
// Usage: inflate_bench [ROUNDS] FILE.gz…    (default 5) prints a row a library, the best of ROUNDS
// on the core, over all files together: zlib and ISA-L in blocks as the importer reads, libdeflate,
// which cannot stream, into one buffer a file. The last two only where CMake found their headers.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "collector/import/kineto/kineto_importer.h"
#ifdef FATHOM_BENCH_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef FATHOM_BENCH_ISAL
#include <isa-l/igzip_lib.h>
#endif

namespace {

constexpr std::size_t kBlock = 256 * 1024;  // as collector/import/reading/input_file.cc

std::string Contents(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t InflateByZlib(std::string& zipped, std::vector<unsigned char>& block) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return 0;
  std::size_t size = 0;
  auto* const bytes = reinterpret_cast<Bytef*>(zipped.data());
  int result = Z_OK;
  for (std::size_t at = 0; at < zipped.size() && result == Z_OK; at += kBlock) {
    stream.next_in = bytes + at;
    stream.avail_in = static_cast<uInt>(std::min(kBlock, zipped.size() - at));
    do {
      stream.next_out = block.data();
      stream.avail_out = kBlock;
      result = inflate(&stream, Z_NO_FLUSH);
      size += kBlock - stream.avail_out;
    } while (result == Z_OK && stream.avail_out == 0);
    if (result == Z_BUF_ERROR) result = Z_OK;
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END ? size : 0;
}

#ifdef FATHOM_BENCH_ISAL
std::size_t InflateByIsal(std::string& zipped, std::vector<unsigned char>& block) {
  static inflate_state state;  // large
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  std::size_t size = 0;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(zipped.data());
  for (std::size_t at = 0; at < zipped.size(); at += kBlock) {
    state.next_in = bytes + at;
    state.avail_in = static_cast<std::uint32_t>(std::min(kBlock, zipped.size() - at));
    do {
      state.next_out = block.data();
      state.avail_out = kBlock;
      if (isal_inflate(&state) != ISAL_DECOMP_OK) return 0;
      size += kBlock - state.avail_out;
    } while (state.avail_out == 0 && state.block_state != ISAL_BLOCK_FINISH);
  }
  return state.block_state == ISAL_BLOCK_FINISH ? size : 0;
}
#endif

#ifdef FATHOM_BENCH_LIBDEFLATE
// A gzip file ends with its inflated size, modulo 4 GiB.
std::size_t InflateByLibdeflate(std::string& zipped, std::vector<unsigned char>& /*block*/) {
  std::uint32_t expected = 0;
  std::memcpy(&expected, zipped.data() + zipped.size() - sizeof expected, sizeof expected);
  std::vector<unsigned char> out(expected);
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
  std::size_t size = 0;
  const auto result = libdeflate_gzip_decompress(decompressor, zipped.data(), zipped.size(),
                                                 out.data(), out.size(), &size);
  libdeflate_free_decompressor(decompressor);
  return result == LIBDEFLATE_SUCCESS ? size : 0;
}
#endif

class Rows {
 public:
  Rows(int rounds, std::vector<std::string> files) : rounds_(rounds), files_(std::move(files)) {}

  void Inflate(const char* name, std::size_t (*one)(std::string&, std::vector<unsigned char>&)) {
    std::size_t size = 0;
    Print(
        name,
        [&] {
          size = 0;
          for (std::string& file : files_) size += one(file, block_);
        },
        size);
  }

  // `size`: the inflated bytes, known once `run` has run.
  void Print(const char* name, const std::function<void()>& run, const std::size_t& size) {
    double best = 1e30;
    for (int i = 0; i < rounds_; ++i) {
      const std::clock_t begin = std::clock();
      run();
      best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    const double megabytes = static_cast<double>(size) / 1e6;
    if (first_ == 0) first_ = best, inflated_ = size;
    std::printf("%-38s %8.0f %8.3f %10.2f %8.0f %9.2fx%s\n", name, megabytes, best,
                1e3 * best / megabytes, megabytes / best, first_ / best,
                size == inflated_ ? "" : "  other bytes than zlib");
  }

  const std::size_t& inflated() const { return inflated_; }

 private:
  int rounds_;
  std::vector<std::string> files_;
  std::vector<unsigned char> block_ = std::vector<unsigned char>(kBlock);
  double first_ = 0;
  std::size_t inflated_ = 0;
};

void Import(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    fathom::collector::Recording recording;
    (void)fathom::collector::kineto::KinetoImporter().Read({path}, {}, recording);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int given = argc > 1 ? std::atoi(argv[1]) : 0;
  const std::vector<std::string> paths(argv + std::min(argc, given > 0 ? 2 : 1), argv + argc);
  std::vector<std::string> files;
  for (const std::string& path : paths) files.push_back(Contents(path.c_str()));
  if (files.empty()) return std::fprintf(stderr, "inflate_bench [ROUNDS] FILE.gz…\n"), 2;
  Rows rows(given > 0 ? given : 5, std::move(files));
  std::printf("%-38s %8s %8s %10s %8s\n", "", "MB", "CPU s", "CPU ms/MB", "MB/s");
  rows.Inflate("zlib, in blocks", InflateByZlib);
#ifdef FATHOM_BENCH_ISAL
  rows.Inflate("ISA-L, in blocks", InflateByIsal);
#endif
#ifdef FATHOM_BENCH_LIBDEFLATE
  rows.Inflate("libdeflate, whole files", InflateByLibdeflate);
#endif
  rows.Print(
      "all of the import, inflating by zlib", [&] { Import(paths); }, rows.inflated());
  return 0;
}
