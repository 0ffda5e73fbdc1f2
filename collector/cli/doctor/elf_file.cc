#include "collector/cli/doctor/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace fathom::cli {
namespace {

using Bytes = std::span<const std::byte>;

absl::Status Bad() { return absl::InvalidArgumentError("not a 64-bit ELF file"); }

template <typename T>
std::optional<T> At(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T out;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return out;
}

Bytes Part(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.subspan(offset, size);
}

// Up to the NUL, or nothing when there is none.
std::string_view Name(Bytes strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const char* begin = reinterpret_cast<const char*>(strings.data()) + offset;
  const void* end = std::memchr(begin, 0, strings.size() - offset);
  if (end == nullptr) return {};
  return {begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin)};
}

bool IsOverridable(const Elf64_Sym& symbol) {
  const int binding = ELF64_ST_BIND(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && (binding == STB_GLOBAL || binding == STB_WEAK) &&
         ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT;
}

void ReadSymbols(Bytes symbols, Bytes strings, const std::set<std::string>& names, ElfFacts* out) {
  for (std::uint64_t offset = 0;; offset += sizeof(Elf64_Sym)) {
    const auto symbol = At<Elf64_Sym>(symbols, offset);
    if (!symbol) return;
    if (!IsOverridable(*symbol)) continue;
    std::string name(Name(strings, symbol->st_name));
    if (names.contains(name)) out->defined.insert(std::move(name));
  }
}

void ReadDynamic(Bytes dynamic, ElfFacts* out) {
  for (std::uint64_t offset = 0;; offset += sizeof(Elf64_Dyn)) {
    const auto entry = At<Elf64_Dyn>(dynamic, offset);
    if (!entry || entry->d_tag == DT_NULL) return;
    const bool flag = entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_SYMBOLIC) != 0;
    out->symbolic = out->symbolic || flag || entry->d_tag == DT_SYMBOLIC;
  }
}

void ReadProgramHeaders(Bytes bytes, const Elf64_Ehdr& header, ElfFacts* out) {
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = At<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return;
    const Bytes content = Part(bytes, segment->p_offset, segment->p_filesz);
    if (segment->p_type == PT_INTERP) out->interpreter = Name(content, 0);
    if (segment->p_type == PT_DYNAMIC) ReadDynamic(content, out);
  }
}

void ReadSections(Bytes bytes, const Elf64_Ehdr& header, const std::set<std::string>& names,
                  ElfFacts* out) {
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = At<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return;
    if (section->sh_type != SHT_DYNSYM) continue;
    const auto strings = At<Elf64_Shdr>(
        bytes, header.e_shoff + std::uint64_t{section->sh_link} * sizeof(Elf64_Shdr));
    if (!strings) return;
    ReadSymbols(Part(bytes, section->sh_offset, section->sh_size),
                Part(bytes, strings->sh_offset, strings->sh_size), names, out);
  }
}

}  // namespace

absl::StatusOr<ElfFacts> ParseElf(Bytes bytes, const std::set<std::string>& names) {
  const auto header = At<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_phentsize != sizeof(Elf64_Phdr)) {
    return Bad();
  }
  ElfFacts out;
  ReadProgramHeaders(bytes, *header, &out);
  if (!names.empty() && header->e_shentsize == sizeof(Elf64_Shdr)) {
    ReadSections(bytes, *header, names, &out);
  }
  return out;
}

absl::StatusOr<ElfFacts> ReadElf(const std::filesystem::path& file,
                                 const std::set<std::string>& names) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::NotFoundError(std::strerror(errno));
  struct stat info {};
  const bool usable = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
  const auto size = static_cast<std::size_t>(usable ? info.st_size : 0);
  void* memory = usable ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (memory == MAP_FAILED) return Bad();
  absl::StatusOr<ElfFacts> out = ParseElf({static_cast<const std::byte*>(memory), size}, names);
  munmap(memory, size);
  return out;
}

}  // namespace fathom::cli
