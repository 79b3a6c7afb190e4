#pragma once
// Embeddings: programs as points, so that archives and rankers can speak of distances between sources.

#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/detail/fnv.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// From a program to a point of `dimensions` numbers. Must be a function of the program alone. Thread-safety
/// is that of the callable.
struct source_embedding {
  std::size_t dimensions = 0;
  std::function<std::vector<double>(const program&)> embed;
};

/// Calls `each(token)` for every token of a source: words, numbers, single other characters. Blanks and the
/// comments of C and C++ are none, so that they make no difference. Linear.
template <class Each>
void for_each_token(std::string_view text, Each each) {
  const auto word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.substr(0, 2) == "//" || rest.substr(0, 2) == "/*") {
      const bool line = rest[1] == '/';
      const std::size_t end = rest.find(line ? "\n" : "*/", 2);
      if (end == std::string_view::npos) return;
      at += end + (line ? 1 : 2);
    } else if (std::isspace(static_cast<unsigned char>(rest[0])) != 0) {
      ++at;
    } else {
      std::size_t length = 1;
      while (word(rest[0]) && length < rest.size() && word(rest[length])) ++length;
      each(rest.substr(0, length));
      at += length;
    }
  }
}

/// Hashed token n-grams (feature hashing: Weinberger et al., "Feature hashing for large scale multitask
/// learning", ICML 2009): runs of 1 .. `longest` tokens are counted, with a sign from their hash, at a place
/// from their hash; counts count by their logarithm, and the point has length 1. Equal token sequences have
/// distance 0, programs without a common run about sqrt(2). Local, deterministic, some microseconds a
/// kilobyte. `longest` and `dimensions` are kevo's choices.
struct ngram_embedding {
  std::size_t dimensions = 256;
  std::size_t longest = 3;

  std::vector<double> operator()(const program& p) const {
    std::vector<double> point(dimensions);
    std::vector<std::uint64_t> recent;  // hashes of the last tokens
    for (const source_file& file : p.files) {
      recent.clear();
      for_each_token(file.text, [&](std::string_view token) {
        recent.push_back(detail::fnv1a(token));
        std::uint64_t run = 0;
        for (std::size_t n = 1; n <= longest && n <= recent.size(); ++n) {
          run = mix(run * 31 + recent[recent.size() - n]);
          point[run % dimensions] += (run >> 63U) != 0 ? 1 : -1;
        }
      });
    }
    double length = 0;
    for (double& x : point) {
      x = x < 0 ? -std::log1p(-x) : std::log1p(x);
      length += x * x;
    }
    if (length > 0) {
      for (double& x : point) x /= std::sqrt(length);
    }
    return point;
  }

 private:
  static std::uint64_t mix(std::uint64_t x) {  // the finalizer of SplitMix64
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
  }
};

/// An embedding as a value. Any callable that has `dimensions` will do.
template <class Embedding>
source_embedding embedding_of(Embedding one) {
  const std::size_t dimensions = one.dimensions;
  return {dimensions, std::move(one)};
}

}  // namespace kevo
