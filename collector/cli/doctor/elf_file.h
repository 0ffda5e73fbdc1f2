// What `doctor` needs to know of an ELF file: interpreter, symbols it defines, symbolic binding.
//
// Model: the file is mapped, not read (libtorch_cpu.so has 400 MB), and trusted in nothing: every
// offset is checked against the file's size. 64-bit little-endian only.
// Thread-safety: pure functions. Errors: kNotFound (no such file), kInvalidArgument (not such ELF).
// Cost: O(dynamic symbols), reads only the tables. Source: System V ABI, chapters 4 and 5.
#ifndef FATHOM_COLLECTOR_CLI_DOCTOR_ELF_FILE_H_
#define FATHOM_COLLECTOR_CLI_DOCTOR_ELF_FILE_H_

#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace fathom::cli {

struct ElfFacts {
  std::string interpreter;  // of an executable; empty for a library
  // Calls inside the library may bypass a preloaded one (-Bsymbolic).
  bool symbolic = false;
  // Of the names asked for: those defined, visible and overridable.
  std::set<std::string> defined;
};

absl::StatusOr<ElfFacts> ReadElf(const std::filesystem::path& file,
                                 const std::set<std::string>& names);

// The same of bytes in memory.
absl::StatusOr<ElfFacts> ParseElf(std::span<const std::byte> bytes,
                                  const std::set<std::string>& names);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_DOCTOR_ELF_FILE_H_
