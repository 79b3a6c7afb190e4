#pragma once
// Requests that a server refuses: what is to be changed so that it does not.

#include <cstdint>
#include <string>

namespace kevo {

/// A request, as far as it explains a refusal.
struct refused_request {
  std::string url;              ///< to which it was sent
  std::string model;            ///< name of the model on the server
  std::int64_t tokens = 0;      ///< estimate of the prompt's length
  std::int64_t max_tokens = 0;  ///< length of the reply that was allowed
};

/// What can be done after an answer with this HTTP status, as the end of a sentence that quotes the answer;
/// empty if nothing is known. `said`: the words of the answer; `location`: its header of this name.
std::string cure_of(unsigned status, const std::string& said, const std::string& location,
                    const refused_request& request);

}  // namespace kevo
