#include "daemon/agent/source/stack/native_stack.h"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <sys/uio.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/agent/source/stack/stack_text.h"
#include "daemon/agent/source/stack/thread_snapshot.h"

namespace fathom::agent {
namespace {

constexpr std::size_t kMostFiles = 4096;

struct Unwinding {
  ThreadSnapshot snapshot;
  Dwfl* dwfl = nullptr;
  std::vector<std::string> frames;
};

int NoDebugFile(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                char**) {
  return -1;
}

int NoOtherFile(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

pid_t NextThread(Dwfl*, void* arg, void** thread_arg) {
  if (*thread_arg != nullptr) return 0;
  *thread_arg = arg;
  return static_cast<pid_t>(static_cast<Unwinding*>(arg)->snapshot.thread);
}

bool SetRegisters(Dwfl_Thread* thread, void* arg) {
  const ThreadSnapshot& of = static_cast<Unwinding*>(arg)->snapshot;
#if defined(__aarch64__)
  dwfl_thread_state_register_pc(thread, of.pc);
#endif
  return dwfl_thread_state_registers(thread, 0, static_cast<unsigned>(of.registers.size()),
                                     of.registers.data());
}

bool ReadWord(Dwfl*, Dwarf_Addr at, Dwarf_Word* word, void* arg) {
  const ThreadSnapshot& of = static_cast<Unwinding*>(arg)->snapshot;
  const std::uint64_t offset = at - of.stack_at;  // huge where it lies before the stack
  if (offset < of.stack.size() && of.stack.size() - offset >= sizeof(*word)) {
    std::memcpy(word, of.stack.data() + offset, sizeof(*word));
    return true;
  }
  iovec into{word, sizeof(*word)};
  iovec from{reinterpret_cast<void*>(at), sizeof(*word)};
  return process_vm_readv(static_cast<pid_t>(of.thread), &into, 1, &from, 1, 0) ==
         static_cast<ssize_t>(sizeof(*word));
}

// "ns::f<…>(int)" → "ns::f": what tells functions apart at a glance.
std::string Readable(const char* symbol) {
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &failed), &std::free);
  const std::string_view whole = plain == nullptr ? symbol : plain.get();
  std::string out;
  int depth = 0;
  for (const char c : whole) {
    if (c == '(' && depth == 0 && !out.empty()) break;
    depth += c == '<' ? 1 : 0;
    if (depth == 0) out.push_back(c);
    depth -= c == '>' && depth > 0 ? 1 : 0;
  }
  return out.empty() ? std::string(whole) : out;
}

std::string FileOf(const char* path) {
  const std::string_view all = path == nullptr ? "?" : path;
  return std::string(all.substr(all.rfind('/') + 1));
}

int TakeFrame(Dwfl_Frame* frame, void* arg) {
  Unwinding& unwinding = *static_cast<Unwinding*>(arg);
  Dwarf_Addr pc = 0;
  bool interrupted = false;  // by a signal: pc is the instruction itself, no return address
  if (!dwfl_frame_pc(frame, &pc, &interrupted)) return DWARF_CB_ABORT;
  if (!interrupted && !unwinding.frames.empty()) --pc;
  Dwfl_Module* module = dwfl_addrmodule(unwinding.dwfl, pc);
  const char* symbol = module == nullptr ? nullptr : dwfl_module_addrname(module, pc);
  const char* file = nullptr;
  if (module != nullptr) {
    file = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
  const std::string name = symbol == nullptr ? std::string("?") : Readable(symbol);
  unwinding.frames.push_back(CleanFrame(absl::StrCat(name, " (", FileOf(file), ")")));
  return unwinding.frames.size() < kMaxFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

// Files that the process maps → the address of their first byte.
std::map<std::string, std::uint64_t> MappedFiles(std::uint32_t pid) {
  std::map<std::string, std::uint64_t> files;
  std::ifstream maps(absl::StrCat("/proc/", pid, "/maps"));
  std::string line;
  while (std::getline(maps, line) && files.size() < kMostFiles) {
    const std::size_t name = line.find('/');
    if (name == std::string::npos || absl::EndsWith(line, " (deleted)")) continue;
    std::uint64_t from = 0, to = 0, offset = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &from, &to, &offset) != 3) continue;
    if (offset == 0) files.emplace(line.substr(name), from);
  }
  return files;
}

void Report(Dwfl* dwfl, std::uint32_t pid) {
  dwfl_report_begin(dwfl);
  for (const auto& [file, at] : MappedFiles(pid)) {
    const std::string seen = absl::StrCat("/proc/", pid, "/root", file);
    dwfl_report_elf(dwfl, file.c_str(), seen.c_str(), -1, at, false);  // no ELF file: not reported
  }
  dwfl_report_end(dwfl, nullptr, nullptr);
}

}  // namespace

absl::StatusOr<StackReading> ReadNativeStack(std::uint32_t pid, std::uint32_t thread) {
  absl::StatusOr<ThreadSnapshot> snapshot = SnapshotThread(thread);
  if (!snapshot.ok()) return snapshot.status();
  // All that libdw keeps a pointer to, and follows until dwfl_end, is made before it.
  Dwfl_Thread_Callbacks threads{};
  threads.next_thread = NextThread;
  threads.memory_read = ReadWord;
  threads.set_initial_registers = SetRegisters;
  Unwinding unwinding{*std::move(snapshot), nullptr, {}};
  Dwfl_Callbacks files{};
  files.find_elf = NoOtherFile;
  files.find_debuginfo = NoDebugFile;
  files.section_address = dwfl_offline_section_address;
  const std::unique_ptr<Dwfl, decltype(&dwfl_end)> dwfl(dwfl_begin(&files), &dwfl_end);
  if (dwfl == nullptr) return absl::InternalError("libdw does not start");
  unwinding.dwfl = dwfl.get();
  Report(dwfl.get(), pid);
  if (!dwfl_attach_state(dwfl.get(), nullptr, static_cast<pid_t>(thread), &threads, &unwinding)) {
    return absl::UnavailableError(absl::StrCat("cannot be unwound: ", dwfl_errmsg(-1)));
  }
  // An error at the outer end leaves the frames before it.
  dwfl_getthread_frames(dwfl.get(), static_cast<pid_t>(thread), TakeFrame, &unwinding);
  if (unwinding.frames.empty()) return absl::UnavailableError("cannot be unwound");
  return StackReading{std::move(unwinding.frames), "native", unwinding.snapshot.pause};
}

}  // namespace fathom::agent
