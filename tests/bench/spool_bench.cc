// What the spool takes and gives back.
//
// Usage: spool_bench FOLDER [MEBIBYTES] [MESSAGE_BYTES]   (default 1024 MiB in messages of 16 KiB)
// prints MB/s of writing (the last fdatasync included) and of reading back, and the processor time
// of the whole. FOLDER is made, and should be on the disk that is meant.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include "daemon/agent/spool/spool.h"

namespace {

using fathom::WallNs;
using fathom::agent::Spool;

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

WallNs Now() {
  return WallNs(std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

void WaitForRoom(Spool& spool, std::size_t& put) {
  while (put > Spool::kMaxQueuedBytes / 2 && !spool.settled()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (spool.settled()) put = 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: spool_bench FOLDER [MIB] [BYTES]\n"), 2;
  const std::size_t total = (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1024) << 20;
  const std::size_t bytes = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 16'384;
  fathom::v1::AgentMessage message;
  message.mutable_summary()->set_job(std::string(bytes, 'x'));
  const std::size_t count = total / bytes;
  auto spool = Spool::Open({.folder = argv[1], .max_bytes = 4 * total}, Now);
  if (!spool.ok()) return std::fprintf(stderr, "%s\n", spool.status().ToString().c_str()), 1;
  auto begin = std::chrono::steady_clock::now();
  std::size_t put = 0;
  for (std::size_t i = 1; i <= count; ++i) {
    (*spool)->PutDurable(i, message);
    put += bytes;
    WaitForRoom(**spool, put);
  }
  (*spool)->Close();
  const double wrote = Seconds(begin);
  begin = std::chrono::steady_clock::now();
  std::uint64_t at = 0;
  std::size_t read = 0;
  for (auto part = (*spool)->After(0, 1 << 20); !part.empty();
       part = (*spool)->After(at, 1 << 20)) {
    read += part.size();
    at = part.back().serial;
  }
  const auto mb = static_cast<double>(total) / 1e6;
  std::printf("written %.0f MB/s  read %.0f MB/s  %zu of %zu messages  %.2f s of a core\n",
              mb / wrote, mb / Seconds(begin), read, count,
              static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  return read == count ? 0 : 1;
}
