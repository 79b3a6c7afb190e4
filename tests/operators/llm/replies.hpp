#pragma once
// Replies of a scripted language model, and what an operator made of them.

#include <string>
#include <variant>

#include <kevo/vary.hpp>

namespace llm_test {

using namespace kevo;

/// A reply with a whole program whose function has this body.
inline std::string code(const std::string& body) {
  return "Summary: faster\n\n```cpp\n#include <cstdint>\nextern \"C\" void run(const float* X, float* Y, "
         "int64_t N) {\n" +
         body + "\n}\n```\n";
}
/// A reply with a program that is right.
inline const std::string good = code("  for (int64_t i = 0; i < N; ++i) Y[i] = X[i] + X[i];");

/// The proposed program, or "none: " and the reason why there is none.
inline std::string text_of(const variation_result& r) {
  const auto* p = std::get_if<proposal>(&r);
  return p != nullptr ? std::string(p->program.text()) : "none: " + std::get<no_proposal>(r).reason;
}

}  // namespace llm_test
