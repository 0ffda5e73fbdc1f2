#include "collector/bus/nats_bucket.h"

#include <absl/strings/str_cat.h>

#include <string_view>

namespace fathom::collector {

absl::StatusOr<NatsBucket> OpenBucket(NatsConnection& connection, const char* name, Nanos kept) {
  kvStore* raw = nullptr;
  natsStatus s = js_KeyValue(&raw, connection.js(), name);
  if (s != NATS_OK) {
    kvConfig config;
    kvConfig_Init(&config);
    config.Bucket = name;
    config.History = 1;
    config.TTL = kept.count;
    config.StorageType = js_FileStorage;
    config.Replicas = static_cast<int>(connection.settings().replicas);
    s = js_CreateKeyValue(&raw, connection.js(), &config);
    // Another collector that starts beside this one may have been first.
    if (s != NATS_OK) s = js_KeyValue(&raw, connection.js(), name);
  }
  if (s != NATS_OK) return NatsFailure(absl::StrCat("bus: bucket ", name), s);
  return NatsBucket(raw);
}

absl::Status SwapFailure(const std::string& what, natsStatus status) {
  const char* last = nats_GetLastError(nullptr);
  const bool changed = last != nullptr &&
                       std::string_view(last).find("wrong last sequence") != std::string_view::npos;
  if (!changed) return NatsFailure(what, status);
  return absl::AlreadyExistsError(absl::StrCat("the ", what, " has changed"));
}

}  // namespace fathom::collector
