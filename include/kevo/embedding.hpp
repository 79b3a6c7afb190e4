#pragma once
// Embeddings: they map programs to points, so that archives, rankers and filters can use distances between
// sources.

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

/// Maps a program to a point. The point must depend on the program alone. `embed` may be called from several
/// threads at once if the callable allows it.
struct source_embedding {
  std::size_t dimensions = 0;                                ///< number of coordinates of every point
  std::function<std::vector<double>(const program&)> embed;  ///< returns the point of a program
};

/// Calls `each(token)` for every token of a source. A token is a run of letters, digits, '_' and '.', or any
/// other single character. White space and the comments of C and C++ are skipped, so they make no difference.
/// Linear in the length of the text.
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

/// Embedding by hashed token n-grams (feature hashing: Weinberger et al., "Feature hashing for large scale
/// multitask learning", ICML 2009). Every run of 1 to `longest` consecutive tokens adds +1 or -1 to one
/// coordinate; its hash determines the sign and the coordinate. Each sum x is then replaced by
/// sign(x) log(1 + |x|), and the point is scaled to length 1. Programs with equal token sequences have
/// distance 0; programs without a common run have a distance of about sqrt(2). Deterministic; needs no
/// service; takes some microseconds per kilobyte. The defaults of `longest` and `dimensions` are kevo's
/// choices.
struct ngram_embedding {
  std::size_t dimensions = 256;  ///< number of coordinates of a point
  std::size_t longest = 3;       ///< [tokens] maximum length of a run

  /// The point of a program. O(length of the source * longest). Thread-safe.
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
  static std::uint64_t mix(std::uint64_t x) {  // the finalizer of the generator SplitMix64
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
  }
};

/// Makes a source_embedding from any callable that has a member `dimensions`.
template <class Embedding>
source_embedding embedding_of(Embedding one) {
  const std::size_t dimensions = one.dimensions;
  return {dimensions, std::move(one)};
}

}  // namespace kevo
