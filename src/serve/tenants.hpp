#pragma once
// Who may use a service: tenants with their tokens, and how many requests each may make.

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace kevo::serve {

/// The tenants of a service. Thread-safe.
class tenants {
 public:
  /// No tokens: everybody is the tenant "local".
  /// @param requests_per_s that a tenant may make in the long run, in bursts of twice as many; 0: any number
  explicit tenants(double requests_per_s = 0) : rate_(requests_per_s) {}

  /// Reads a file with a line `NAME TOKEN` for each token; empty lines and lines that begin with # are
  /// skipped. A tenant may have several tokens. The file must not be readable by other users.
  /// @throws kevo::error (input) with file and line
  void load(const std::string& file);

  bool needs_token() const { return !tokens_.empty(); }
  /// The tenant of a request with this `Authorization` header. The comparison takes the same time for every
  /// wrong token of a length. @throws refusal (401)
  std::string tenant_of(std::string_view authorization) const;
  /// Counts a request. @throws refusal (429) if the tenant has made too many
  void admit(const std::string& tenant);

 private:
  struct known {
    std::string name;
    std::string token;
  };
  struct bucket {
    double level = 0;  ///< requests that may be made now
    std::chrono::steady_clock::time_point filled;
  };
  std::vector<known> tokens_;
  double rate_ = 0;
  std::mutex guard_;
  std::map<std::string, bucket> buckets_;
};

}  // namespace kevo::serve
