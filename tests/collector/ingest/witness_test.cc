#include "collector/admission/witness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

using testing::HasSubstr;

bool May(const Witness& witness, const std::string& node) { return witness.MaySpeakFor(node).ok(); }

TEST(WitnessTest, WithoutACertificateAnyNodeMayBeNamed) {
  EXPECT_TRUE(May({.identity = "user 0", .names = std::nullopt}, "node-a"));
}

TEST(WitnessTest, ACertificateSpeaksForItsNamesOnly) {
  const Witness witness{.identity = "", .names = {{"node-a", "Node-A.cluster"}}};
  EXPECT_TRUE(May(witness, "node-a"));
  EXPECT_TRUE(May(witness, "node-a.cluster"));
  for (const char* node : {"node-b", "node-a.other", "a", "", "node-a.cluster.org"}) {
    EXPECT_FALSE(May(witness, node)) << node;
  }
  EXPECT_THAT(std::string(witness.MaySpeakFor("node-b").message()),
              HasSubstr("node-a, Node-A.cluster and not for node node-b"));
  EXPECT_FALSE(May({.identity = "", .names = {{}}}, "node-a")) << "a certificate without a name";
}

TEST(WitnessTest, AWildcardStandsForOneLabelWhereItIsAllowed) {
  Witness witness{.identity = "", .names = {{"*.cluster"}}};
  EXPECT_FALSE(May(witness, "node-a.cluster"));
  witness.wildcards = true;
  EXPECT_TRUE(May(witness, "node-a.cluster"));
  for (const char* node : {"cluster", ".cluster", "a.b.cluster", "node-a.other", "*.other"}) {
    EXPECT_FALSE(May(witness, node)) << node;
  }
}

}  // namespace
}  // namespace fathom::collector
