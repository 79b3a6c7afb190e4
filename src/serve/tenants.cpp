#include "src/serve/tenants.hpp"

#include <algorithm>
#include <sstream>
#include <sys/stat.h>

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <kevo/error.hpp>

#include "src/base/text/text_file.hpp"
#include "src/serve/refusal.hpp"

namespace kevo::serve {
namespace {

constexpr std::size_t shortest_token = 16;

bool is_word(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

/// Digests have one length, so that a comparison says nothing of a token's length either.
std::string digest(std::string_view text) {
  std::string out(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(out.data()));
  return out;
}

refusal unauthorized(const char* message) {
  return {401, "unauthorized", message, "send the header Authorization: Bearer TOKEN"};
}

}  // namespace

void tenants::load(const std::string& file) {
  const std::string text = read_text_file(file, std::size_t{1} << 20U);
  struct stat about {};
  if (::stat(file.c_str(), &about) == 0 && (about.st_mode & 0077U) != 0)
    throw error(error_code::input, "other users can read this file of tokens", {file}, "chmod 600 " + file);
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string name;
    std::string token;
    std::string more;
    words >> name >> token >> more;
    if (name.empty() || name.front() == '#') continue;
    if (!is_word(name) || !is_word(token) || !more.empty())
      throw error(error_code::input, "expected a tenant's name and a token", {file, number, 0, {}},
                  "one line for each token: NAME TOKEN");
    if (token.size() < shortest_token)
      throw error(error_code::input, "this token is shorter than 16 characters", {file, number, 0, {}},
                  "make one with: openssl rand -hex 32");
    tokens_.push_back({name, digest(token)});
  }
  if (tokens_.empty())
    throw error(error_code::input, "this file contains no tokens", {file},
                "write a line NAME TOKEN for each token");
}

std::string tenants::tenant_of(std::string_view authorization) const {
  if (tokens_.empty()) return "local";
  constexpr std::string_view scheme = "Bearer ";
  const bool bearer = authorization.size() > scheme.size() &&
                      std::equal(scheme.begin(), scheme.end(), authorization.begin(),
                                 [](char a, char b) { return (a | 0x20) == (b | 0x20); });
  if (!bearer) throw unauthorized("this service needs a token");
  const std::string given = digest(authorization.substr(scheme.size()));
  const known* found = nullptr;
  for (const auto& each : tokens_) {  // all of them, whichever is right
    if (CRYPTO_memcmp(each.token.data(), given.data(), given.size()) == 0) found = &each;
  }
  if (found == nullptr) throw unauthorized("this token is not known");
  return found->name;
}

void tenants::admit(const std::string& tenant) {
  if (rate_ <= 0) return;
  const std::scoped_lock lock(guard_);
  const auto now = std::chrono::steady_clock::now();
  const double most = std::max(2 * rate_, 1.0);
  auto [place, fresh] = buckets_.try_emplace(tenant, bucket{most, now});
  bucket& its = place->second;
  its.level = std::min(most, its.level + rate_ * std::chrono::duration<double>(now - its.filled).count());
  its.filled = now;
  if (its.level < 1)
    throw refusal{429, "busy", "too many requests of this tenant", "send fewer requests a second", 1};
  its.level -= 1;
}

}  // namespace kevo::serve
