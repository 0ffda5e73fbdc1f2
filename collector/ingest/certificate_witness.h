// The witness that an agent's certificate makes.
//
// Used by AgentService where agents must show one; the authority's signature was checked before.
// Included by agent_service.cc only (gRPC headers).
// Model: the names are the certificate's DNS names, or its common name where it has none. The
// certificate that the collector itself shows is no agent's: whoever holds its key could speak for
// the collector's node, and a leak of it should cost no more than it must.
// Thread-safety: pure, but for reading the collector's certificate. Errors: in the witness.
// Cost: one small file a stream.
#ifndef FATHOM_COLLECTOR_INGEST_CERTIFICATE_WITNESS_H_
#define FATHOM_COLLECTOR_INGEST_CERTIFICATE_WITNESS_H_

#include <grpcpp/grpcpp.h>

#include <string>

#include "collector/admission/witness.h"

namespace fathom::collector {

// `own_file`: the collector's certificate, PEM.
Witness WitnessOfCertificate(const grpc::AuthContext& shown, const std::string& own_file,
                             bool wildcards);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_INGEST_CERTIFICATE_WITNESS_H_
