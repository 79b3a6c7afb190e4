#pragma once
// Where a model's server is and what identifies us to it: its address, the key, and further headers. None of
// what is secret may lie in a config.

#include <string>
#include <vector>

#include <kevo/settings.hpp>

#include "src/llm/http.hpp"

namespace kevo {

/// The base address. `needed`: the replies do not come from elsewhere.
std::string decode_url(settings& from, bool needed);
/// The key for the server at `url`; empty if none is named. `needed`: one that is named must be there.
std::string decode_key(settings& from, const std::string& directory, const std::string& url, bool needed);
/// Further headers of each request; `needed` as for a key.
std::vector<request_header> decode_headers(settings& from, const std::string& directory, bool needed);

}  // namespace kevo
