// Who is let in with what, by file, by proxy and by being the same user; and what is refused.
#include "collector/http/login.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "collector/http/sign_in.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/tokens.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct LoginTest : testing::Test {
  fs::path file = fs::temp_directory_path() / ("fathom-tokens-" + std::to_string(getpid()));
  FakeClock clock;
  LoginOptions options;
  std::unique_ptr<Login> login;

  void TearDown() override { fs::remove(file); }
  void Write(const std::string& text) {
    std::ofstream(file) << text;
    fs::permissions(file, fs::perms(0600));
  }
  void Make() {
    auto made = Login::Make(options, clock);
    ASSERT_TRUE(made.ok()) << made.status();
    login = *std::move(made);
  }
  void MakeUsual() {
    Write("# people\n" + TokenLine("ann", "operator", kAnnHash) +
          TokenLine("bob", "viewer", kBobHash));
    options.token_file = file;
    Make();
  }
  absl::StatusOr<Person> Ask(const std::string& token, Role needed,
                             const std::string& from = "10.0.0.9") {
    return login->Admit({token, "", {from, 40'000, 7070}}, needed);
  }
};

TEST_F(LoginTest, AnOperatorChangesAViewerReadsAndNobodyElseDoesEither) {
  MakeUsual();
  EXPECT_EQ(Ask(kAnn, Role::kOperator)->name, "ann");
  EXPECT_EQ(Ask(kBob, Role::kViewer)->name, "bob");
  EXPECT_TRUE(absl::IsPermissionDenied(Ask(kBob, Role::kOperator).status()));
  for (const char* wrong : {"", "ann-0123456789abcdeg", kAnnHash, "x"}) {
    EXPECT_TRUE(absl::IsUnauthenticated(Ask(wrong, Role::kViewer).status())) << wrong;
  }
  EXPECT_EQ(login->failures().role, 1u);
  EXPECT_EQ(login->failures().unknown, 3u) << "to ask without a token is no failure";
}

TEST_F(LoginTest, ReadingCanBeOpenAndAWrongTokenIsStillWrong) {
  options.open_reading = true;
  MakeUsual();
  EXPECT_EQ(Ask("", Role::kViewer)->name, "");
  EXPECT_TRUE(absl::IsUnauthenticated(Ask("", Role::kOperator).status()));
  EXPECT_TRUE(absl::IsUnauthenticated(Ask("wrong-0123456789abc", Role::kViewer).status()));
}

TEST_F(LoginTest, ATokenIsGoodUntilTheEndOfItsDay) {
  Write(TokenLine("ann", "operator", kAnnHash, "2026-09-21"));  // the clock begins at 14:13:20
  options.token_file = file;
  Make();
  clock.AdvanceSeconds(35'199);
  EXPECT_TRUE(Ask(kAnn, Role::kOperator).ok());
  clock.AdvanceSeconds(1);
  EXPECT_THAT(std::string(Ask(kAnn, Role::kOperator).status().message()),
              HasSubstr("ann is out of date"));
}

TEST_F(LoginTest, ADayBeyondWhatTheClockCountsIsStillToCome) {
  options.token_file = file;
  for (const char* day : {"2263-01-01", "2500-01-01", "2999-12-31", "9999-12-31"}) {
    Write(TokenLine("ann", "operator", kAnnHash, day));
    Make();
    EXPECT_TRUE(Ask(kAnn, Role::kOperator).ok()) << day;
  }
  Write(TokenLine("ann", "operator", kAnnHash, "0001-01-01"));
  Make();
  EXPECT_FALSE(Ask(kAnn, Role::kOperator).ok());
}

TEST_F(LoginTest, TheFileIsReadAnewWhenItChangesAndAGoneOneLetsNobodyIn) {
  MakeUsual();
  Write(TokenLine("bob", "operator", kBobHash, "2100-01-01"));
  EXPECT_FALSE(Ask(kAnn, Role::kViewer).ok()) << "taken out: void at once";
  EXPECT_TRUE(Ask(kBob, Role::kOperator).ok());
  Write("bob operator nonsense-that-is-not-a-hash-at-all\n");
  EXPECT_TRUE(Ask(kBob, Role::kOperator).ok()) << "the tokens read before hold";
  fs::remove(file);
  EXPECT_TRUE(absl::IsFailedPrecondition(Ask(kBob, Role::kViewer).status()));
}

TEST_F(LoginTest, AFileThatIsWrongIsRefusedWithItsLine) {
  const std::pair<std::string, std::string> cases[] = {
      {TokenLine("ann", "root", kAnnHash), ":1: the role 'root'"},
      {"\nann operator " + std::string(kAnn) + "\n", ":2: the third word must be sha256:"},
      {"ann operator sha256:12\n", "64 hex digits"},
      {TokenLine("ann", "viewer", kAnnHash, "tomorrow"), "'tomorrow' is not a day"},
      {TokenLine("ann", "viewer", kAnnHash, "2030-12-31 x"), "a word too many"},
      {"ann\n", "neither viewer nor operator"}};
  for (const auto& [text, words] : cases) {
    const auto list = TokenList::Parse(text, "tokens");
    ASSERT_FALSE(list.ok()) << text;
    EXPECT_THAT(std::string(list.status().message()), HasSubstr(words));
  }
  Write(TokenLine("ann", "operator", kAnnHash));
  fs::permissions(file, fs::perms(0644));
  EXPECT_THAT(std::string(TokenList::Load(file).status().message()), HasSubstr("chmod 0640"));
  EXPECT_FALSE(TokenList::Load("/nowhere/tokens").ok());
}

TEST_F(LoginTest, WrongOnesFromOneAddressAreSlowedDownAndRightOnesAreNot) {
  MakeUsual();
  const auto wrong = [&](const std::string& from) {
    return Ask("wrong-0123456789abcdef", Role::kViewer, from).status();
  };
  for (int i = 0; i < Login::kBurst; ++i) EXPECT_TRUE(absl::IsUnauthenticated(wrong("10.0.0.1")));
  EXPECT_TRUE(absl::IsResourceExhausted(wrong("10.0.0.1")));
  EXPECT_TRUE(absl::IsUnauthenticated(wrong("10.0.0.2")));
  EXPECT_TRUE(Ask(kAnn, Role::kOperator, "10.0.0.1").ok());
  clock.Advance(Login::kRefill);
  EXPECT_TRUE(absl::IsUnauthenticated(wrong("10.0.0.1")));
  EXPECT_TRUE(absl::IsResourceExhausted(wrong("10.0.0.1")));
  EXPECT_EQ(login->failures().throttled, 2u);
}

TEST_F(LoginTest, AProxyIsBelievedFromItsOwnAddressOnly) {
  options.proxy_header = "X-Forwarded-User";
  EXPECT_FALSE(Login::Make(options, clock).ok()) << "anybody could send the header";
  options.proxy_peers = "10.1.0.0/16, ::1";
  options.proxy_operators = "ann";
  Make();
  const auto ask = [&](const std::string& user, const std::string& from, Role needed) {
    return login->Admit({"", user, {from, 1, 2}}, needed);
  };
  EXPECT_EQ(ask("ann", "10.1.2.3", Role::kOperator)->name, "ann");
  EXPECT_EQ(ask("eve", "::1", Role::kViewer)->name, "eve");
  EXPECT_TRUE(absl::IsPermissionDenied(ask("eve", "10.1.2.3", Role::kOperator).status()));
  EXPECT_TRUE(absl::IsUnauthenticated(ask("ann", "10.2.2.3", Role::kViewer).status()));
  EXPECT_TRUE(absl::IsUnauthenticated(ask("", "10.1.2.3", Role::kViewer).status()));
  EXPECT_FALSE(login->Admit({"a-token-of-nobody", "ann", {"::1", 1, 2}}, Role::kViewer).ok())
      << "a wrong token is not made good by the header";
}

TEST_F(LoginTest, WithoutALoginOnlyTheServersOwnUserChangesSomething) {
  options.local_owner = true;
  Make();
  EXPECT_TRUE(Ask("", Role::kViewer).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Ask("", Role::kOperator).status())) << "from elsewhere";
  const int listening = socket(AF_INET, SOCK_STREAM, 0), mine = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* where = reinterpret_cast<sockaddr*>(&at);
  ASSERT_EQ(bind(listening, where, size) | listen(listening, 1), 0);
  getsockname(listening, where, &size);
  const int server_port = ntohs(at.sin_port);
  ASSERT_EQ(connect(mine, where, size), 0);
  getsockname(mine, where, &size);
  const Peer peer{"127.0.0.1", ntohs(at.sin_port), server_port};
  const auto person = login->Admit({"", "", peer}, Role::kOperator);
  EXPECT_EQ(person.ok() ? person->name : "", "uid " + std::to_string(getuid()));
  EXPECT_FALSE(login->Admit({"", "", {"127.0.0.1", peer.port, 1}}, Role::kOperator).ok());
  close(mine), close(listening);
}

TEST_F(LoginTest, TheOwnerOfAConnectionIsReadFromTheKernelsTable) {
  const fs::path folder = file.string() + "-net";
  fs::create_directory(folder);
  const std::string rest = " 00000000:00000000 00:00000000 00000000  ";
  std::ofstream(folder / "tcp") << "  sl  local_address rem_address   st\n"
                                << "   0: 0100007F:9C40 0100007F:1B9E 01" << rest << "1000 0 5\n"
                                << "   1: 0100007F:9C41 0200000A:1B9E 01" << rest << "1001 0 5\n"
                                << "   2: 0100007F:9C42 0100007F:1B9E 06" << rest << "1002 0 5\n"
                                << "   3: 0100007F:9C43 0100007F:1B9E 01" << rest << "1003 0 5\n"
                                << "   4: 0100007F:9C43 0200007F:1B9E 01" << rest << "1004 0 5\n";
  std::ofstream(folder / "tcp6") << "   0: 00000000000000000000000001000000:9C40 "
                                    "00000000000000000000000001000000:1B9E 01"
                                 << rest << "1005 0 5\n";
  const auto owner = [&](const std::string& address, int port) {
    return LoopbackOwner({address, port, 7070}, folder);
  };
  EXPECT_EQ(owner("127.0.0.1", 40'000), std::optional<uid_t>(1000));
  EXPECT_EQ(owner("::1", 40'000), std::optional<uid_t>(1005));
  EXPECT_EQ(owner("127.0.0.1", 40'001), std::nullopt) << "leaves this machine";
  EXPECT_EQ(owner("127.0.0.1", 40'002), std::nullopt) << "is closing";
  EXPECT_EQ(owner("127.0.0.1", 40'003), std::nullopt) << "two users fit";
  EXPECT_EQ(owner("10.0.0.2", 40'000), std::nullopt);
  fs::remove_all(folder);
}

TEST(NetworksTest, KnowsAddressesAndNetworks) {
  const auto networks = Networks::Parse("10.0.0.0/9,192.168.1.7 2001:db8::/33");
  ASSERT_TRUE(networks.ok());
  for (const char* in : {"10.127.1.1", "192.168.1.7", "2001:db8:1::1", "::ffff:10.1.1.1"}) {
    EXPECT_TRUE(networks->Has(in)) << in;
  }
  for (const char* out : {"10.128.0.1", "192.168.1.8", "2001:db8:8000::1", "::1", "x", ""}) {
    EXPECT_FALSE(networks->Has(out)) << out;
  }
  for (const char* bad : {"10.0.0.0/33", "host", "10.0.0", "::/129", "1.2.3.4/-1", "1.2.3.4/a"}) {
    EXPECT_FALSE(Networks::Parse(bad).ok()) << bad;
  }
}

TEST(SignInTest, TokensOfHeadersAndForms) {
  EXPECT_EQ(TokenOfBearer("bearer abc"), "abc");
  EXPECT_EQ(TokenOfBearer("Basic abc"), "");
  EXPECT_EQ(TokenOfCookie("a=1; fathom_token=x=y; b=2"), "x=y");
  EXPECT_EQ(TokenOfCookie("my_fathom_token=x"), "");
  EXPECT_EQ(FormFields("token=a%2Bb&at=%23%2Fjob%2Fx")["token"], "a+b");
  EXPECT_THAT(SignInPage(200, "", "#/job/\"><script>").body, testing::Not(HasSubstr("script")));
  EXPECT_THAT(SignedIn("t", "https://elsewhere", false).headers, HasSubstr("Location: ./\r\n"));
  EXPECT_THAT(SignedIn("t", "#/job/a%2Fb", true).headers,
              testing::AllOf(HasSubstr("Location: ./#/job/a%2Fb\r\n"), HasSubstr("HttpOnly"),
                             HasSubstr("SameSite=Strict"), HasSubstr("Secure")));
}

}  // namespace
}  // namespace fathom::collector
