// Whatever a server sends: the parser of responses and the decoder of events survive it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collector/cli/http/event_stream.h"
#include "collector/cli/http/response_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t portion = 1 + data[0] % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  fathom::cli::ResponseParser parser({.header_bytes = 4096, .body_bytes = 4096});
  fathom::cli::EventDecoder decoder;
  for (std::size_t at = 0; at < bytes.size(); at += portion) {
    if (!parser.Feed(bytes.substr(at, portion)).ok()) return 0;
    const std::string body = parser.TakeBody();
    if (body.size() > 4096) __builtin_trap();
    decoder.Feed(body);
  }
  parser.Finish().IgnoreError();
  return 0;
}
