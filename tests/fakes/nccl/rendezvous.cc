#include "tests/fakes/nccl/rendezvous.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

namespace fakes::nccl {

Shared* Open(const std::string& name) {
  const char* folder = getenv("FAKE_NCCL_DIR");
  const std::string path = std::string(folder == nullptr ? "/dev/shm" : folder) + "/" + name;
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(Shared)) != 0) return nullptr;
  void* at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return at == MAP_FAILED ? nullptr : static_cast<Shared*>(at);
}

void PollPause() {
  const timespec pause = {0, 100'000};
  nanosleep(&pause, nullptr);
}

}  // namespace fakes::nccl
