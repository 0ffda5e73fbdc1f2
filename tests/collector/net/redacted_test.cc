#include "collector/net/redacted.h"

#include <gtest/gtest.h>

#include "collector/net/masked_url.h"
#include "collector/notify/delivery.h"

namespace fathom::collector {
namespace {

TEST(RedactedTest, WhatWasSentInConfidenceDoesNotComeBack) {
  const std::string url = "http://ann:hush-hush@host:1/services/T0/longsecret";
  const std::vector<std::string> headers = {"Content-Type: text/plain",
                                            "Authorization: Bearer tokentoken"};
  EXPECT_EQ(Redacted("no /services/T0/longsecret/nodes for Bearer tokentoken", url, headers),
            "no ***/nodes for ***");
  EXPECT_EQ(Redacted("token tokentoken, path longsecret, user ann:hush-hush", url, headers),
            "token ***, path ***, user ***");
  EXPECT_EQ(Redacted("Authorization: Basic YW5uOmh1c2gtaHVzaA==", url, {}),
            "Authorization: Basic ***");
  EXPECT_EQ(Redacted("node gpu-7 is text/plain", url, headers, {"routing"}),
            "node gpu-7 is text/plain");
  EXPECT_EQ(Redacted("key routing", "", {}, {"routing", ""}), "key ***");
}

TEST(MaskedUrlTest, HostAndPortStay) {
  EXPECT_EQ(MaskedUrl("https://hooks.example/services/T0"), "https://hooks.example/***");
  EXPECT_EQ(MaskedUrl("http://ann:pw@host:1/"), "http://***@host:1/");
  EXPECT_EQ(MaskedUrl("http://host:1"), "http://host:1");
  EXPECT_EQ(MaskedUrl("@/etc/fathom/slack"), "@/etc/fathom/slack");
  EXPECT_EQ(WithoutUser("http://ann:p@w@host:1/path"), "http://***@host:1/path");
  EXPECT_EQ(WithoutUser("ann:pw@host:1"), "***@host:1");
  EXPECT_EQ(WithoutUser("127.0.0.1:7070"), "127.0.0.1:7070");
  EXPECT_EQ(WithoutUser("http://host/a@b"), "http://host/a@b");
}

TEST(MaskedReceiversTest, AWordThatIsNoReceiverIsShownOnlyIfItCouldBeAShape) {
  EXPECT_EQ(MaskedReceivers("slak=https://hooks.example/x,json=@/file"),
            "slak=https://hooks.example/***,json=@/file");
  EXPECT_EQ(MaskedReceivers("xoxb-123,slack"), "***,slack");
}

}  // namespace
}  // namespace fathom::collector
