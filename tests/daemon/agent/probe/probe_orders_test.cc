// Probes that the collector orders: refused beside training, stopped when it begins, and killed.
#include "daemon/agent/probe/probe_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace fathom::agent {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;

struct ProbeOrdersTest : testing::Test {
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("probe_orders_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    outbox.BeginStream(v1::Hello());
    Next();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string Script(const std::string& text) const {
    const auto path = folder / "stand_in";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    chmod(path.c_str(), 0755);
    return path.string();
  }

  void RunWith(const std::string& program) { orders.ProbeWith(ProbeToolOf(program, 60, 512)); }

  static v1::ProbeOrder Order(std::uint64_t id) {
    v1::ProbeOrder order;
    order.set_request_id(id);
    return order;
  }

  v1::AgentMessage Next() {
    const auto message = outbox.Next(steady_clock::now() + std::chrono::milliseconds(50));
    return message ? *message : v1::AgentMessage();
  }

  // Turns of the poll loop until an answer is sent.
  v1::ProbeAnswer Answer(std::size_t traced) {
    const auto deadline = steady_clock::now() + std::chrono::seconds(60);
    while (steady_clock::now() < deadline) {
      orders.Report(traced);
      if (const v1::AgentMessage message = Next(); message.has_probe()) return message.probe();
    }
    return {};
  }

  std::filesystem::path folder;
  Outbox outbox{1 << 20};
  ProbeOrders orders{
      outbox, (std::filesystem::temp_directory_path() / ("probe_off_" + std::to_string(getpid())))
                  .string()};
};

TEST_F(ProbeOrdersTest, WhatTheProgramPrintsGoesUp) {
  RunWith(Script("echo '{\"result\":{\"probe\":\"exact\"}}'; echo \"$@\""));
  v1::ProbeOrder order = Order(7);
  order.set_full(true);
  order.set_probes("exact");
  orders.Carry(order, 0, 123);
  const v1::ProbeAnswer answer = Answer(0);
  EXPECT_EQ(answer.request_id(), 7u);
  EXPECT_EQ(answer.refused(), "");
  EXPECT_EQ(answer.began_wall_ns(), 123);
  EXPECT_THAT(answer.lines(), HasSubstr("\"probe\":\"exact\""));
  EXPECT_THAT(answer.lines(), HasSubstr("--full --probes exact"));
}

TEST_F(ProbeOrdersTest, NeverBesideTrainingUnlessToldSo) {
  RunWith(Script("echo '{}'"));
  orders.Carry(Order(1), 3, 0);
  EXPECT_THAT(Next().probe().refused(), HasSubstr("training runs here: 3 traced processes"));
  v1::ProbeOrder told = Order(2);
  told.set_beside_training(true);
  orders.Carry(told, 3, 0);
  EXPECT_EQ(Answer(3).refused(), "");
}

TEST_F(ProbeOrdersTest, TrainingThatBeginsEndsIt) {
  RunWith(Script("exec sleep 100"));
  orders.Carry(Order(1), 0, 0);
  const auto begin = steady_clock::now();
  EXPECT_THAT(Answer(1).refused(), HasSubstr("training runs here: 1 traced process"));
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(ProbeOrdersTest, OneAtATimeAndAnOperatorEndsIt) {
  RunWith(Script("exec sleep 100"));
  orders.Carry(Order(1), 0, 0);
  orders.Carry(Order(2), 0, 0);
  EXPECT_THAT(Next().probe().refused(), HasSubstr("another probe is under way"));
  v1::ProbeOrder stop = Order(2);
  stop.set_stop(true);
  orders.Carry(stop, 0, 0);  // of one that does not run
  orders.Report(0);
  EXPECT_FALSE(Next().has_probe());
  stop.set_request_id(1);
  orders.Carry(stop, 0, 0);
  const v1::ProbeAnswer answer = Answer(0);
  EXPECT_EQ(answer.request_id(), 1u);
  EXPECT_EQ(answer.refused(), "stopped by an operator");
}

TEST_F(ProbeOrdersTest, TheKillSwitchRefusesAndEnds) {
  const std::string off = (folder / "off").string();
  ProbeOrders switched(outbox, off);
  switched.ProbeWith(ProbeToolOf(Script("exec sleep 100"), 60, 512));
  switched.Carry(Order(1), 0, 0);
  std::ofstream(off) << "";
  const auto deadline = steady_clock::now() + std::chrono::seconds(60);
  v1::AgentMessage message;
  while (!message.has_probe() && steady_clock::now() < deadline) {
    switched.Report(0);
    message = Next();
  }
  EXPECT_THAT(message.probe().refused(), HasSubstr("switched off by"));
  switched.Carry(Order(2), 0, 0);
  EXPECT_THAT(Next().probe().refused(), HasSubstr("switched off by"));
}

TEST_F(ProbeOrdersTest, AProgramThatIsNotThereIsToldWithItsName) {
  RunWith("/nowhere/fathom-probe");
  orders.Carry(Order(1), 0, 0);
  EXPECT_THAT(Answer(0).refused(), HasSubstr("/nowhere/fathom-probe"));
}

TEST_F(ProbeOrdersTest, WithoutAProgramNothingIsMeasured) {
  orders.Carry(Order(1), 0, 0);
  EXPECT_THAT(Next().probe().refused(), HasSubstr("--probe-tool"));
}

}  // namespace
}  // namespace fathom::agent
