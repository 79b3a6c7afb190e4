#include "src/plugins/ngrams.hpp"

namespace kevo {

source_embedding embedding_from(settings& from) {
  settings embedding = from.child_or_empty("embedding", "embedding of sources as hashed token n-grams");
  ngram_embedding ngrams;
  ngrams.dimensions = static_cast<std::size_t>(
      embedding.integer("dimensions", {.def = 256,
                                       .min = 1,
                                       .max = 65536,
                                       .unit = "numbers",
                                       .doc = "dimensions of the embedding of a source"}));
  ngrams.longest = static_cast<std::size_t>(
      embedding.integer("longest", {.def = 3,
                                    .min = 1,
                                    .max = 16,
                                    .unit = "tokens",
                                    .doc = "maximum length of the token n-grams that are counted"}));
  return embedding_of(ngrams);
}

}  // namespace kevo
