#pragma once
// Bytes as base64 (RFC 4648, section 4), for the Authorization headers of proxies.

#include <string>
#include <string_view>

namespace kevo {

/// With padding, on one line: "user:pass" is "dXNlcjpwYXNz". For less than 1 GiB, because OpenSSL counts in
/// int.
std::string base64(std::string_view bytes);

}  // namespace kevo
