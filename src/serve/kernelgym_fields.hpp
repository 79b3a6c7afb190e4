#pragma once
// The fields of KernelGYM's requests and results, and what of kevo's they mean. Include in .cpp files only.

#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "src/remote/protocol.hpp"
#include "src/serve/broker.hpp"

namespace kevo::serve {

/// One request in KernelGYM's fields, with its defaults.
struct gym_request {
  std::string task_id;
  remote::submission what;
  boost::json::array ignored;  ///< names of fields that were given and have no effect here
};

/// @throws refusal (400, VALIDATION_ERROR)
[[noreturn]] void gym_wrong(const std::string& why);

/// The text at `key` of `o`, of `least` to `most` bytes; `otherwise` if it is missing. @throws refusal (400)
std::string gym_text(const boost::json::object& o, std::string_view key, std::size_t least, std::size_t most,
                     const std::optional<std::string>& otherwise);

/// "2026-01-31T12:00:00Z".
std::string iso_time(double unix_s);

/// Reads the fields of POST /evaluate. @throws refusal (400)
gym_request gym_request_from(const boost::json::object& o);

/// KernelGYM's word for where a task is: its clients poll until it is "completed", "failed" or "timeout".
std::string_view gym_status(const job& work);

/// The result of a task in KernelGYM's fields; what does not exist is null. `task_id`: the client's name of
/// it.
boost::json::object gym_result(const ticket_view& seen, const std::string& task_id,
                               const boost::json::array& ignored);

}  // namespace kevo::serve
