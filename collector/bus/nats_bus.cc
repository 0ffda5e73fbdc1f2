#include "collector/bus/nats_bus.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string_view>

#include "collector/bus/bus_names.h"
#include "collector/bus/nats_hearing.h"

namespace fathom::collector {
namespace {

std::string LogOf(const std::string& job) { return absl::StrCat("fathom.job.", BusToken(job)); }
std::string WordsOf(const std::string& topic) {
  return absl::StrCat("fathom.word.", BusToken(topic));
}
std::string QuestionsTo(const std::string& name) {
  return absl::StrCat("fathom.ask.", BusToken(name));
}

// The next message to `inbox`. What was asked over a connection that broke meanwhile may not have
// come to anybody.
natsStatus NextPart(natsSubscription* inbox, const NatsConnection& connection, Nanos patience,
                    natsMsg** part) {
  constexpr Nanos kLook{250'000'000};
  const std::uint64_t reconnects = connection.reconnects();
  for (Nanos left = patience;; left = left - kLook) {
    const natsStatus s =
        natsSubscription_NextMsg(part, inbox, std::min(left, kLook).count / 1'000'000);
    if (s != NATS_TIMEOUT || left <= kLook) return s;
    const bool broke = !connection.connected() || connection.reconnects() != reconnects;
    if (broke) return NATS_CONNECTION_DISCONNECTED;
  }
}

// The answer that comes in parts to `inbox`.
absl::StatusOr<std::string> PartsOf(natsSubscription* inbox, const NatsConnection& connection,
                                    const std::string& name, Nanos patience) {
  std::string answer;
  while (true) {
    natsMsg* raw = nullptr;
    const natsStatus s = NextPart(inbox, connection, patience, &raw);
    const NatsMessage message(raw);
    if (s == NATS_NO_RESPONDERS || (raw != nullptr && natsMsg_IsNoResponders(raw))) {
      return absl::NotFoundError(absl::StrCat("nobody answers to ", name));
    }
    if (s == NATS_CONNECTION_DISCONNECTED) {
      return absl::UnavailableError(absl::StrCat("no answer of ", name, ": the connection broke"));
    }
    if (s != NATS_OK) return NatsFailure(absl::StrCat("no answer of ", name), s);
    const std::string_view part = BytesOf(raw);
    if (part.empty()) return absl::InternalError(absl::StrCat("an empty answer of ", name));
    answer.append(part.substr(1));
    if (part[0] == NatsAnswering::kLast) return answer;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<NatsBus>> NatsBus::Start(NatsConnection& connection) {
  auto appender = NatsAppender::Start(connection);
  if (!appender.ok()) return appender.status();
  return std::unique_ptr<NatsBus>(new NatsBus(connection, *std::move(appender)));
}

std::uint64_t NatsBus::Append(const Place& place, std::string bytes) {
  return appender_->Append(absl::StrCat(LogOf(place.job), ".", place.key), std::move(bytes));
}

bool NatsBus::WhenDurable(std::uint64_t record, std::function<void()> done) {
  return appender_->WhenDurable(record, std::move(done));
}

absl::StatusOr<std::unique_ptr<Hearing>> NatsBus::Follow(const std::string& job, OnKept on_kept,
                                                         std::function<void()> caught_up) {
  return NatsFollowing::Start(connection_, absl::StrCat(LogOf(job), ".>"), std::move(on_kept),
                              std::move(caught_up));
}

void NatsBus::Forget(const std::string& job, std::uint64_t before) {
  const std::string subject = absl::StrCat(LogOf(job), ".>");
  jsOptions options;
  jsOptions_Init(&options);
  options.Stream.Purge.Subject = subject.c_str();
  options.Stream.Purge.Sequence = before;
  jsErrCode code = {};
  const natsStatus s = js_PurgeStream(connection_.js(), NatsConnection::kStream, &options, &code);
  if (s == NATS_OK) return;
  connection_.Log(true, std::string(NatsFailure(absl::StrCat("log of ", job), s, code).message()));
}

void NatsBus::Tell(const std::string& topic, std::string_view bytes) {
  natsConnection_Publish(connection_.get(), WordsOf(topic).c_str(), bytes.data(),
                         static_cast<int>(bytes.size()));
}

absl::StatusOr<std::unique_ptr<Hearing>> NatsBus::Hear(const std::string& topic, OnWord on_word) {
  return NatsHearing::Start(
      connection_, WordsOf(topic),
      [on_word = std::move(on_word)](natsMsg* message) { on_word(BytesOf(message)); });
}

absl::StatusOr<std::string> NatsBus::Ask(const std::string& name, std::string_view bytes,
                                         Nanos patience) {
  const auto reply = NewInbox();
  if (!reply.ok()) return reply.status();
  natsSubscription* raw = nullptr;
  natsStatus s = natsConnection_SubscribeSync(&raw, connection_.get(), reply->c_str());
  const NatsSubscription subscription(raw);
  if (s == NATS_OK) {
    s = natsConnection_PublishRequest(connection_.get(), QuestionsTo(name).c_str(), reply->c_str(),
                                      bytes.data(), static_cast<int>(bytes.size()));
  }
  if (s != NATS_OK) return NatsFailure(absl::StrCat("a question to ", name), s);
  return PartsOf(raw, connection_, name, patience);
}

absl::StatusOr<std::unique_ptr<Hearing>> NatsBus::Answer(const std::string& name,
                                                         OnAsked on_asked) {
  return NatsAnswering::Start(connection_, QuestionsTo(name), std::move(on_asked));
}

}  // namespace fathom::collector
