#pragma once
// Requests to language models as files, answered by files: a person, or any program, is the model.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <kevo/llm/chat.hpp>

namespace kevo {

/// Which call it is. Calls of one operator in one turn are numbered from 0, those of earlier sessions
/// included, so that a repeated turn comes to the same files.
struct awaited_call {
  std::uint64_t job = 0;
  std::string operator_name;
  std::uint64_t number = 0;
};

/// Thread-safe. Files are in one folder: JOB-OPERATOR-NUMBER.request.json holds the request as a server would
/// get it, JOB-OPERATOR-NUMBER.request.md its messages for people. JOB-OPERATOR-NUMBER.reply.json, .reply.md
/// or .reply.txt beside them is the reply (see reply_of_program).
class awaited_replies {
 public:
  /// From now on files are in `folder`, which is made when the first request is written.
  void use(std::string folder);
  /// The number of the next call of this turn and operator.
  std::uint64_t next_number(std::uint64_t job, const std::string& operator_name);
  /// The reply, if its file is there; else the request is written and awaited.
  /// @throws kevo::error (environment) if a file cannot be read or written
  std::optional<chat_reply> answer(const awaited_call& call, const std::string& request_json,
                                   const chat_request& request);
  /// Whether a turn waits for a reply.
  bool awaits(std::uint64_t job) const;
  /// The files of the requests that wait for a reply, in order.
  std::vector<std::string> requests() const;

 private:
  mutable std::mutex guard_;
  std::string folder_;
  std::map<std::pair<std::uint64_t, std::string>, std::uint64_t> numbers_;
  std::set<std::pair<std::uint64_t, std::string>> awaited_;  ///< job and file
};

}  // namespace kevo
