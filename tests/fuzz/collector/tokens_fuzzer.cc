// Any bytes as a file that says who may do what: the tokens of people, a token to show, a secret,
// the users whose agents are believed, the peer that gRPC names.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "collector/http/token_list.h"
#include "collector/net/local_agents.h"
#include "collector/net/secret_file.h"
#include "collector/net/token_file.h"

namespace {

using namespace fathom::collector;  // NOLINT(google-build-using-namespace)

void AsTokens(const std::string& text) {
  const auto list = TokenList::Parse(text, "tokens");
  if (!list.ok()) return;
  const fathom::WallNs now(1'800'000'000'000'000'000);
  (void)list->Who("0123456789abcdef0123456789abcdef", now);
  if (list->Who("", now).ok()) std::abort();  // whatever hash the file has
}

void AsSecretFile(const std::string& text) {
  const int file = memfd_create("secret", MFD_CLOEXEC);
  if (file < 0) return;
  if (write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      fchmod(file, 0600) == 0) {
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    // What goes into a header is one line.
    for (const std::string& header : BearerHeaders(path)) {
      if (header.find_first_of("\r\n") != header.npos) std::abort();
    }
    const auto secret = ReadSecretFile(path);
    if (secret.ok() && (secret->empty() || secret->find('\n') != secret->npos)) std::abort();
  }
  close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  AsTokens(text);
  AsSecretFile(text);
  if (const auto agents = LocalAgents::Parse(text); agents.ok()) (void)agents->CheckUser(0);
  (void)PeerOfGrpc(text, 7071);
  return 0;
}
