// labels: slow
// timeout: 600
// What actions make of generated loop nests computes what the nests compute. All of it is one compilation.
// KEVO_REWRITE_RESULTS=5000 compares so many programs, with the options that searches use, and leaves what
// differs in the folder that KEVO_REWRITE_KEEP names.

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "operators/rewrite/action.hpp"
#include "src/base/process/find_program.hpp"
#include "tests/operators/rewrite/nests.hpp"
#include "tests/support/shell.hpp"

namespace {

using namespace rewrite_test;
namespace fs = std::filesystem;

struct variant {
  std::size_t root = 0;  // the nest that it was made of, among the nests
  std::string text;
  std::string steps;
  bool must_agree = true;
};

// Actions that need no test of dependences: whatever the nest, they may not change what it computes.
const std::set<std::string_view> always_right = {"unroll", "pack",     "hoist", "scalar",
                                                 "select", "prefetch", "peel",  "keep"};

// One random action somewhere; nothing if it is refused.
std::optional<variant> stepped(const parsed_source& tree, const variant& from, bool calm, kevo::rng& random) {
  const kernel of{tree, loops_of(tree), nullptr, 1};
  std::vector<std::pair<const action*, site>> all;
  for (const action& one : actions()) {
    for (const site& where : one.sites(of)) all.emplace_back(&one, where);
  }
  while (!all.empty()) {
    // Each action as often as any other, however many places it has.
    std::set<std::string_view> names;
    for (const auto& one : all) names.insert(one.first->name);
    const auto name = *std::next(names.begin(), static_cast<std::ptrdiff_t>(random.below(names.size())));
    std::vector<std::size_t> of_name;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].first->name == name) of_name.push_back(i);
    }
    const std::size_t at = of_name[random.below(of_name.size())];
    try {
      variant next = from;
      next.text = all[at].first->apply(of, all[at].second, random);
      next.steps += (next.steps.empty() ? "" : ", ") + std::string(name) + " " + place_of(of, all[at].second);
      next.must_agree = from.must_agree && (calm || always_right.contains(name));
      if (next.text != from.text) return next;
    } catch (const refusal&) {
    }
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return std::nullopt;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// As a part of a larger source: in a namespace, without its includes.
std::string part_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::string result = "namespace " + name + " {\n";
  for (std::string line; std::getline(lines, line);) {
    if (line.substr(0, 8) != "#include") result += line + "\n";
  }
  return replaced(result, "extern \"C\" void run(", "void run(") + "}\n";
}

constexpr const char* beginning = R"(
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
)";

constexpr const char* ending = R"(
constexpr int margin = 1024;  // the nests also read in front of and behind what they write
std::vector<T> results(void (*run)(const T*, const T*, T*, int64_t, int64_t)) {
  std::vector<T> all;
  const int sizes[][2] = {{1, 1}, {3, 5}, {8, 9}, {11, 4}, {5, 37}};
  for (const auto& size : sizes) {
    std::vector<T> a(4096), b(4096), c(4096, T(-7));
    for (int i = 0; i < 4096; ++i) {
      a[i] = T((i * 37) % 64) / 64;
      b[i] = T((i * 53) % 128) / 32 - 2;
    }
    run(a.data() + margin, b.data() + margin, c.data() + margin, size[0], size[1]);
    all.insert(all.end(), c.begin(), c.end());
  }
  return all;
}
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  const T most = sizeof(T) == 4 ? T(1e-4) : T(1e-7);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) && !std::isfinite(b[i])) continue;
    if (!(std::abs(a[i] - b[i]) <= most * (1 + std::abs(a[i])))) return false;
  }
  return true;
}
int main() {
  for (int i = 0; i < int(sizeof(variants) / sizeof(variants[0])); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit seconds{10, 10};
      setrlimit(RLIMIT_CPU, &seconds);
      _exit(same(results(nests[roots[i]]), results(variants[i])) ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::printf("%d %s\n", i, WIFEXITED(status) ? "differs" : "crashes");
  }
}
)";

// Compiles and runs all of them; what is wrong, by number.
std::map<std::size_t, std::string> wrong(const std::vector<std::string>& nests,
                                         const std::vector<variant>& all, const std::string& type,
                                         const std::vector<std::string>& options) {
  std::string text = beginning + ("using T = " + type + ";\n");
  std::string tables = "void (*nests[])(const T*, const T*, T*, int64_t, int64_t) = {";
  for (std::size_t i = 0; i < nests.size(); ++i) {
    text += part_of(nests[i], "nest" + std::to_string(i));
    tables += "nest" + std::to_string(i) + "::run, ";
  }
  tables += "};\nvoid (*variants[])(const T*, const T*, T*, int64_t, int64_t) = {";
  std::string roots = "};\nint roots[] = {";
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += part_of(with_small_sizes(all[i].text), "variant" + std::to_string(i));
    tables += "variant" + std::to_string(i) + "::run, ";
    roots += std::to_string(all[i].root) + ", ";
  }
  const shell::scratch folder;
  shell::write_file(folder / "all.cpp", text + tables + roots + "};\n" + ending);
  std::vector<std::string> command = {kevo::find_program("g++"), "-std=c++20", "-w", "-fopenmp-simd",
                                      "-ffp-contract=off"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"-o", "all", "all.cpp"});
  const auto built = shell::run(command, folder.string());
  const char* keep = std::getenv("KEVO_REWRITE_KEEP");
  if (built.code != 0 && keep != nullptr) fs::copy_file(folder / "all.cpp", fs::path(keep) / "all.cpp");
  REQUIRE_MESSAGE(built.code == 0, built.err.substr(0, 4000));
  const auto ran = shell::run({(folder / "all").string()}, folder.string());
  CHECK(ran.code == 0);
  std::map<std::size_t, std::string> result;
  std::istringstream lines(ran.out);
  std::size_t number = 0;
  for (std::string how; lines >> number >> how;) result[number] = how;
  return result;
}

// How many children of each action, alone or last, agreed.
struct tally {
  std::map<std::string, std::pair<int, int>> of_action;
  void count(const variant& one, bool good) {
    const std::size_t comma = one.steps.rfind(", ");
    const std::string last = one.steps.substr(comma == std::string::npos ? 0 : comma + 2);
    auto& [all, right] = of_action[last.substr(0, last.find(' '))];
    ++all;
    right += good ? 1 : 0;
  }
};

}  // namespace

TEST_CASE("what actions make of generated loop nests computes the same") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const char* wanted = std::getenv("KEVO_REWRITE_RESULTS");
  const char* keep = std::getenv("KEVO_REWRITE_KEEP");
  const std::size_t count = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 120;
  const std::vector<std::string> options =
      wanted != nullptr ? std::vector<std::string>{"-O3", "-march=native"} : std::vector<std::string>{"-O1"};
  const char* seed = std::getenv("KEVO_REWRITE_SEED");
  kevo::rng random(seed != nullptr ? std::strtoul(seed, nullptr, 10) : 23);
  nests make{kevo::rng(random.below(1000000))};
  tally share;
  std::size_t done = 0;
  for (int batch = 0; done < count; ++batch) {
    const bool is_float = batch % 4 == 3;
    const bool calm = is_float || batch % 2 == 0;
    const std::string type = is_float ? "float" : "double";
    std::vector<std::string> roots;
    for (int i = 0; i < 8; ++i) {
      roots.push_back(batch % 4 == 2 ? (i % 2 == 0 ? product : in_place)
                      : calm         ? make.calm_source()
                                     : make.source());
      if (!is_float) roots.back() = replaced(roots.back(), "float", "double");
    }
    std::vector<variant> now;
    for (std::size_t i = 0; i < roots.size(); ++i) {
      for (int n = 0; n < 3; ++n) now.push_back({i, roots[i], {}, true});
    }
    std::vector<variant> all;
    for (int level = 0; level < 5; ++level) {
      std::vector<std::string> texts;
      for (const auto& one : now) texts.push_back(one.text);
      const auto trees = trees_of(parser, texts);
      std::vector<variant> next;
      for (std::size_t i = 0; i < now.size(); ++i) {
        if (auto child = stepped(trees[i], now[i], calm, random)) next.push_back(*std::move(child));
      }
      all.insert(all.end(), next.begin(), next.end());
      now = std::move(next);
      if (wanted == nullptr && all.size() > 60) break;
    }
    const auto bad = wrong(roots, all, type, options);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto found = bad.find(i);
      share.count(all[i], found == bad.end());
      if (found == bad.end() || !all[i].must_agree) continue;
      FAIL_CHECK(all[i].steps << ": " << found->second << (keep != nullptr ? "" : "\n" + all[i].text));
      if (keep != nullptr)
        shell::write_file(std::string(keep) + "/" + std::to_string(batch) + "_" + std::to_string(i) + ".cpp",
                          "// " + all[i].steps + "\n" + roots[all[i].root] + "\n//-----\n" + all[i].text);
    }
    done += all.size();
  }
  std::string report;
  for (const auto& [name, counts] : share.of_action)
    report += "  " + name + " " + std::to_string(counts.second) + "/" + std::to_string(counts.first);
  MESSAGE(done << " programs compared; computing the same:" << report);
}
