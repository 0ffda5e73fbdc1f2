#include "collector/ingest/certificate_witness.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace fathom::collector {
namespace {

std::vector<std::string> Named(const grpc::AuthContext& shown, const char* property) {
  std::vector<std::string> texts;
  for (const auto& text : shown.FindPropertyValues(property)) {
    texts.emplace_back(text.data(), text.size());
  }
  return texts;
}

// The first certificate of a PEM file, without what differs between writers of the same one.
std::string FirstCertificate(const std::string& pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  const auto begin = pem.find(kBegin);
  if (begin == std::string::npos) return {};
  const auto first = begin + kBegin.size();
  std::string body = pem.substr(first, pem.find("-----END", first) - first);
  std::erase_if(body, [](unsigned char c) { return std::isspace(c) != 0; });
  return body;
}

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Witness WitnessOfCertificate(const grpc::AuthContext& shown, const std::string& own_file,
                             bool wildcards) {
  Witness witness{.identity = "a certificate", .names = Named(shown, GRPC_PEER_DNS_PROPERTY_NAME)};
  if (witness.names->empty()) witness.names = Named(shown, GRPC_X509_CN_PROPERTY_NAME);
  witness.wildcards = wildcards;
  const std::vector<std::string> pem = Named(shown, GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (!shown.IsPeerAuthenticated() || pem.empty()) {
    witness.refused = "agents must show a certificate here";
  } else if (FirstCertificate(pem.front()) == FirstCertificate(FileText(own_file))) {
    witness.refused = "the collector's own certificate is no agent's; give the node one of its own";
  }
  return witness;
}

}  // namespace fathom::collector
