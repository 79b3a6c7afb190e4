#pragma once
// A client of evaluation servers (`kevo serve`), which may go away and come back.

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>

#include "src/llm/url.hpp"
#include "src/remote/protocol.hpp"

namespace kevo::remote {

/// Where evaluations are made, and how patiently they are waited for.
struct client_settings {
  std::vector<std::string> urls;  ///< "http://host:port"; at least one
  std::string token;              ///< sent as `Authorization: Bearer`; empty: none
  std::string ca_file;            ///< certificates to trust beside the system's
  double wait_s = 30;             ///< [s] that a request waits for its result before it is sent again
  double give_up_s = 0;           ///< [s] without any server that answers, after which it throws; 0: never
  /// A server that ends while it is at work on one submission so often is not followed by another: the
  /// program may be what ends them. 0: any number.
  std::size_t most_losses = 0;
  /// The addresses are those of a proxy. What it answers in words of its own ("404 not found", while it knows
  /// no server) says nothing of the submission.
  bool through_proxy = false;
};

/// What became of a submission.
struct answered {
  /// Final: done, failed or expired. A submission that a server refuses (no such task, wrong token) is a
  /// failed one with the error code `input`.
  state said;
  std::string url;
  double wall_s = 0;  ///< [s] from the call to the answer
  double away_s = 0;  ///< [s] of these without a server that answered
  std::size_t interruptions = 0;
  std::string trouble;  ///< what the last interruption was
};

/// Sends a submission to one of the servers until it has a final state. Where that server cannot be reached
/// or is full, the next one is tried, and if none answers, they are tried again until one does. A submission
/// is the same each time it is sent, so that no server evaluates it twice. Thread-safe.
class client {
 public:
  /// @throws kevo::error (input): an address is wrong
  explicit client(client_settings settings);

  /// @param first number of the server that is asked first, modulo their number
  /// @param waiting told while no server answers; may be empty
  /// @throws kevo::error: environment (no server for `give_up_s`), interrupted
  answered evaluate(const submission& what, std::size_t first, const std::stop_token& stop,
                    const wait_listener& waiting) const;
  const client_settings& settings() const { return settings_; }

 private:
  struct attempt;
  client_settings settings_;
  std::vector<url> addresses_;
};

}  // namespace kevo::remote
