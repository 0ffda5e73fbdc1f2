// Names of enumerators, read back.
#include "collector/export/enumerator.h"

#include <gtest/gtest.h>

#include <string_view>

namespace fathom::collector {
namespace named {

enum class Colour : std::uint8_t { kNone, kRed, kDarkRed };

std::string_view ToString(Colour colour) {
  return colour == Colour::kRed ? "red" : colour == Colour::kDarkRed ? "dark_red" : "none";
}

}  // namespace named

namespace {

using named::Colour;

TEST(EnumeratorTest, ANameIsItsEnumeratorUpToTheLastOne) {
  EXPECT_EQ(Named("none", Colour::kDarkRed), Colour::kNone);
  EXPECT_EQ(Named("red", Colour::kDarkRed), Colour::kRed);
  EXPECT_EQ(Named("dark_red", Colour::kDarkRed), Colour::kDarkRed);
  EXPECT_EQ(Named("dark_red", Colour::kRed), Colour::kNone) << "past the last one";
}

TEST(EnumeratorTest, WhatIsNoNameIsTheFirst) {
  for (const char* text : {"", "re", "redd", "RED", " red", "dark", "red\n"}) {
    EXPECT_EQ(Named(text, Colour::kDarkRed), Colour::kNone) << text;
  }
  EXPECT_EQ(Named(std::string("red\0", 4), Colour::kDarkRed), Colour::kNone);
}

}  // namespace
}  // namespace fathom::collector
