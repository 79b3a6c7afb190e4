// std::exp(x)  ->  exp_by_polynomial(x), which compilers and `vectorize` can run on vectors
#include "operators/rewrite/action.hpp"

namespace kevo::rewriting {
namespace {

constexpr const char* polynomial_text =
    R"(// exp(x) = 2^n exp(r) with |r| <= log(2) / 2, for -87 <= x <= 88. `words` are integers of the size of the numbers.
constexpr float exp_terms[8] = {1.0F, 1.0F, 1.0F / 2, 1.0F / 6, 1.0F / 24, 1.0F / 120, 1.0F / 720, 1.0F / 5040};
template <class words, class number>
inline void exp_by_polynomial(number& x) {
  x = x > -87.0F ? x : number{} - 87.0F;
  x = x < 88.0F ? x : number{} + 88.0F;
  // The sum with 1.5 * 2^23 is rounded to an integer, which stays in its low bits.
  const number shifted = x * 1.44269504F + 12582912.0F;
  const number n = shifted - 12582912.0F;
  const number r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  number p = number{} + exp_terms[exp_degree];
#pragma GCC unroll 8
  for (int i = exp_degree - 1; i >= 0; --i) p = p * r + exp_terms[i];
  const words exponent = (__builtin_bit_cast(words, shifted) + 127) << 23;
  x = p * __builtin_bit_cast(number, exponent);
}
inline float exp_by_polynomial(float x) {
  exp_by_polynomial<int>(x);
  return x;
}

)";

bool is_exp(const node& n) {
  return n.kind == node_kind::call && (n.name == "exp" || n.name == "expf") && n.type == "float" &&
         n.children.size() == 2;
}

}  // namespace

std::vector<site> approximate_sites(const kernel& of) {
  if (of.in.text.find("exp_by_polynomial") != std::string::npos) return {};
  for (const auto& place : of.loops) {
    const node* found = nullptr;
    walk(*place.function, [&](const node& n) {
      if (is_exp(n) && found == nullptr) found = &n;
      return true;
    });
    if (found != nullptr) return {{0, found}};
  }
  return {};
}

std::string approximate(const kernel& of, const site&, rng& random) {
  changes all;
  for (const node& item : of.in.items) {
    walk(item, [&](const node& n) {
      if (is_exp(n)) all.replace(n.children[0].begin, n.children[0].end, "exp_by_polynomial");
      return true;
    });
  }
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top,
              tunable_line("exp_degree", 6 + static_cast<int>(random.below(2)), "5, 6, 7") + polynomial_text);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
