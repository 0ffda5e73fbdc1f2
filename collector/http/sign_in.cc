#include "collector/http/sign_in.h"

#include <absl/strings/str_cat.h>
#include <strings.h>

#include <algorithm>
#include <cctype>

namespace fathom::collector {
namespace {

constexpr char kCookie[] = "fathom_token=";
constexpr int kStays_s = 12 * 3600;  // a working day

// No script, no style: the policy of the page allows none that stand inside a document.
constexpr std::string_view kPage =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
    "<meta name=\"color-scheme\" content=\"light dark\"><title>fathom: sign in</title>"
    "<link rel=\"icon\" href=\"favicon.svg\" type=\"image/svg+xml\"></head>"
    "<body><h1>fathom</h1><p role=\"alert\">$WHY</p><form method=\"post\" action=\"login\">"
    "<input type=\"hidden\" name=\"at\" value=\"$AT\"><p><label>Token <input type=\"password\" "
    "name=\"token\" autocomplete=\"current-password\" required autofocus></label> "
    "<button>Sign in</button></p></form><p>Whoever runs fathom hands out tokens.</p></body></html>";

// A fragment of the page's own address, in characters that need no escape anywhere.
std::string Fragment(const std::string& text) {
  const bool plain =
      text.starts_with("#/") && text.size() < 1024 &&
      std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("#/%-._~").find(static_cast<char>(c)) != std::string::npos;
      });
  return plain ? text : "";
}

void Fill(std::string& text, std::string_view place, std::string_view value) {
  text.replace(text.find(place), place.size(), value);
}

std::string Cookie(const std::string& value, int stays_s, bool tls) {
  return absl::StrCat("Set-Cookie: ", kCookie, value, "; Path=/; Max-Age=", stays_s,
                      "; HttpOnly; SameSite=Strict", tls ? "; Secure" : "", "\r\n");
}

}  // namespace

Response SignInPage(int status, const std::string& why, const std::string& at) {
  std::string html(kPage);
  Fill(html, "$WHY", why);
  Fill(html, "$AT", Fragment(at));
  Response response{status, "text/html; charset=utf-8", std::move(html), ""};
  response.form = true;
  return response;
}

Response SignedIn(const std::string& token, const std::string& at, bool tls) {
  Response response{303, "text/plain", "", ""};
  response.headers = absl::StrCat("Location: ./", Fragment(at), "\r\n",
                                  Cookie(token, token.empty() ? 0 : kStays_s, tls));
  return response;
}

std::map<std::string, std::string> FormFields(const std::string& body) {
  const auto request = ParseTarget("/", body);
  return request ? request->parameters : std::map<std::string, std::string>();
}

std::string TokenOfCookie(std::string_view header) {
  constexpr std::string_view kName = kCookie;
  while (!header.empty()) {
    header.remove_prefix(std::min(header.find_first_not_of("; "), header.size()));
    const std::string_view pair = header.substr(0, header.find(';'));
    if (pair.starts_with(kName)) return std::string(pair.substr(kName.size()));
    header.remove_prefix(pair.size());
  }
  return "";
}

std::string TokenOfBearer(std::string_view header) {
  constexpr std::string_view kBearer = "Bearer ";
  const bool bearer = header.size() > kBearer.size() &&
                      strncasecmp(header.data(), kBearer.data(), kBearer.size()) == 0;
  if (!bearer) return "";
  return std::string(header.substr(kBearer.size()));
}

}  // namespace fathom::collector
