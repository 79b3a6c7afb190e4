#include "operators/numbers/numbers.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "operators/numbers/literals.hpp"

namespace {

using kevo::program;

std::vector<std::string> literals_in(const std::string& text, const std::string& language) {
  std::vector<std::string> found;
  for (const auto& one : kevo::number_literals(text, language)) {
    found.push_back(text.substr(one.offset, one.length) + (one.whole ? "" : "r"));
  }
  return found;
}

kevo::variation_request asking_numbers(const program& parent, const std::set<kevo::content_id>& seen) {
  kevo::candidate_snapshot one;
  one.id = 0;
  one.program = std::make_shared<const program>(parent);
  kevo::variation_request request;
  request.parents.push_back(std::make_shared<const kevo::candidate_snapshot>(std::move(one)));
  kevo::variation_services services;
  services.seen = [&seen](const kevo::content_id& id) { return seen.count(id) != 0; };
  request.services = std::make_shared<const kevo::variation_services>(std::move(services));
  return request;
}

}  // namespace

TEST_CASE("numbers are found in the code of several languages, and nowhere else") {
  using texts = std::vector<std::string>;
  CHECK(literals_in("a1 = 3 + 2.5e-3*x2 - .5 + 7.  # 9 of 10\ns = 'n 4' + \"\"\"\n5\n\"\"\"\n1_000 0x1F 8",
                    "python") == texts{"3", "2.5e-3r", "5", "7.r", "8"});
  CHECK(literals_in("for (int i = 0; i < 64u; ++i) y += 1.5f; // 3\n/* 4\n5 */ 'c' 6", "cpp") ==
        texts{"0", "64", "1.5r", "6"});
  CHECK(literals_in("x = 2.0d0 ! 3\ny(4) = 1", "fortran") == texts{"2.0r", "4", "1"});
  CHECK(literals_in("for i in 1..10 { v[i] # 3\n}", "rust") == texts{"1", "10", "3"});
  CHECK(literals_in("1.2.3 20240101123456789012", "cpp").empty());
  CHECK(literals_in("it's 5", "text") == texts{"5"});
  CHECK(literals_in("'open 5\n6", "cpp") == texts{"6"});
  CHECK(literals_in("", "cpp").empty());
}

TEST_CASE("a change keeps to the blocks, to whole numbers and to signs, and is new") {
  const program parent = kevo::single_file_program(
      "python", "kernel.py",
      "keep = 5\n# EVOLVE-BLOCK-START\na = 12\nb = -0.5  # 7\nt = 4  # kevo: {4, 8}\n"
      "# EVOLVE-BLOCK-END\nend = 6\n");
  std::set<kevo::content_id> seen = {id_of(parent)};
  kevo::rng random(3);
  std::set<std::string> made;
  for (int i = 0; i < 200; ++i) {
    const auto result = kevo::numbers{}.vary(asking_numbers(parent, seen), random);
    REQUIRE(std::holds_alternative<kevo::proposal>(result));
    const auto& proposed = std::get<kevo::proposal>(result);
    const kevo::program& child = proposed.program;
    const std::string& text = child.files.front().text;
    CHECK(text.starts_with("keep = 5\n# EVOLVE-BLOCK-START\na = "));
    CHECK(text.ends_with("  # 7\nt = 4  # kevo: {4, 8}\n# EVOLVE-BLOCK-END\nend = 6\n"));
    const auto end = text.find('\n', text.find("a = "));
    CHECK(text.substr(0, end).find_first_of(".-e", text.find("a = ") + 4) == std::string::npos);
    CHECK(text.find("b = -") != std::string::npos);
    CHECK(proposed.summary.find("line ") == 0);
    CHECK(seen.insert(id_of(child)).second);
    made.insert(text);
  }
  CHECK(made.size() == 200);
  // The same stream makes the same program.
  kevo::rng one(9);
  kevo::rng other(9);
  const auto first = kevo::numbers{}.vary(asking_numbers(parent, seen), one);
  const auto second = kevo::numbers{}.vary(asking_numbers(parent, seen), other);
  CHECK(std::get<kevo::proposal>(first).program.files.front().text ==
        std::get<kevo::proposal>(second).program.files.front().text);
}

TEST_CASE("a source without numbers that may change gives no proposal") {
  std::set<kevo::content_id> seen;
  kevo::rng random(1);
  for (const char* text :
       {"x = y\n", "# EVOLVE-BLOCK-START\nx = y\n# EVOLVE-BLOCK-END\nz = 3\n", "t = 4  # kevo: {4, 8}\n"}) {
    const auto parent = kevo::single_file_program("python", "kernel.py", text);
    const auto result = kevo::numbers{}.vary(asking_numbers(parent, seen), random);
    CHECK(std::holds_alternative<kevo::no_proposal>(result));
  }
  const auto wrong = kevo::single_file_program("python", "kernel.py", "# kevo: nonsense\nx = 3\n");
  CHECK(std::holds_alternative<kevo::no_proposal>(kevo::numbers{}.vary(asking_numbers(wrong, seen), random)));
}
