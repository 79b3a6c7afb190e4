#pragma once
// The address of a model's server or of a proxy, taken apart.

#include <string>

namespace kevo {

/// The parts of "https://user:password@host:port/path?query".
struct url {
  bool tls = false;
  std::string host;  ///< without the brackets of an IPv6 address
  std::string port;  ///< a number from 1 to 65535; 443 (https) or 80 (http) where the address names none
  std::string path;  ///< with the query, as written; begins with a slash, or is empty
  std::string user;  ///< "name:password" with its percent signs decoded, used for proxies only
};

/// The text with "..." in place of what stands before an @, which may be a password: for messages.
std::string without_user(const std::string& text);

/// Takes apart an address by RFC 3986. A fragment is dropped. Throws kevo::error (input) if `text` is not an
/// http or https address with a host and a valid port.
url parse_url(const std::string& text);

}  // namespace kevo
