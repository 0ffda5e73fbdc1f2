// The sign-in page: a form without a script, and the cookie that it leaves behind.
//
// Used by HttpServer of the collector. Listener, and so fathom-cordon too, reads tokens of requests
// here.
//
//   GET  /login?at=#/job/NAME   the form
//   POST /login                 token=…&at=…: sets the cookie, on to the page
//   POST /logout                takes the cookie back
//
// The cookie holds the token, is kept from scripts (HttpOnly), is not sent from other sites
// (SameSite=Strict), and with TLS never without it (Secure).
// Thread-safety: pure functions. Errors: none; what is malformed is empty.
#ifndef FATHOM_COLLECTOR_HTTP_SIGN_IN_H_
#define FATHOM_COLLECTOR_HTTP_SIGN_IN_H_

#include <map>
#include <string>
#include <string_view>

#include "collector/http/request.h"

namespace fathom::collector {

// `why`: what was wrong with the last try; empty for none. `at`: where to go on, a fragment of the
// page's address ("#/job/NAME"); anything else is dropped.
Response SignInPage(int status, const std::string& why, const std::string& at);
// To the page, with the cookie; an empty token takes the cookie back.
Response SignedIn(const std::string& token, const std::string& at, bool tls);

// The fields of a body of application/x-www-form-urlencoded; none where it is malformed.
std::map<std::string, std::string> FormFields(const std::string& body);
// The token in a Cookie header.
std::string TokenOfCookie(std::string_view header);
// The token in an Authorization header.
std::string TokenOfBearer(std::string_view header);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_HTTP_SIGN_IN_H_
