#include "collector/export/html/page.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "collector/export/html/page_bundle.h"

namespace fathom::collector {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// In JSON '<' stands in strings only; without it nothing in them can end the element.
std::string Harmless(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Join(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out.append(part);
  return out;
}

std::string Head(const PageBundle& bundle) {
  return Join(
      {"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
       "img-src data:; style-src 'unsafe-inline'; script-src 'sha256-",
       bundle.script_sha256,
       "'; base-uri 'none'; form-action 'none'\">\n"
       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
       "<meta name=\"color-scheme\" content=\"light dark\">\n<title>fathom</title>\n"
       "<link rel=\"icon\" href=\"data:,\">\n<style>",
       bundle.style,
       "</style>\n</head>\n<body>\n<noscript>This page needs JavaScript. The same facts: "
       "<code>fathom analyze</code>.</noscript>\n"});
}

}  // namespace

absl::Status WriteHtml(const PageInput& input, const std::string& path) {
  const PageBundle bundle = RecordedBundle();
  if (bundle.script.empty()) {
    return absl::FailedPreconditionError("--html: this fathom was built without the page");
  }
  const std::string text =
      Join({Head(bundle), "<script type=\"application/json\" id=\"recording\">",
            Harmless(PageData(input)), "</script>\n<script>", bundle.script,
            "</script>\n</body>\n</html>\n"});
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wbe"));
  if (file == nullptr) {
    return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (std::fclose(file.release()) != 0 || !written) {
    return absl::UnavailableError(absl::StrCat(path, ": could not be written to its end"));
  }
  return absl::OkStatus();
}

}  // namespace fathom::collector
