// timeout: 600
// once: actions keep*
#include "operators/rewrite/rewrite.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/annotation.hpp>
#include <kevo/error.hpp>

#include "operators/rewrite/action.hpp"
#include "operators/rewrite/parser.hpp"
#include "src/base/process/find_program.hpp"
#include "tests/operators/rewrite/apply.hpp"
#include "tests/operators/rewrite/nests.hpp"
#include "tests/support/shell.hpp"

namespace {

using namespace kevo::rewriting;
using namespace rewrite_test;

std::optional<parsed_source> parsed(const std::string& parser, const std::string& text) {
  return parse(parser, {text}).front();
}

// A kernel of three arrays: run(A, B, C, M, N), where C has M * N elements and A and B at least as many.
using kernel_function = void (*)(const float*, const float*, float*, std::int64_t, std::int64_t);

std::vector<float> results_of(const std::string& text) {
  const shell::scratch folder;
  shell::write_file(folder / "kernel.cpp", text);
  const auto built = shell::run({kevo::find_program("g++"), "-std=c++20", "-O0", "-w", "-fopenmp-simd",
                                 "-shared", "-fPIC", "-o", "kernel.so", "kernel.cpp"},
                                folder.string());
  CHECK_MESSAGE(built.code == 0, built.err << "\n" << text);
  if (built.code != 0) return {};
  void* loaded = ::dlopen((folder / "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(loaded != nullptr, ::dlerror());
  const auto run = reinterpret_cast<kernel_function>(::dlsym(loaded, "run"));
  const bool is_there = run != nullptr;
  REQUIRE(is_there);
  std::vector<float> all;
  for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 5}, {7, 33}, {24, 50}}) {
    std::vector<float> a(4096), b(4096), c(4096, -7.0F);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>((i * 37) % 64) / 64.0F;
      b[i] = static_cast<float>((i * 53) % 128) / 32.0F - 2.0F;
    }
    run(a.data(), b.data(), c.data(), rows, columns);
    all.insert(all.end(), c.begin(), c.end());
  }
  ::dlclose(loaded);
  return all;
}

void check_same(const std::string& parent, const std::string& child, const std::string& what) {
  static std::map<std::string, std::vector<float>> known;  // parents have many children
  if (known.count(parent) == 0) known[parent] = results_of(parent);
  const auto& expected = known[parent];
  const auto found = results_of(child);
  REQUIRE(expected.size() == found.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(std::abs(expected[i] - found[i]) <= 2e-5F * (1.0F + std::abs(expected[i])))) ++different;
  }
  CHECK_MESSAGE(different == 0, what << ": " << different << " elements differ\n" << child);
}

const std::string in_memory =
    head +
    "  for (int64_t i = 0; i < M; ++i) {\n    for (int64_t j = 0; j < N; ++j) {\n      C[i * N + j] = 0;\n"
    "      for (int64_t k = 0; k < M; ++k) C[i * N + j] += A[i * M + k] * B[k * N + j];\n    }\n  }\n}\n";
const std::string row_softmax =
    head +
    "  for (int64_t i = 0; i < M; ++i) {\n    const float* x = A + i * N;\n    float largest = x[0];\n"
    "    for (int64_t j = 1; j < N; ++j) largest = x[j] > largest ? x[j] : largest;\n    float sum = 0;\n"
    "    for (int64_t j = 0; j < N; ++j) sum += std::exp(x[j] - largest);\n"
    "    for (int64_t j = 0; j < N; ++j) C[i * N + j] = std::exp(x[j] - largest) / sum;\n  }\n}\n";
const std::string stencil = head +
                            "  for (int64_t i = 0; i < M; ++i) {\n    for (int64_t j = 0; j < N; ++j) {\n"
                            "      if (i == 0 || i == M - 1 || j == 0 || j == N - 1) {\n        C[i * N + j] "
                            "= A[i * N + j];\n      } else {\n"
                            "        C[i * N + j] = 0.25F * (A[(i - 1) * N + j] + A[(i + 1) * N + j] + A[i * "
                            "N + j - 1] + A[i * N + j + 1]);\n"
                            "      }\n    }\n  }\n}\n";
const std::string branches =
    head +
    "  for (int64_t i = 0; i < M; ++i) {\n    float least = 100;\n    float total = 0;\n    for (int64_t j = "
    "0; j < N; ++j) {\n"
    "      float x = B[i * N + j];\n      if (x < 0) x = -x;\n      if (x < least) least = x;\n"
    "      total += x * std::sqrt(A[i] + 1);\n    }\n    for (int64_t j = 0; j < N; ++j) C[i * N + j] = A[j] "
    "* least;\n"
    "    for (int64_t k = 0; k < N; ++k) C[i * N + k] += total;\n  }\n}\n";

kevo::variation_request request_of(const std::string& language, const std::string& text) {
  kevo::candidate_snapshot parent;
  parent.program =
      std::make_shared<const kevo::program>(kevo::single_file_program(language, "kernel.cpp", text));
  kevo::variation_request request;
  request.parents.push_back(std::make_shared<const kevo::candidate_snapshot>(std::move(parent)));
  return request;
}

}  // namespace

TEST_CASE("a malformed tree is nothing, and so is one that does not fit its text") {
  CHECK_FALSE(read_tree("x", ""));
  CHECK_FALSE(read_tree("x", "errors zero\t\n"));
  CHECK_FALSE(read_tree("x", "errors 0\t\nblock 0 1 -1\t\t\n"));
  CHECK_FALSE(read_tree("x", "errors 0\t\nblock 0 2 -1\t\t\nend\n"));
  CHECK_FALSE(read_tree("x", "errors 0\t\nend\n"));
  CHECK_FALSE(read_tree("x", "errors 0\t\nnonsense 0 1 -1\t\t\nend\n"));
  const auto good = read_tree("x;", "errors 0\t\nblock 0 2 -1\t\t\nname 0 1 5\tx\tint\nend\nend\n");
  REQUIRE(good);
  CHECK(good->items.front().children.front().name == "x");
}

TEST_CASE("actions keep what a kernel computes") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  struct expected {
    const char* action;
    const std::string& source;
    std::size_t nth;
  };
  const expected all[] = {
      {"interchange", product, 0},
      {"tile", product, 0},
      {"jam", product, 0},
      {"jam", product, 1},
      {"split", product, 0},
      {"vectorize", product, 1},
      {"vectorize", row_softmax, 0},
      {"unroll", product, 0},
      {"simd", row_softmax, 0},
      {"peel", stencil, 0},
      {"peel", stencil, 1},
      {"pack", product, 0},
      {"scalar", in_memory, 0},
      {"hoist", branches, 0},
      {"reciprocal", row_softmax, 0},
      {"approximate", row_softmax, 0},
      {"fuse", branches, 0},
      {"distribute", in_memory, 0},
      {"restrict", product, 0},
      {"prefetch", product, 0},
      {"select", branches, 0},
      {"select", stencil, 0},
  };
  for (const auto& one : all) {
    const std::string child = after(parser, one.source, one.action, one.nth);
    CHECK_MESSAGE(!child.empty(), std::string(one.action) << " has no place");
    if (child.empty()) continue;
    const auto again = parsed(parser, child);
    REQUIRE(again);
    CHECK_MESSAGE(again->errors == 0, again->first_error << "\n" << child);
    CHECK_NOTHROW(kevo::parse_annotations(child, "child"));
    check_same(one.source, child, one.action);
  }
}

TEST_CASE("actions keep what a kernel computes when they follow each other") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const auto check = [&](const std::string& source,
                         const std::vector<std::pair<const char*, std::size_t>>& steps) {
    std::string text = source;
    for (const auto& step : steps) {  // no binding: Clang 14 refuses one in the macro's lambda
      text = after(parser, text, step.first, step.second);
      REQUIRE_MESSAGE(!text.empty(), std::string(step.first) << " has no place");
    }
    check_same(source, text, "a sequence");
  };
  check(product, {{"vectorize", 1}, {"jam", 0}, {"jam", 0}});
  check(product, {{"tile", 0}, {"pack", 0}, {"vectorize", 0}});
  check(row_softmax, {{"approximate", 0}, {"vectorize", 1}, {"split", 0}, {"vectorize", 0}});
  check(stencil, {{"peel", 1}, {"vectorize", 0}});
}

TEST_CASE("what is read as vectors is packed and kept as vectors, wherever that is possible") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string vectors =
      with_small_sizes(after(parser, after(parser, product, "vectorize", 1), "jam", 1));
  REQUIRE(vectors.find("j_copy * lanes_j") != std::string::npos);
  const auto in = parsed(parser, vectors);
  const kernel of{*in, loops_of(*in), nullptr, 1};
  std::set<std::string> packed;
  for (const site& where : pack_sites(of)) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      kevo::rng random(seed);
      packed.insert(pack(of, where, random));
    }
  }
  CHECK(packed.size() >= 2);
  std::size_t of_vectors = 0;
  for (const auto& child : packed) {
    check_same(product, child, "pack");
    of_vectors += child.find("at_j(B_packed[") != std::string::npos ? 1 : 0;
  }
  CHECK(of_vectors > 0);
  const std::string sums = after(parser, in_place, "vectorize", 1);
  for (std::size_t nth = 0; nth < 3; ++nth) {
    const std::string child = after(parser, sums, "scalar", nth);
    if (!child.empty()) check_same(in_place, child, "scalar");
  }
}

TEST_CASE("what cannot be right is refused") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string prefix_sum = head + "  for (int64_t i = 1; i < N; ++i) C[i] = C[i - 1] + A[i];\n}\n";
  for (const char* name : {"vectorize", "split", "simd"}) CHECK(after(parser, prefix_sum, name, 0).empty());
  const std::string skewed = head +
                             "  for (int64_t i = 1; i < M; ++i) {\n    for (int64_t j = 0; j < N; ++j) C[i * "
                             "N + j] = C[(i - 1) * N + j + 1];\n  }\n}\n";
  CHECK(after(parser, skewed, "interchange", 0).empty());
  CHECK(after(parser, skewed, "jam", 0).empty());
  const std::string chained =
      head + "  float s = 0;\n  for (int64_t i = 0; i < N; ++i) { s = s * 0.5F + A[i]; C[i] = s; }\n}\n";
  for (const char* name : {"vectorize", "split", "simd"}) CHECK(after(parser, chained, name, 0).empty());
  const std::string apart = head +
                            "  for (int64_t i = 0; i < N; ++i) C[i] = A[i];\n  for (int64_t i = 0; i < N; "
                            "++i) C[i + 1] = C[i] * 2;\n}\n";
  CHECK(after(parser, apart, "fuse", 0).empty());
}

TEST_CASE("the memory of vectors is kept if they are local to the kernel") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string source = "#include <vector>\n" + head +
                             "  std::vector<float> sums(static_cast<std::size_t>(M * N));\n  "
                             "std::vector<float> copy(A, A + M * N);\n"
                             "  for (int64_t i = 0; i < M * N; ++i) sums[i] = copy[i] * 2;\n  for (int64_t i "
                             "= 0; i < M * N; ++i) C[i] = sums[i];\n}\n";
  check_same(source, after(parser, source, "keep", 0), "keep");
  const std::string both = after(parser, after(parser, source, "keep", 0), "keep", 0);
  CHECK(both.find("copy.assign(A, A + M * N);") != std::string::npos);
  check_same(source, both, "keep");
}

TEST_CASE("the operator proposes programs that parse, the same ones for the same random numbers") {
  if (parser_or_skip().empty()) return;
  kevo::rewrite op;
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    kevo::rng random(seed);
    kevo::rng again(seed);
    const auto result = op.vary(request_of("cpp", product), random);
    REQUIRE(std::holds_alternative<kevo::proposal>(result));
    const auto& made = std::get<kevo::proposal>(result);
    CHECK(made.program == std::get<kevo::proposal>(op.vary(request_of("cpp", product), again)).program);
    CHECK_NOTHROW(kevo::parse_annotations(made.program));
    texts.insert(std::string(made.program.text()));
  }
  CHECK(texts.size() > 3);
  kevo::rng random(1);
  op.only = {"interchange"};
  op.another_action = 0;
  const auto exchanged = op.vary(request_of("cpp", product), random);
  CHECK(std::get<kevo::proposal>(exchanged).summary == "interchange loop i in line 5");
  CHECK(std::holds_alternative<kevo::no_proposal>(op.vary(request_of("python", "x = 1"), random)));
  CHECK(std::holds_alternative<kevo::no_proposal>(op.vary(request_of("cpp", "int x;\n"), random)));
}

TEST_CASE("each action has a source file and a test that are named after it") {
  for (const action& one : actions()) {
    const std::string folder = one.language == action_language::cuda ? "cuda/" : "actions/";
    const std::string name = folder + std::string(one.name);
    CHECK_MESSAGE(std::filesystem::exists(KEVO_SOURCE_DIR "/operators/rewrite/" + name + ".cpp"), name);
    CHECK_MESSAGE(std::filesystem::exists(KEVO_SOURCE_DIR "/tests/operators/rewrite/" + name + ".test.cpp"),
                  name);
  }
}

TEST_CASE("hostile sources neither read files nor stop the parser for long") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const shell::scratch folder;
  shell::write_file(folder / "secret.hpp", "int found_in_the_secret;\n");
  const std::string path = (folder / "secret.hpp").string();
  int trees = 0;
  for (const std::string& include : {"#include \"" + path + "\"\n", "%:include \"" + path + "\"\n",
                                     "#define I \"" + path + "\"\n#inc\\\nlude I\n"}) {
    const auto tree = parsed(parser, include + "int x = found_in_the_secret;\n");
    if (!tree) continue;
    ++trees;
    CHECK(tree->errors > 0);
  }
  CHECK(trees > 0);  // otherwise nothing shows that the file was not read
  CHECK_FALSE(parsed(parser, std::string(5'000'000, ' ')));
  (void)parsed(parser, "int x = " + std::string(200'000, '(') + "1" + std::string(200'000, ')') + ";\n");
  (void)parsed(parser, "template <int n> struct s { s<n + 1> next; };\ns<0> x;\n");
  (void)parsed(parser, std::string("int x\0y;\n\xff\xfe", 12));
  const auto after_all = parse(parser, {"int x;\n", product});
  REQUIRE(after_all.back());
  CHECK(loops_of(*after_all.back()).size() == 3);
}

TEST_CASE("what actions make of generated loop nests parses again") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const char* wanted = std::getenv("KEVO_REWRITE_VARIANTS");
  const std::size_t variants = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 300;
  nests make{kevo::rng(17)};
  std::vector<std::string> sources;
  while (sources.size() < (variants + 9) / 10) sources.push_back(make.source());
  std::size_t children = 0;
  std::size_t refused = 0;
  kevo::rng random(5);
  std::vector<parsed_source> trees = trees_of(parser, sources);
  while (children < variants) {
    std::vector<std::string> made;
    for (const parsed_source& tree : trees) {
      const kernel of{tree, loops_of(tree), nullptr, 2};
      for (const action& one : actions()) {
        for (const site& where : one.sites(of)) {
          try {
            made.push_back(one.apply(of, where, random));
          } catch (const refusal&) {
            ++refused;
          }
        }
      }
    }
    children += made.size();
    trees = trees_of(parser, made);
    random.shuffle(std::span<parsed_source>(trees));
    if (trees.size() > variants / 40 + 5) trees.resize(variants / 40 + 5);  // that go on
    sources.clear();
    for (std::size_t i = 0; i < variants / 40 + 5; ++i) sources.push_back(make.source());
    for (auto& tree : trees_of(parser, sources)) trees.push_back(std::move(tree));
  }
  MESSAGE(children << " children, " << refused << " refused");
}
