#include "collector/process/loaded_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

using testing::HasSubstr;

TEST(LoadedLibrary, FindsWhatItHas) {
  LoadedLibrary library("libm.so.6");
  double (*root)(double) = nullptr;
  library.Find("sqrt", root);
  ASSERT_TRUE(library.status().ok()) << library.status();
  EXPECT_EQ(root(49), 7);
}

TEST(LoadedLibrary, NamesALibraryThatIsNotThere) {
  LoadedLibrary library("libnobody-has-this.so.1");
  double (*root)(double) = nullptr;
  library.Find("sqrt", root);
  EXPECT_TRUE(absl::IsUnavailable(library.status()));
  EXPECT_THAT(std::string(library.status().message()), HasSubstr("libnobody-has-this.so.1"));
  EXPECT_EQ(root, nullptr);
}

TEST(LoadedLibrary, NamesAFunctionThatIsNotThere) {
  LoadedLibrary library("libm.so.6");
  double (*first)(double) = nullptr;
  double (*second)(double) = nullptr;
  library.Find("nobody_has_this_function", first);
  library.Find("sqrt", second);
  EXPECT_TRUE(absl::IsUnavailable(library.status()));
  EXPECT_THAT(std::string(library.status().message()), HasSubstr("nobody_has_this_function"));
}

}  // namespace
}  // namespace fathom::collector
