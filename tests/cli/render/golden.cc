#include "tests/cli/render/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

namespace fathom::cli {
namespace {

std::string PathOf(const std::string& name) {
  const char* root = std::getenv("FATHOM_SOURCE_DIR");
  return std::string(root == nullptr ? "." : root) + "/tests/cli/golden/" + name;
}

std::string Read(const std::string& name) {
  std::ifstream file(PathOf(name));
  EXPECT_TRUE(file) << PathOf(name);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

}  // namespace

Json ReadGoldenJson(const std::string& name) {
  Json out = Json::parse(Read(name), nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(out.is_discarded()) << name;
  return out;
}

void ExpectGolden(const std::string& text, const std::string& name) {
  if (std::getenv("FATHOM_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(PathOf(name)) << text;
    return;
  }
  EXPECT_EQ(text, Read(name)) << name;
}

void UseUtc() {
  setenv("TZ", "UTC", 1);
  tzset();
}

}  // namespace fathom::cli
