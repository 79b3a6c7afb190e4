// Sums and inputs of fewer digits, and sums without their smallest terms.
#include <string>

#include "operators/mutants/mutator.hpp"

namespace kevo::mutants {

using rewriting::node;
using rewriting::node_kind;

namespace {

// Eleven significant bits, as half precision and TF32 have; vectors element by element.
constexpr helper rounded = {"kevo_rounded", R"(
template <class T>
static inline T kevo_rounded(T x) {
  unsigned words[sizeof(T) / 4];
  __builtin_memcpy(words, &x, sizeof(T));
  for (unsigned& w : words) w = (w + 0xfffu + ((w >> 13) & 1u)) & ~0x1fffu;
  __builtin_memcpy(&x, words, sizeof(T));
  return x;
}
)"};
constexpr helper single_precision = {"kevo_single", R"(
template <class T>
static inline T kevo_single(T x) {
  double all[sizeof(T) / 8];
  __builtin_memcpy(all, &x, sizeof(T));
  for (double& one : all) one = static_cast<float>(one);
  __builtin_memcpy(&x, all, sizeof(T));
  return x;
}
)"};
constexpr helper large_terms = {"kevo_large", R"(
template <class T, class S>
static inline T kevo_large(T x, S sum) {
  return (x < 0 ? -x : x) < 1e-4f * (sum < 0 ? -sum : sum) ? T(0) : x;
}
)"};

bool is_double(const std::string& type) {
  return type.find("double") != std::string::npos;
}

bool is_vector(const std::string& type) {
  return type.find("vector_size") != std::string::npos;
}

void look_at_addition(mutator& to, const node& one) {
  const node& sum = one.children[0];
  if (!is_real(sum.type) || rewriting::operator_of(to.in, one) != "+=") return;
  const std::string left = to.text_of(sum);
  const std::string term = to.text_of(one.children[1]);
  const helper& by = is_double(sum.type) ? single_precision : rounded;
  to.replace("accumulation",
             is_double(sum.type) ? "a sum is rounded to float" : "a sum is rounded to 11 significant bits",
             one, left + " = " + std::string(by.name) + "(" + left + " + (" + term + "))", {to.defining(by)});
  if (is_vector(sum.type) || is_vector(one.children[1].type)) return;
  to.replace("smallest terms", "terms below 1e-4 of the sum are left out", one.children[1],
             "kevo_large(" + term + ", " + left + ")", {to.defining(large_terms)});
}

}  // namespace

void narrow_sums(mutator& to) {
  visit_all(to.in, [&](const node& one) {
    if (one.kind == node_kind::binary) look_at_addition(to, one);
    if (one.kind == node_kind::subscript && one.type == "const float" && !is_fixed(to, one.children[1]))
      to.replace("operand", "an input is rounded to 11 significant bits", one,
                 "kevo_rounded(" + to.text_of(one) + ")", {to.defining(rounded)});
  });
}

}  // namespace kevo::mutants
