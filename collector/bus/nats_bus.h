// The bus on NATS JetStream: several collectors, on several machines.
//
// Made by cluster where `cluster_bus` is set. Model: see bus.h. The log of job J is what the stream
// has of "fathom.job.J.>", kept on its servers' disks; words go to "fathom.word.TOPIC", questions
// to "fathom.ask.NAME".
//
// Thread-safety: as bus.h. Threads: the connection's, one of the appender, one for each log that is
// followed, two for each name that is answered to. Errors: as bus.h; Forget is tried once, for what
// is left over goes by the bounds of the stream. Cost: Append a copy and a write to the socket.
#ifndef FATHOM_COLLECTOR_BUS_NATS_BUS_H_
#define FATHOM_COLLECTOR_BUS_NATS_BUS_H_

#include <memory>
#include <string>
#include <utility>

#include "collector/bus/bus.h"
#include "collector/bus/nats_appender.h"
#include "collector/bus/nats_connection.h"

namespace fathom::collector {

class NatsBus final : public Bus {
 public:
  // The connection outlives it.
  static absl::StatusOr<std::unique_ptr<NatsBus>> Start(NatsConnection& connection);

  std::uint64_t Append(const Place& place, std::string bytes) override;
  [[nodiscard]] bool WhenDurable(std::uint64_t record, std::function<void()> done) override;
  absl::StatusOr<std::unique_ptr<Hearing>> Follow(const std::string& job, OnKept on_kept,
                                                  std::function<void()> caught_up) override;
  void Forget(const std::string& job, std::uint64_t before) override;
  void Tell(const std::string& topic, std::string_view bytes) override;
  absl::StatusOr<std::unique_ptr<Hearing>> Hear(const std::string& topic, OnWord on_word) override;
  absl::StatusOr<std::string> Ask(const std::string& name, std::string_view bytes,
                                  Nanos patience) override;
  absl::StatusOr<std::unique_ptr<Hearing>> Answer(const std::string& name,
                                                  OnAsked on_asked) override;
  std::string failing() const override { return appender_->failing(); }
  BusCounters counters() const override { return appender_->counters(); }

 private:
  NatsBus(NatsConnection& connection, std::unique_ptr<NatsAppender> appender)
      : connection_(connection), appender_(std::move(appender)) {}

  NatsConnection& connection_;
  const std::unique_ptr<NatsAppender> appender_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_NATS_BUS_H_
