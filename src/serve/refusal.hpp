#pragma once
// A request that is not carried out: the HTTP status and the words for it.

#include <string>
#include <utility>

namespace kevo::serve {

/// Thrown by what handles requests, and answered as {"error": {"code", "message", "hint"}}.
struct refusal {
  unsigned status = 400;
  std::string code;  ///< "usage", "input", "unauthorized", "not_found", "too_large", "busy", ...
  std::string message;
  std::string hint{};
  double retry_after_s = 0;  ///< [s] when another try may succeed; 0: not by waiting
};

}  // namespace kevo::serve
