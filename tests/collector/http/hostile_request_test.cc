// What strangers may put into a request: tokens, forms, cookies, origins and bodies that are odd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/http/json_text.h"
#include "collector/http/request.h"
#include "collector/http/sign_in.h"
#include "collector/http/token_list.h"
#include "tests/collector/tokens.h"

namespace fathom::collector {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RequestBoundsTest, ATargetOfFourKibibytesIsReadAndOneByteMoreIsNot) {
  const std::string path = "/" + std::string(4000, 'a');
  EXPECT_TRUE(ParseTarget(path, std::string(95, 'b')));
  EXPECT_FALSE(ParseTarget(path, std::string(96, 'b')));
}

TEST(RequestBoundsTest, EscapedSlashesAreNoBordersAndDotsNoWayUp) {
  const auto request = ParseTarget("//api///v1/%2e%2e/..%2Fetc/", "a=1&a=2&&=x&b=%26%3D&c+d=+");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->segments, (std::vector<std::string>{"api", "v1", "..", "../etc"}));
  EXPECT_EQ(request->Text("a"), "2") << "the last one stands";
  EXPECT_EQ(request->Text("b"), "&=");
  EXPECT_EQ(request->Text("c d"), " ");
  EXPECT_EQ(request->Text("never"), "");
}

TEST(RequestBoundsTest, ARootHasNoSegments) {
  for (const char* path : {"", "/", "///"}) {
    const auto request = ParseTarget(path, "");
    ASSERT_TRUE(request) << path;
    EXPECT_TRUE(request->segments.empty()) << path;
  }
}

TEST(RequestBoundsTest, NumbersAtTheEndsOfTheirRange) {
  const auto request = ParseTarget(
      "/", "a=9223372036854775807&b=-9223372036854775808&c=9223372036854775808&d=%2B5&e=+5&f=0x10");
  EXPECT_EQ(request->Number("a", 0), INT64_MAX);
  EXPECT_EQ(request->Number("b", 0), INT64_MIN);
  for (const char* bad : {"c", "d", "e", "f"}) EXPECT_FALSE(request->Number(bad, 0)) << bad;
}

TEST(SameOriginTest, APageOfAnotherOriginIsToldByItsOwnWord) {
  EXPECT_TRUE(SameOrigin("", "h:7070", {})) << "no browser sent it";
  EXPECT_TRUE(SameOrigin("http://h:7070", "h:7070", {}));
  EXPECT_TRUE(SameOrigin("https://fathom.example", "h:7070", {"fathom.example"}));
  EXPECT_TRUE(SameOrigin("https://[::1]:1", "h:7070", {"[::1]"}));
  for (const char* origin :
       {"null", "http://h:7071", "http://h", "http://evil.example", "http://fathom.example.evil",
        "file:", "h:7070", "http://h:7070.evil.example", "http://h:7070/"}) {
    EXPECT_FALSE(SameOrigin(origin, "h:7070", {"fathom.example"})) << origin;
  }
}

TEST(HostAllowedTest, NamesThatOnlyLookLikeAllowedOnes) {
  for (const char* host : {"LOCALHOST", "localhost.", " localhost", "127.0.0.2", "[::1", "::1",
                           "127.0.0.1@evil.com", "fathom.evil"}) {
    EXPECT_FALSE(HostAllowed(host, {"fathom"})) << host;
  }
}

TEST(RefusedUnlessJsonTest, OnlyTheExactTypeIsTaken) {
  Request request;
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded",
                           "multipart/form-data", "application/jsonx", "text/application/json"}) {
    request.content_type = type;
    const auto refused = RefusedUnlessJson(request);
    ASSERT_TRUE(refused) << type;
    EXPECT_EQ(refused->status, 415);
  }
  request.content_type = "application/json";
  EXPECT_FALSE(RefusedUnlessJson(request));
}

TEST(SignInPageTest, NothingThatComesWithItGetsOutOfItsPlace) {
  for (const char* at : {"#/job/\r\nSet-Cookie: a=b", "//evil.example", "javascript:alert(1)",
                         "/#/job", "#job", "#/a\"b", "#/a b", "#/<b>", "#/\xc3\xa9"}) {
    EXPECT_THAT(SignInPage(401, "", at).body, HasSubstr("name=\"at\" value=\"\"")) << at;
    EXPECT_TRUE(SignedIn("t", at, false).headers.starts_with("Location: ./\r\nSet-Cookie: ")) << at;
  }
  const std::string longest = "#/" + std::string(1021, 'a');
  EXPECT_THAT(SignInPage(401, "", longest).body, HasSubstr(longest));
  EXPECT_THAT(SignInPage(401, "", longest + "a").body, Not(HasSubstr("aaaa")));
  const Response page = SignInPage(401, "the token is nobody's", "#/job/x");
  EXPECT_EQ(page.status, 401);
  EXPECT_TRUE(page.form);
  EXPECT_THAT(page.body, HasSubstr("<p role=\"alert\">the token is nobody's</p>"));
}

TEST(SignInPageTest, TheCookieStaysAWorkingDayAndAnEmptyOneGoesAtOnce) {
  EXPECT_EQ(SignedIn("t", "", false).headers,
            "Location: ./\r\nSet-Cookie: fathom_token=t; Path=/; Max-Age=43200; HttpOnly; "
            "SameSite=Strict\r\n");
  EXPECT_THAT(SignedIn("", "", true).headers,
              HasSubstr("fathom_token=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure\r\n"));
  EXPECT_EQ(SignedIn("t", "", false).status, 303);
}

TEST(CookieTest, TheFirstOfItsNameCountsWhateverStandsAround) {
  EXPECT_EQ(TokenOfCookie(""), "");
  EXPECT_EQ(TokenOfCookie(";; ; "), "");
  EXPECT_EQ(TokenOfCookie("fathom_token="), "");
  EXPECT_EQ(TokenOfCookie("fathom_token"), "");
  EXPECT_EQ(TokenOfCookie("  ;fathom_token=a;fathom_token=b"), "a");
  EXPECT_EQ(TokenOfCookie("x=fathom_token=a"), "");
  EXPECT_EQ(TokenOfCookie("Fathom_Token=a"), "") << "names of cookies are not folded";
}

TEST(BearerTest, OnlyThatSchemeWithSomethingBehindIt) {
  EXPECT_EQ(TokenOfBearer("BEARER abc"), "abc");
  for (const char* header : {"", "Bearer", "Bearer ", "Bearerabc", "Basic Bearer abc", "abc"}) {
    EXPECT_EQ(TokenOfBearer(header), "") << header;
  }
}

TEST(FormTest, ABodyThatIsMalformedHasNoFields) {
  for (const char* body : {"token=%", "token=%zz", "token=a%00b", "a=1&token=%4"}) {
    EXPECT_TRUE(FormFields(body).empty()) << body;
  }
  EXPECT_TRUE(FormFields("token=" + std::string(4096, 'a')).empty());
  EXPECT_EQ(FormFields("token=a+b")["token"], "a b");
}

TEST(JsonTextTest, OnlyATextOfAnObjectIsOne) {
  for (const char* body : {"", "{", "[]", "\"reason\"", "null", R"({"reason":3})", "\xff",
                           R"({"reason":null})", R"({"reason":["x"]})", R"({"Reason":"x"})"}) {
    EXPECT_EQ(JsonText(body, "reason"), "") << body;
  }
  EXPECT_EQ(JsonText(R"({"reason":"a\u0000b\n"})", "reason"), std::string("a\0b\n", 4));
  EXPECT_EQ(JsonText(R"({"reason":"abc"})", "reason", 2), "ab");
  EXPECT_EQ(JsonText("{\"reason\":\"a\xC3\xA9\"}", "reason", 2), "a") << "no half letter";
  EXPECT_EQ(JsonText(R"({"reason":")" + std::string(501, 'x') + "\"}", "reason").size(), 500u);
}

TEST(TokenListTest, OneNameMayStandTwiceWhileItsTokenIsReplaced) {
  const auto list = TokenList::Parse(
      TokenLine("ann", "operator", kAnnHash, "2020-01-01") + TokenLine("ann", "viewer", kBobHash),
      "tokens");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->size(), 2u);
  const WallNs now(1'790'000'000'000'000'000);
  const auto late = list->Who(kAnn, now);
  EXPECT_TRUE(absl::IsUnauthenticated(late.status()));
  EXPECT_THAT(std::string(late.status().message()), HasSubstr("ann is out of date"));
  ASSERT_TRUE(list->Who(kBob, now).ok());
  EXPECT_EQ(list->Who(kBob, now)->name, "ann");
  EXPECT_EQ(list->Who(kBob, now)->role, Role::kViewer);
}

TEST(TokenListTest, CommentsBlankLinesAndBlanksBeforeWordsAreNothing) {
  const auto list = TokenList::Parse(
      "\n  # people\n\t\r\n   " + TokenLine("ann", "operator", kAnnHash), "tokens");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->size(), 1u);
  EXPECT_EQ(TokenList::Parse("", "tokens")->size(), 0u);
}

TEST(TokenListTest, ATokenThatIsTooShortOrGoesIntoNoHeaderIsNobodys) {
  // The SHA-256 of nothing, and of "short": even if their hashes are listed, they let nobody in.
  const std::string empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  const std::string brief = "f9b0078b5df596d2ea19010c001bbd009e651de2c57e8fb7e355f31eb9d3f739";
  const auto list = TokenList::Parse(
      TokenLine("nobody", "operator", empty) + TokenLine("brief", "operator", brief), "tokens");
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->Who("", WallNs(1)).ok());
  EXPECT_FALSE(list->Who("short", WallNs(1)).ok());
}

}  // namespace
}  // namespace fathom::collector
