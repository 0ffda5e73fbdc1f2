#include "collector/cli/process/signal_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace fathom::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kSender = 4242;
const SignalRelay::Time kNow{std::chrono::seconds(1000)};
const SignalRelay::Time kLater = kNow + SignalRelay::kPatience;

TEST(SignalRelayTest, PassesOnWhatWasSentToUsAlone) {
  SignalRelay relay(true);
  relay.Arrived(SIGTERM, SI_USER, kSender, kNow);
  EXPECT_THAT(relay.Due(kNow), IsEmpty());
  EXPECT_EQ(relay.next(), kLater);
  EXPECT_THAT(relay.Due(kLater), ElementsAre(SIGTERM));
  EXPECT_THAT(relay.Due(kLater), IsEmpty());
  EXPECT_EQ(relay.next(), std::nullopt);
}

TEST(SignalRelayTest, DoesNotRepeatWhatTheGroupGotInEitherOrder) {
  SignalRelay relay(true);
  relay.Arrived(SIGTERM, SI_USER, kSender, kNow);
  relay.Witnessed(SIGTERM, kSender, kNow);
  relay.Witnessed(SIGUSR1, kSender, kNow);
  relay.Arrived(SIGUSR1, SI_USER, kSender, kNow);
  EXPECT_THAT(relay.Due(kLater), IsEmpty());
}

TEST(SignalRelayTest, NeverRepeatsWhatTheTerminalRaised) {
  SignalRelay relay(true);
  relay.Arrived(SIGINT, SI_KERNEL, 0, kNow);
  EXPECT_THAT(relay.Due(kLater), IsEmpty());
}

TEST(SignalRelayTest, AnotherSenderOrSignalIsNoWitness) {
  SignalRelay relay(true);
  relay.Witnessed(SIGTERM, kSender + 1, kNow);
  relay.Witnessed(SIGHUP, kSender, kNow);
  relay.Arrived(SIGTERM, SI_USER, kSender, kNow);
  EXPECT_THAT(relay.Due(kLater), ElementsAre(SIGTERM));
}

TEST(SignalRelayTest, AStaleReportExcusesNothing) {
  SignalRelay relay(true);
  relay.Witnessed(SIGTERM, kSender, kNow);
  relay.Witnessed(SIGHUP, kSender, kLater);  // reports are aged when one comes
  relay.Arrived(SIGTERM, SI_USER, kSender, kLater);
  EXPECT_THAT(relay.Due(kLater + SignalRelay::kPatience), ElementsAre(SIGTERM));
}

TEST(SignalRelayTest, WithoutAWitnessAllIsPassedOnAtOnce) {
  SignalRelay relay(false);
  relay.Arrived(SIGUSR2, SI_USER, kSender, kNow);
  EXPECT_THAT(relay.Due(kNow), ElementsAre(SIGUSR2));
}

}  // namespace
}  // namespace fathom::cli
