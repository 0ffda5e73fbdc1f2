#include "collector/cli/doctor/elf_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "collector/cli/doctor/python_checks.h"

namespace fathom::cli {
namespace {

using Bytes = std::vector<std::byte>;

// A small shared object: header, one dynamic segment, three sections (null, dynsym, dynstr).
struct Image {
  Elf64_Ehdr header{};
  Elf64_Phdr dynamic_segment{};
  Elf64_Dyn dynamic[2]{};
  Elf64_Sym symbols[4]{};
  char strings[64] = "\0defined\0hidden\0local\0undefined";
  Elf64_Shdr sections[3]{};

  Image() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_phoff = offsetof(Image, dynamic_segment);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    header.e_shoff = offsetof(Image, sections);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    dynamic_segment.p_type = PT_DYNAMIC;
    dynamic_segment.p_offset = offsetof(Image, dynamic);
    dynamic_segment.p_filesz = sizeof(dynamic);
    AddSymbol(0, 1, STB_GLOBAL, STV_DEFAULT, 5);
    AddSymbol(1, 9, STB_GLOBAL, STV_HIDDEN, 5);
    AddSymbol(2, 16, STB_LOCAL, STV_DEFAULT, 5);
    AddSymbol(3, 22, STB_GLOBAL, STV_DEFAULT, SHN_UNDEF);
    sections[1] = Section(SHT_DYNSYM, offsetof(Image, symbols), sizeof(symbols), 2);
    sections[2] = Section(SHT_STRTAB, offsetof(Image, strings), sizeof(strings), 0);
  }

  void AddSymbol(int index, std::uint32_t name, unsigned char binding, unsigned char visibility,
                 std::uint16_t section) {
    symbols[index].st_name = name;
    symbols[index].st_info = ELF64_ST_INFO(binding, STT_FUNC);
    symbols[index].st_other = visibility;
    symbols[index].st_shndx = section;
  }

  static Elf64_Shdr Section(std::uint32_t type, std::uint64_t offset, std::uint64_t size,
                            std::uint32_t link) {
    Elf64_Shdr out{};
    out.sh_type = type;
    out.sh_offset = offset;
    out.sh_size = size;
    out.sh_link = link;
    return out;
  }

  Bytes bytes() const {
    Bytes out(sizeof(Image));
    std::memcpy(out.data(), this, sizeof(Image));
    return out;
  }
};

const std::set<std::string> kNames = {"defined", "hidden", "local", "undefined", "absent"};

TEST(ElfFileTest, FindsOnlyWhatCanBeOverridden) {
  const auto facts = ParseElf(Image().bytes(), kNames);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->defined, std::set<std::string>{"defined"});
  EXPECT_FALSE(facts->symbolic);
}

TEST(ElfFileTest, SeesSymbolicBindingInBothForms) {
  Image flags;
  flags.dynamic[0].d_tag = DT_FLAGS;
  flags.dynamic[0].d_un.d_val = DF_SYMBOLIC;
  EXPECT_TRUE(ParseElf(flags.bytes(), kNames)->symbolic);
  Image tag;
  tag.dynamic[0].d_tag = DT_SYMBOLIC;
  EXPECT_TRUE(ParseElf(tag.bytes(), kNames)->symbolic);
}

TEST(ElfFileTest, OffsetsThatLieFindNothingAndHarmNothing) {
  for (const std::uint64_t lie :
       {std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} - 8}) {
    Image image;
    image.sections[1].sh_offset = lie;
    EXPECT_TRUE(ParseElf(image.bytes(), kNames)->defined.empty());
    image = Image();
    image.sections[1].sh_size = lie;
    EXPECT_TRUE(ParseElf(image.bytes(), kNames)->defined.empty());
    image = Image();
    image.header.e_shoff = lie;
    EXPECT_TRUE(ParseElf(image.bytes(), kNames)->defined.empty());
    image = Image();
    image.symbols[0].st_name = static_cast<std::uint32_t>(lie);
    EXPECT_TRUE(ParseElf(image.bytes(), kNames)->defined.empty());
  }
}

TEST(ElfFileTest, EveryTruncationIsSurvived) {
  const Bytes whole = Image().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto facts = ParseElf(std::span(whole).first(size), kNames);
    EXPECT_EQ(facts.ok(), size >= sizeof(Elf64_Ehdr));
  }
}

TEST(ElfFileTest, ReadsTheInterpreterOfAProgram) {
  const auto facts = ReadElf("/proc/self/exe", {});
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_NE(facts->interpreter.find("ld-linux"), std::string::npos);
}

TEST(ElfFileTest, RefusesOtherFiles) {
  EXPECT_TRUE(absl::IsNotFound(ReadElf("/no/such/file", {}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadElf("/proc", {}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadElf("/etc/passwd", {}).status()));
}

// What doctor looks for in PyTorch must be what the tracer hooks.
TEST(ElfFileTest, TheTracerExportsEverySymbolThatDoctorAsksFor) {
  const char* build = std::getenv("FATHOM_BINARY_DIR");
  if (build == nullptr) GTEST_SKIP() << "FATHOM_BINARY_DIR is not set";
  for (const auto& names : {EssentialGlooSymbols(), PointToPointGlooSymbols()}) {
    const auto facts = ReadElf(std::string(build) + "/libfathom.so", names);
    if (absl::IsNotFound(facts.status())) GTEST_SKIP() << "libfathom.so is not built";
    EXPECT_EQ(facts->defined, names);
  }
}

}  // namespace
}  // namespace fathom::cli
