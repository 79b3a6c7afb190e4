#include "src/base/text/line_diff.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/random.hpp>

namespace {

using kevo::diff_kind;

std::vector<kevo::diff_row> rows_of(std::string_view left, std::string_view right) {
  return kevo::diff_lines(kevo::lines_of(left), kevo::lines_of(right));
}

// The length of a longest common subsequence by the textbook table: what any shortest script must keep.
std::size_t common(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<std::vector<std::size_t>> best(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j)
      best[i + 1][j + 1] = a[i] == b[j] ? best[i][j] + 1 : std::max(best[i][j + 1], best[i + 1][j]);
  }
  return best[a.size()][b.size()];
}

}  // namespace

TEST_CASE("lines have no ends, and a final line break makes no line") {
  CHECK(kevo::lines_of("").empty());
  CHECK(kevo::lines_of("a\r\nb\n\nc") == std::vector<std::string_view>{"a", "b", "", "c"});
  CHECK(kevo::lines_of("a\n") == std::vector<std::string_view>{"a"});
}

TEST_CASE("a diff keeps as much as can be kept and shows every line once, in order") {
  kevo::rng random(5);
  for (int round = 0; round < 300; ++round) {
    const auto make = [&] {
      std::string text;
      const auto n = random.below(14);
      for (std::uint64_t i = 0; i < n; ++i)
        text += std::string(1, static_cast<char>('a' + random.below(4))) + "\n";
      return text;
    };
    const std::string left = make(), right = make();
    const auto a = kevo::lines_of(left), b = kevo::lines_of(right);
    std::size_t i = 0, j = 0, same = 0;
    for (const auto& row : kevo::diff_lines(a, b)) {
      if (row.left_line > 0) REQUIRE(row.left_line == ++i);
      if (row.right_line > 0) REQUIRE(row.right_line == ++j);
      switch (row.kind) {
        case diff_kind::same:
          REQUIRE(a[row.left_line - 1] == b[row.right_line - 1]);
          ++same;
          break;
        case diff_kind::changed:
          REQUIRE((row.left_line > 0 && row.right_line > 0));
          break;
        case diff_kind::removed:
          REQUIRE((row.left_line > 0 && row.right_line == 0));
          break;
        case diff_kind::added:
          REQUIRE((row.left_line == 0 && row.right_line > 0));
          break;
        case diff_kind::folded:
          FAIL("nothing is folded here");
      }
    }
    REQUIRE(i == a.size());
    REQUIRE(j == b.size());
    REQUIRE(same == common(a, b));
  }
}

TEST_CASE("long unchanged parts fold, changes keep their context") {
  std::string left, right;
  for (int i = 0; i < 40; ++i) {
    left += "line " + std::to_string(i) + "\n";
    right += i == 20 ? "other\n" : "line " + std::to_string(i) + "\n";
  }
  const auto rows = kevo::fold(rows_of(left, right), 3);
  REQUIRE(rows.size() == 9);
  CHECK(rows[0] == kevo::diff_row{diff_kind::folded, 1, 1, 17});
  CHECK(rows[4].kind == diff_kind::changed);
  CHECK(rows[8] == kevo::diff_row{diff_kind::folded, 25, 25, 16});
  CHECK(kevo::fold(rows_of(left, left)).size() == 1);
}

TEST_CASE("very different texts end in time") {
  std::string left, right;
  for (int i = 0; i < 6000; ++i) {
    left += "a" + std::to_string(i) + "\n";
    right += "b" + std::to_string(i) + "\n";
  }
  const auto rows = rows_of("head\n" + left, "head\n" + right);
  REQUIRE(rows.size() == 6001);
  CHECK(rows[0].kind == diff_kind::same);
  CHECK(rows[1].kind == diff_kind::changed);
}

TEST_CASE("the changed part of a line is marked by whole words") {
  const std::string left = "#define BM 32  // rows", right = "#define BM 128  // rows";
  const auto part = kevo::part_that_changed(left, right);
  CHECK(left.substr(part.begin, part.left_end - part.begin) == "32");
  CHECK(right.substr(part.begin, part.right_end - part.begin) == "128");
  const auto none = kevo::part_that_changed("same", "same");
  CHECK(none.left_end >= none.begin);
  const auto grown = kevo::part_that_changed("aa", "aaa");
  CHECK((grown.begin <= grown.left_end && grown.begin <= grown.right_end && grown.right_end <= 3));
}
