#include "src/llm/url.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <kevo/error.hpp>

namespace kevo {

std::string without_user(const std::string& text) {
  const auto scheme = text.find("://");
  const auto begin = scheme == std::string::npos ? 0 : scheme + 3;
  // A password may hold a slash that should have been written as %2F: the last @ of all counts.
  const auto at = text.rfind('@');
  if (at == std::string::npos || at < begin) return text;
  return text.substr(0, begin) + "..." + text.substr(at);
}

url parse_url(const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    return error(error_code::input, "'" + without_user(text) + "' " + why, {},
                 "write http://host:port/path or https://host/path");
  };
  const auto parsed = boost::urls::parse_uri(text);
  if (!parsed) throw wrong("is not an http or https address: " + parsed.error().message());
  const boost::urls::url_view& parts = *parsed;
  if (parts.scheme_id() != boost::urls::scheme::http && parts.scheme_id() != boost::urls::scheme::https)
    throw wrong("is not an http or https address");
  url made;
  made.tls = parts.scheme_id() == boost::urls::scheme::https;
  made.host = parts.host_address();
  if (made.host.empty()) throw wrong("names no host");
  made.port = made.tls ? "443" : "80";
  if (parts.has_port()) {
    if (parts.port_number() == 0) throw wrong("has a port that is not a number from 1 to 65535");
    made.port = std::to_string(parts.port_number());
  }
  made.path = std::string(parts.encoded_target());
  made.user = parts.userinfo();
  return made;
}

}  // namespace kevo
