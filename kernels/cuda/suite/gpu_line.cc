#include "kernels/cuda/suite/gpu_line.h"

#include <sys/wait.h>
#include <unistd.h>

#include "kernels/suite/result_line.h"

namespace fathom::kernels {

std::string LineOf(const Gpu& gpu) {
  return "{\"gpu\":{\"index\":" + std::to_string(gpu.index) + ",\"name\":" + Quoted(gpu.name) +
         ",\"uuid\":" + Quoted(gpu.uuid) + ",\"bus\":" + Quoted(gpu.bus) +
         ",\"capability\":" + std::to_string(10 * gpu.major + gpu.minor) +
         ",\"processors\":" + std::to_string(gpu.processors) +
         ",\"memory_bytes\":" + std::to_string(gpu.memory_bytes) +
         ",\"l2_bytes\":" + std::to_string(gpu.l2_bytes) +
         ",\"ecc\":" + (gpu.ecc ? "true" : "false") + ",\"cuda\":" + Quoted(CudaVersions()) +
         "}}\n";
}

std::string NoGpuLine(const std::string& why) {
  return "{\"no_gpu\":{\"why\":" + Quoted(why) + "}}\n";
}

int RunApart(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 2;
  return WEXITSTATUS(status);
}

}  // namespace fathom::kernels
