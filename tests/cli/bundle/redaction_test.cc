#include "collector/cli/bundle/redaction.h"

#include <gtest/gtest.h>

#include <fstream>

namespace fathom::cli {
namespace {

std::string Applied(const std::string& text) { return Redaction().Applied(text); }

TEST(RedactionTest, WhatLooksLikeASecretGoes) {
  EXPECT_EQ(Applied("token: hush1\n"), "token: ***\n");
  EXPECT_EQ(Applied("WANDB_API_KEY=hush2"), "WANDB_API_KEY=***");
  EXPECT_EQ(Applied(R"({"routing_key": "hush 3", "n": 1})"), R"({"routing_key": ***, "n": 1})");
  EXPECT_EQ(Applied("run --password hush4 --job a"), "run --password *** --job a");
  EXPECT_EQ(Applied("Authorization: Bearer hush56789"), "Authorization: ***");
  EXPECT_EQ(Applied("sent Basic aHVzaDpodXNo now"), "sent Basic*** now");
  EXPECT_EQ(Applied("a eyJhbGci.eyJzdWIi.c2ln b"), "a *** b");
  EXPECT_EQ(Applied("slack=https://hooks.slack.com/services/T/B/hush"),
            "slack=https://hooks.slack.com/***");
  EXPECT_EQ(Applied("at postgres://ann:hush@db:5432/x, then"),
            "at postgres://***@db:5432/***, then");
  EXPECT_EQ(Applied("a\n-----BEGIN RSA PRIVATE KEY-----\nhush\n-----END RSA PRIVATE KEY-----\nb\n"),
            "a\n***\nb\n");
}

TEST(RedactionTest, TheRestStays) {
  for (const char* text :
       {"notify_key_file: /etc/fathom/key\n", "rank 3 on node n0 is late: 97 ms\n",
        "fathom_records_total{job=\"train\"} 12\n", "the token bucket is full\n",
        "http: 127.0.0.1:7070\nmax_ratio: 0.05\n", "see http://127.0.0.1:7070/\n", "\n\n"}) {
    EXPECT_EQ(Applied(text), text);
  }
}

TEST(RedactionTest, WhatIsKnownGoesWhereverItStands) {
  const std::string tokens = testing::TempDir() + "fathom-redaction-tokens";
  std::ofstream(tokens) << "ann operator 0123456789abcdef\n# short\n";
  Redaction redaction;
  redaction.KnowFilesOf("http: 127.0.0.1:1\ntokens: " + tokens + "\nnotify_key_file: /nowhere\n");
  redaction.Know("abc");  // too short to be told from a word
  EXPECT_EQ(redaction.Applied("an operator said 0123456789abcdef, abc"),
            "an operator said ***, abc");
}

TEST(RedactionTest, AVeryLongLineIsCutRatherThanRead) {
  const std::string out = Applied(std::string(200'000, 'x') + " token=hush\nnext");
  EXPECT_EQ(out.find("hush"), std::string::npos);
  EXPECT_LT(out.size(), 5000u);
  EXPECT_TRUE(out.ends_with("\nnext"));
}

}  // namespace
}  // namespace fathom::cli
