// What leases and checkpoints share of their key-value buckets of NATS: how one is opened, and what
// a write that did not take place means.
//
// Used by nats_leases and nats_checkpoints. Thread-safety: as the connection. Ownership: the bucket
// is the caller's; the connection outlives it. Errors: those of NATS, in words. Cost: a round trip,
// three where the bucket is not there yet.
#ifndef FATHOM_COLLECTOR_BUS_NATS_BUCKET_H_
#define FATHOM_COLLECTOR_BUS_NATS_BUCKET_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "collector/bus/nats_connection.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

using NatsBucket = std::unique_ptr<kvStore, NatsDestroy<kvStore, kvStore_Destroy>>;
using NatsEntry = std::unique_ptr<kvEntry, NatsDestroy<kvEntry, kvEntry_Destroy>>;

// Made where it is not there, with one value a key, which is let go of after `kept`; 0: never.
absl::StatusOr<NatsBucket> OpenBucket(NatsConnection& connection, const char* name,
                                      Nanos kept = Nanos(0));

// Of the newest call of this thread that names a revision. AlreadyExists: another one is there.
// `what`: "lease of train".
absl::Status SwapFailure(const std::string& what, natsStatus status);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_NATS_BUCKET_H_
