#include "collector/cli/render/terminal.h"

#include <gtest/gtest.h>

#include "collector/cli/render/table.h"

namespace fathom::cli {
namespace {

TEST(TerminalTest, WidthCountsCharactersNotBytesNorEscapes) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("\xc3\xa4\xe2\x82\xac"), 2u);
  EXPECT_EQ(DisplayWidth("\x1b[1;31mred\x1b[0m"), 3u);
}

TEST(TerminalTest, CutsAtWholeCharacters) {
  EXPECT_EQ(CutToWidth("abcdef", 6), "abcdef");
  EXPECT_EQ(CutToWidth("abcdefg", 6), "abc...");
  EXPECT_EQ(CutToWidth("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 4), "\xc3\xa4...");
}

TEST(TerminalTest, WrapsAtSpaces) {
  EXPECT_EQ(Wrap("one two three", 7, "  "), "one two\n  three");
  EXPECT_EQ(Wrap("averyveryverylongword x", 5, " "), "averyveryverylongword\n x");
  EXPECT_EQ(Wrap("", 5, " "), "");
}

TEST(TerminalTest, PaintsOnlyWhereColourIsOn) {
  EXPECT_EQ(Paint(Terminal(), Ink::kRed, "x"), "x");
  EXPECT_EQ(Paint(Terminal{true, true, 80}, Ink::kGreen, "x"), "\x1b[32mx\x1b[0m");
}

TEST(TableTest, AlignsColouredAndEmptyCells) {
  const Terminal colour{true, true, 80};
  Table table({{"NAME"}, {"N", Table::Align::kRight}, {"LAST"}});
  table.Add({Paint(colour, Ink::kRed, "a"), "1", ""});
  table.Add({"longer", "200", "x"});
  EXPECT_EQ(table.ToString(),
            "NAME      N  LAST\n\x1b[1;31ma\x1b[0m         1  -\nlonger  200  x\n");
}

}  // namespace
}  // namespace fathom::cli
