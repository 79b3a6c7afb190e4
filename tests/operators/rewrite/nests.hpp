#pragma once
// What the tests of `rewrite` share: the parser, and loop nests that a generator of random numbers writes.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/random.hpp>

#include "operators/rewrite/parser.hpp"
#include "tests/support/skip.hpp"

namespace rewrite_test {

using namespace kevo::rewriting;

// The parser, or an empty text where this kevo was built without it.
inline std::string parser_or_skip() {
  try {
    return parser_program();
  } catch (const kevo::error& e) {
    kevo_test::skip(e.what());
    return {};
  }
}

// With the smallest size above one of each tunable, so that small arrays fill vectors, blocks and copies.
inline std::string with_small_sizes(std::string text) {
  const std::string mark = ";  // kevo: {";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + mark.size())) {
    std::size_t from = at + mark.size();
    std::size_t to = text.find_first_of(",}", from);
    if (text.substr(from, to - from) == "1" && text[to] == ',') {
      from = to + 2;
      to = text.find_first_of(",}", from);
    }
    const std::size_t value = text.rfind(' ', at) + 1;
    const std::string smallest = text.substr(from, to - from);
    text.replace(value, at - value, smallest);
    at = text.find(mark, value);
  }
  return text;
}

inline const std::string head =
    "#include <cmath>\n#include <cstdint>\n\nextern \"C\" void run(const float* A, const float* B, float* C, "
    "int64_t M, int64_t N) {\n";

// Matrix products: M by N, over M.
inline const std::string product =
    head +
    "  for (int64_t i = 0; i < M; ++i) {\n    for (int64_t j = 0; j < N; ++j) {\n      float sum = 0;\n"
    "      for (int64_t k = 0; k < M; ++k) sum += A[i * M + k] * B[k * N + j];\n      C[i * N + j] = sum;\n  "
    "  }\n  }\n}\n";
inline const std::string in_place =
    head +
    "  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;\n"
    "  for (int64_t i = 0; i < M; ++i) {\n    for (int64_t k = 0; k < M; ++k) {\n"
    "      for (int64_t j = 0; j < N; ++j) C[i * N + j] += A[i * M + k] * B[k * N + j];\n    }\n  }\n}\n";

// Loop nests over the arrays of `head`, as people and other operators may write them.
struct nests {
  kevo::rng random;

  std::string pick(std::vector<std::string> from) { return from[random.below(from.size())]; }
  std::string index(int depth) {
    const std::string i(1, "ijklm"[depth > 0 ? random.below(static_cast<std::uint64_t>(depth)) : 0]);
    const std::string j(1, "ijklm"[depth > 0 ? random.below(static_cast<std::uint64_t>(depth)) : 0]);
    if (depth == 0) return "0";
    return pick({i, i + " * N + " + j, "(" + i + " + 1) * N + " + j, i + " + " + j + " * M", i + " / 2",
                 i + " % 7", i + " + 1", "static_cast<std::size_t>(" + i + ")", "N - 1 - " + i, i + " * 3"});
  }
  std::string value(int depth, int size) {
    if (size == 0)
      return pick(
          {"1.0F", "A[" + index(depth) + "]", "B[" + index(depth) + "]", "s", "C[" + index(depth) + "]"});
    const std::string a = value(depth, size - 1);
    const std::string b = value(depth, size - 1);
    return pick({a + " + " + b, a + " * " + b, "(" + a + " - " + b + ")", a + " / (" + b + ")",
                 "std::exp(" + a + ")", "(" + a + " > " + b + " ? " + a + " : " + b + ")",
                 "std::max<float>(" + a + ", " + b + ")", "-(" + a + ")"});
  }
  std::string statement(int depth, int budget) {
    switch (random.below(budget > 0 && depth < 5 ? 9 : 5)) {
      case 0:
        return "C[" + index(depth) + "] = " + value(depth, 1) + ";\n";
      case 1:
        return "C[" + index(depth) + "] += " + value(depth, 2) + ";\n";
      case 2:
        return "s " + pick({"+=", "*=", "-=", "="}) + " " + value(depth, 1) + ";\n";
      case 3:
        return "{ float t" + std::to_string(depth) + " = " + value(depth, 1) + "; C[" + index(depth) +
               "] = t" + std::to_string(depth) + "; }\n";
      case 4:
        return "if (" + value(depth, 0) + " > s) s = " + value(depth, 0) + ";\n";
      case 5:
        return "if (" + std::string(1, "ijklm"[depth > 0 ? depth - 1 : 0]) +
               pick({" == 0", " < N - 1", " == M - 1"}) + ") {\n" +
               (depth > 0 ? statement(depth, budget - 1) : "") + "} else {\n" +
               (depth > 0 ? statement(depth, budget - 1) : "") + "}\n";
      default:
        break;
    }
    const std::string i(1, "ijklm"[depth]);
    std::string text = pick({"", "", "#pragma GCC unroll 4\n", "  // a comment; with } in it\n"});
    text += "for (" + pick({"int64_t ", "int ", "std::size_t "}) + i + " = " +
            pick({"0", "0", "1", "M / 2"}) + "; " + i +
            pick({" < N", " < M", " < M * N / 4", " <= N", " < 8", " + 4 <= N"}) + "; " +
            pick({"++" + i, i + "++", i + " += 4", i + " += 2"}) + ") ";
    const std::uint64_t count = 1 + random.below(3);
    text += "{\n";
    for (std::uint64_t n = 0; n < count; ++n) text += statement(depth + 1, budget - 1);
    return text + "}\n";
  }
  // Nests in which no iteration needs what another one writes, but for sums, products and maxima: whatever an
  // action makes of one has to compute the same.
  std::string calm_index(const std::vector<std::string>& loops) {
    const std::string i = pick(loops);
    const std::string j = pick(loops);
    return pick({i, i + " * N + " + j, i + " * M + " + j, i + " + " + j, i + " + 1", i + " * 3 + 1",
                 i + " / 2", "(" + i + " + 1) * N + " + j, "N + " + i,
                 "static_cast<std::size_t>(" + i + ") * N + " + j});
  }
  std::string calm_value(const std::vector<std::string>& loops, int size) {
    if (size == 0) return pick({"A", "B"}) + "[" + calm_index(loops) + "]";
    const std::string a = calm_value(loops, size - 1);
    const std::string b = calm_value(loops, size - 1);
    return pick({a + " + " + b, a + " * " + b, a + " * " + b, "(" + a + " - " + b + ")",
                 a + " / (3.0F + " + b + " * " + b + ")", "std::exp(" + a + ")",
                 "(" + a + " > " + b + " ? " + a + " : " + b + ")"});
  }
  std::string for_line(const std::string& index, const std::string& from, const std::string& below) {
    const std::string type = pick({"int64_t", "int64_t", "int", "std::size_t"});
    return "for (" + type + " " + index + " = " + from + "; " + index + " < " + below + "; ++" + index +
           ") {\n";
  }
  // Collects something in a variable in one or two further loops.
  std::string calm_sum(std::vector<std::string> loops, const std::string& name) {
    const bool largest = random.chance(0.3);
    std::string text = "float " + name + " = " + (largest ? "-1000" : pick({"0", "1", "A[0]"})) + ";\n";
    const int more = 1 + static_cast<int>(random.below(2));
    for (int n = 0; n < more; ++n) {
      const std::string outer = loops.back();
      loops.push_back(name + std::string(1, "kl"[n]));
      text += for_line(loops.back(), pick({"0", "0", "0", "1", outer}),
                       pick({"M", "N", "N", "M / 2 + 1", "5", "M + N"}));
    }
    const std::string value = calm_value(loops, 1);
    if (largest) {
      text += pick({name + " = " + value + " > " + name + " ? " + value + " : " + name + ";\n",
                    "if (" + value + " > " + name + ") " + name + " = " + value + ";\n",
                    name + " = std::max<float>(" + name + ", " + value + ");\n"});
    } else {
      text += name + " " + pick({"+=", "+=", "-="}) + " " + value + ";\n";
    }
    return text + std::string(static_cast<std::size_t>(more), '}') + "\n";
  }
  std::string calm_source() {
    std::string text = "#include <algorithm>\n#include <cstddef>\n" + head;
    const std::string other = pick({"N", "N", "M"});
    if (random.chance(0.4))
      text += "for (int64_t z = 0; z < M * N; ++z) C[z] = " + pick({"0", "B[z]"}) + ";\n";
    text += for_line("i", pick({"0", "0", "M / 3"}), pick({"M", "M", "M - 1"}));
    const bool after = random.chance(0.5);
    if (random.chance(0.3)) text += calm_sum({"i"}, "r");
    const bool row = text.find("float r") != std::string::npos;
    if (random.chance(0.3)) text += "const float* x = A + i * N;\n";
    const bool pointer = text.find("float* x") != std::string::npos;
    text += for_line("j", "0", pick({"N", "N", "N - 1", "N / 2"}));
    const std::string element = "C[i * N + j]";
    const std::string more =
        (row && random.chance(0.7) ? std::string(" + r") : std::string()) + (pointer ? " + x[j]" : "");
    switch (random.below(4)) {
      case 0:
        text += calm_sum({"i", "j"}, "s") + element + " = s" + more + ";\n";
        break;
      case 1:
        text += element + " = 0;\n" + for_line("k", pick({"0", "j"}), pick({"M", "N", "7"})) + element +
                " += " + calm_value({"i", "j", "k"}, 1) + more + ";\n}\n";
        break;
      case 2:
        text += "if (" + pick({"j == 0", "i == 0 || j == N - 1", "j < N - 1", "A[j] > B[i]"}) + ") {\n" +
                element + " = " + calm_value({"i", "j"}, 1) + ";\n} else {\n" + element + " = " +
                calm_value({"i", "j"}, 2) + more + ";\n}\n";
        break;
      default:
        text += "float t = " + calm_value({"i", "j"}, 1) + ";\nif (t < 0) t = -t;\n" + element + " = t" +
                more + ";\n";
    }
    text += "}\n";
    if (after) text += for_line("j", "0", "N") + "C[i * N + j] *= 2;\n}\n";
    return text + "}\n}\n";
  }
  std::string source() {
    std::string text = "#include <algorithm>\n" + head + "  float s = 0;\n";
    for (int n = 0; n < 3; ++n) {
      std::string one = statement(0, 4);
      if (one.substr(0, 2) == "if") one.clear();
      text += one;
    }
    return text + "  C[0] = s;\n}\n";
  }
};

// The trees of all sources, which must be without errors.
inline std::vector<parsed_source> trees_of(const std::string& parser,
                                           const std::vector<std::string>& sources) {
  std::vector<parsed_source> result;
  for (std::size_t from = 0; from < sources.size(); from += 200) {
    const std::size_t to = std::min(from + 200, sources.size());
    const std::vector<std::string> batch(sources.begin() + static_cast<std::ptrdiff_t>(from),
                                         sources.begin() + static_cast<std::ptrdiff_t>(to));
    auto trees = parse(parser, batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      REQUIRE_MESSAGE(trees[i], "no tree\n" << batch[i]);
      CHECK_MESSAGE(trees[i]->errors == 0, trees[i]->first_error << "\n" << batch[i]);
      result.push_back(*std::move(trees[i]));
    }
  }
  return result;
}

}  // namespace rewrite_test
