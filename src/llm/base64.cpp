#include "src/llm/base64.hpp"

#include <cstddef>

#include <openssl/evp.h>

namespace kevo {

std::string base64(std::string_view bytes) {
  // By the block of a multiple of three, because OpenSSL counts in int.
  constexpr std::size_t block = 3 << 20;
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += block) {
    const std::string_view part = bytes.substr(at, block);
    const std::size_t before = text.size();
    text.resize(before + (part.size() + 2) / 3 * 4 + 1);  // OpenSSL ends it with a null character
    const int written =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data() + before),
                        reinterpret_cast<const unsigned char*>(part.data()), static_cast<int>(part.size()));
    text.resize(before + static_cast<std::size_t>(written));
  }
  return text;
}

}  // namespace kevo
