#include "daemon/agent/source/stack/thread_snapshot.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "daemon/agent/source/process/process_facts.h"

namespace fathom::agent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kPieceBytes = 8 * kPage;
constexpr int kFirstInLine = -15;        // a nice value
constexpr std::uint64_t kRedZone = 128;  // below the stack pointer, in use on x86-64
constexpr int kEventShift = 16;

absl::Status Explain(int error, std::uint32_t thread) {
  // The kernel refuses to trace the dying as it refuses strangers.
  const bool dying = error == EPERM && !ReadLife(KernelRoots(), thread, 0).alive;
  switch (dying ? ESRCH : error) {
    case ESRCH:
      return absl::NotFoundError("the process is gone");
    case EPERM:
    case EACCES:
      return absl::PermissionDeniedError(
          "not permitted: run the agent as the job's user with kernel.yama.ptrace_scope 0, or give "
          "it CAP_SYS_PTRACE");
    default:
      return absl::ErrnoToStatus(error, "ptrace");
  }
}

#if defined(__x86_64__)
constexpr bool kKnownMachine = true;

void Take(const user_regs_struct& r, ThreadSnapshot& out) {
  out.registers = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                   r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  out.pc = r.rip;
  out.stack_at = r.rsp - kRedZone;
}
#elif defined(__aarch64__)
constexpr bool kKnownMachine = true;

void Take(const user_regs_struct& r, ThreadSnapshot& out) {
  out.registers.assign(std::begin(r.regs), std::end(r.regs));
  out.registers.push_back(r.sp);
  out.pc = r.pc;
  out.stack_at = r.sp;
}
#else
constexpr bool kKnownMachine = false;

void Take(const user_regs_struct&, ThreadSnapshot&) {}
#endif

// One thread, stopped between Stop() and LetGo(). All calls from the same thread of ours.
class StoppedThread {
 public:
  explicit StoppedThread(std::uint32_t thread) : thread_(static_cast<pid_t>(thread)) {}

  absl::Status Stop() {
    if (ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr) != 0) return Failed(errno);
    if (ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0) return Failed(errno);
    const auto deadline = Clock::now() + std::chrono::nanoseconds(kStopWithin.count);
    int status = 0;
    while ((ran_at_ = Clock::now()) < deadline) {
      const pid_t seen = waitpid(thread_, &status, __WALL | WNOHANG);
      if (seen < 0 && errno != EINTR) return Failed(ESRCH);
      if (seen == thread_) return Stopped(status);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return absl::UnavailableError("it did not stop: it is in the kernel, uninterruptible");
  }

  absl::Status ReadRegisters(ThreadSnapshot& out) const {
    user_regs_struct registers{};
    iovec area{&registers, sizeof(registers)};
    if (ptrace(PTRACE_GETREGSET, thread_, NT_PRSTATUS, &area) != 0) return Failed(errno);
    Take(registers, out);
    return absl::OkStatus();
  }

  // Up to the end of the mapping, or as far as time allows.
  absl::Status ReadStack(ThreadSnapshot& out) const {
    const auto deadline = ran_at_ + std::chrono::nanoseconds(kCopyWithin.count);
    out.stack.resize(kMostStackBytes);
    std::size_t copied = 0;
    while (copied < out.stack.size()) {
      const ssize_t piece = ReadPiece(out.stack_at + copied, &out.stack[copied],
                                      std::min(kPieceBytes, out.stack.size() - copied));
      if (piece < 0 && copied == 0) return Failed(errno);
      copied += static_cast<std::size_t>(std::max<ssize_t>(piece, 0));
      const bool whole = piece == static_cast<ssize_t>(kPieceBytes);
      if (!whole || Clock::now() >= deadline) break;
    }
    out.stack.resize(copied);
    return absl::OkStatus();
  }

  // How long it was stopped, at most: since it was last seen not to be.
  Nanos LetGo() const {
    ptrace(PTRACE_DETACH, thread_, nullptr, signal_);
    return Nanos(std::chrono::nanoseconds(Clock::now() - ran_at_).count());
  }

 private:
  // A page an element: a copy stops at the first that is not there.
  ssize_t ReadPiece(std::uint64_t at, std::byte* to, std::size_t bytes) const {
    iovec into{to, bytes};
    std::array<iovec, kPieceBytes / kPage + 1> pages{};
    std::size_t count = 0;
    while (bytes > 0) {
      const std::uint64_t part = std::min<std::uint64_t>(bytes, kPage - at % kPage);
      pages[count++] = {reinterpret_cast<void*>(at), part};
      at += part;
      bytes -= part;
    }
    return process_vm_readv(thread_, &into, 1, pages.data(), count, 0);
  }

  absl::Status Failed(int error) const {
    return Explain(error, static_cast<std::uint32_t>(thread_));
  }

  absl::Status Stopped(int status) {
    if (!WIFSTOPPED(status)) return Failed(ESRCH);
    const bool by_us = (status >> kEventShift) == PTRACE_EVENT_STOP;
    signal_ = by_us ? 0 : WSTOPSIG(status);  // a signal of its own came first: hand it on
    return absl::OkStatus();
  }

  const pid_t thread_;
  std::intptr_t signal_ = 0;
  Clock::time_point ran_at_;
};

absl::StatusOr<ThreadSnapshot> Copy(std::uint32_t thread) {
  ThreadSnapshot out;
  out.thread = thread;
  StoppedThread stopped(thread);
  absl::Status status = stopped.Stop();
  if (!status.ok()) return status;
  status = stopped.ReadRegisters(out);
  if (status.ok()) status = stopped.ReadStack(out);
  out.pause = stopped.LetGo();
  if (!status.ok()) return status;
  return out;
}

}  // namespace

absl::StatusOr<ThreadSnapshot> SnapshotThread(std::uint32_t thread) {
  if (!kKnownMachine) return absl::UnimplementedError("registers of this machine are not known");
  absl::StatusOr<ThreadSnapshot> out = absl::InternalError("not read");
  std::thread([&] {
    (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kFirstInLine);
    out = Copy(thread);
  }).join();
  return out;
}

}  // namespace fathom::agent
