// links: core
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/expression.hpp>
#include <kevo/random.hpp>
#include <kevo/task.hpp>
#include <kevo/task_id.hpp>

namespace {

std::optional<std::int64_t> lookup(std::string_view name) {
  if (name == "M") return 7;
  if (name == "N") return -3;
  if (name == "zero") return 0;
  if (name == "big") return std::numeric_limits<std::int64_t>::max();
  if (name == "device.sms") return 132;
  if (name == "occupancy(matmul)") return 4;
  return std::nullopt;
}

std::int64_t value_of(const std::string& text) {
  return kevo::expression::parse(text).evaluate(lookup);
}

}  // namespace

TEST_CASE("expressions compute as the grammar says") {
  const std::vector<std::pair<std::string, std::int64_t>> table = {
      {"1 + 2 * 3", 7},
      {"(1 + 2) * 3", 9},
      {"10 - 4 - 3", 3},
      {"100 / 7 / 2", 7},
      {"-7 / 2", -4},
      {"7 / -2", -4},
      {"-7 % 2", 1},
      {"7 % -2", -1},
      {"-9223372036854775808 % -1", 0},
      {"1 << 4 + 1", 32},
      {"-16 >> 2", -4},
      {"-1 << 63", std::numeric_limits<std::int64_t>::min()},
      {"1 < 2 == 2 > 1", 1},
      {"3 <= 3 && 4 >= 5 || 2 != 3", 1},
      {"!0 + !5", 1},
      {"!M == 0", 1},
      {"- - 3", 3},
      {"2 - -3", 5},
      {"+4", 4},
      {"M > 5 ? M < 6 ? 1 : 2 : 3", 2},
      {"0 ? 1 : 0 ? 2 : 3", 3},
      {"zero != 0 && M / zero > 1", 0},
      {"zero == 0 || M / zero > 1", 1},
      {"zero ? M / zero : 5", 5},
      {"5 && 6", 1},
      {"0 || 9", 1},
      {"0x1F + 0Xa", 41},
      {"ceildiv(7, 2) + ceildiv(-7, 2) + ceildiv(M, -2)", 4 - 3 - 3},
      {"min(3, N, 5) + max(1, M, 2) + min(4)", -3 + 7 + 4},
      {"align_up(13, 8) + align_up(16, 8) + align_up(-13, 8)", 16 + 16 - 8},
      {"log2_ceil(1) * 100 + log2_ceil(9)", 4},
      {"pow2_ceil(9) + pow2_ceil(1)", 17},
      {"log2_ceil(big)", 63},
      {"sizeof(float32) + sizeof( bfloat16 )", 6},
      {"device.sms * occupancy( matmul )", 528},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
      {"  2*M*N  ", -42},
  };
  for (const auto& entry : table) {
    CAPTURE(entry.first);
    CHECK(value_of(entry.first) == entry.second);
  }
  CHECK(kevo::expression::constant(-5).evaluate({}) == -5);
  CHECK(kevo::expression::parse("b + a * b + device.sms").names() ==
        std::vector<std::string>{"b", "a", "device.sms"});
  CHECK(kevo::expression::parse("a+1").text() == "a+1");
}

TEST_CASE("errors of expressions name the column") {
  struct row {
    std::string text;
    int column;
    std::string says;
  };
  const std::vector<row> parse_errors = {
      {"", 1, "missing"},
      {"   ", 4, "missing"},
      {"1 +", 4, "a value is missing at its end"},
      {"1 + * 2", 5, "found '*'"},
      {"(1", 3, "expected ')', found end"},
      {"1)", 2, "unexpected ')'"},
      {"M N", 3, "unexpected 'N'"},
      {"M = 3", 3, "unexpected '='"},
      {"1 ? 2", 6, "expected ':'"},
      {"9223372036854775808", 1, "does not fit"},
      {"-9223372036854775809", 2, "does not fit"},
      {"0xfffffffffffffffff", 1, "does not fit"},
      {"0x", 1, "needs digits after '0x'"},
      {"12ab", 3, "cannot end with 'ab'"},
      {"1.5", 1, "only integers"},
      {"ceil(3)", 1, "unknown function 'ceil'"},
      {"ceildiv(3)", 1, "takes 2 arguments, not 1"},
      {"min()", 1, "not 0"},
      {"max(1, )", 8, "found ')'"},
      {"sizeof(float23)", 8, "unknown dtype 'float23'"},
      {"sizeof(4)", 8, "expected a name"},
      {"a.", 3, "expected a name after '.'"},
      {"a..b", 3, "expected a name after '.'"},
      {"a & b", 3, "unexpected '&'"},
      {"\x01", 1, "found '?'"},
      {"1 !", 3, "unexpected '!'"},
      {"a\n+ \n", 6, "a value is missing"},
  };
  for (const auto& entry : parse_errors) {
    CAPTURE(entry.text);
    try {
      kevo::expression::parse(entry.text);
      FAIL("accepted");
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::input);
      CHECK(e.place().column == entry.column);
      CHECK_MESSAGE(e.message().find(entry.says) != std::string::npos, e.what());
    }
  }
  const std::vector<row> value_errors = {{"1 / zero", 3, "division by zero"},
                                         {"1 % (M - 7)", 3, "division by zero"},
                                         {"big + 1", 5, "does not fit"},
                                         {"big * 2", 5, "does not fit"},
                                         {"-big - 2", 6, "does not fit"},
                                         {"-9223372036854775808 / -1", 22, "does not fit"},
                                         {"-(-big - 1)", 1, "does not fit"},
                                         {"1 << 64", 3, "must be 0 to 63, not 64"},
                                         {"1 >> N", 3, "must be 0 to 63, not -3"},
                                         {"1 << 63", 3, "does not fit"},
                                         {"M + unknown", 5, "unknown name"},
                                         {"align_up(3, 0)", 1, "must be positive, not 0"},
                                         {"align_up(big, 8)", 1, "does not fit"},
                                         {"log2_ceil(0)", 1, "positive"},
                                         {"pow2_ceil(big)", 1, "does not fit"},
                                         {"ceildiv(1, zero)", 1, "division by zero"},
                                         {"1 ? 2 / zero : 3", 7, "division by zero"}};
  for (const auto& entry : value_errors) {
    CAPTURE(entry.text);
    const auto parsed = kevo::expression::parse(entry.text, {"f.yaml", 3, 11, "cost.flops"});
    try {
      static_cast<void>(parsed.evaluate(lookup));
      FAIL("accepted");
    } catch (const kevo::error& e) {
      CHECK(e.place().file == "f.yaml");
      CHECK(e.place().line == 3);
      CHECK(e.place().key == "cost.flops");
      CHECK(e.place().column == entry.column + 10);
      CHECK_MESSAGE(e.message().find(entry.says) != std::string::npos, e.what());
    }
  }
  try {
    kevo::expression::parse("ceil_div(3, 2)");
    FAIL("accepted");
  } catch (const kevo::error& e) {
    CHECK(e.hint() == "did you mean 'ceildiv'?");
  }
}

TEST_CASE("hostile expressions cannot overflow the stack") {
  const auto repeated = [](const std::string& piece, int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += piece;
    return text;
  };
  for (const std::string piece : {"(", "-", "!", "+", "1?", "1?1:", "min(", "a||(", "1<(2+(3*"}) {
    CAPTURE(piece);
    CHECK_THROWS_AS(kevo::expression::parse(repeated(piece, 10000)), kevo::error);
  }
  CHECK_THROWS_AS(kevo::expression::parse(repeated("1+", 100000) + "1"), kevo::error);
  CHECK(value_of(repeated("1+", 30000) + "1") == 30001);
  CHECK(value_of(repeated("(", 150) + "1" + repeated(")", 150)) == 1);
  CHECK(value_of(repeated("0||", 20000) + "1") == 1);
}

namespace {

// The oracle: a tree of its own, evaluated by recursion in 128 bits; nothing where kevo must throw.
struct tree {
  std::string op;
  std::int64_t value = 0;
  std::vector<tree> kids;
};

using wide = __int128;

std::optional<wide> checked(wide v) {
  const wide limit = wide{1} << 63;
  if (v < -limit || v >= limit) return std::nullopt;
  return v;
}

wide floored(wide a, wide b) {
  wide q = a / b;
  if (a % b != 0 && ((a < 0) != (b < 0))) --q;
  return q;
}

std::optional<wide> evaluate(const tree& t) {
  if (t.op.empty()) return t.value;
  const auto first = evaluate(t.kids[0]);
  if (!first) return std::nullopt;
  const wide a = *first;
  if (t.op == "-u") return checked(-a);
  if (t.op == "!") return a == 0 ? 1 : 0;
  if (t.op == "log2_ceil" || t.op == "pow2_ceil") {
    if (a < 1) return std::nullopt;
    wide power = 1;
    int log = 0;
    while (power < a) power *= 2, ++log;
    return t.op == "log2_ceil" ? std::optional<wide>(log) : checked(power);
  }
  if (t.op == "?") return evaluate(a != 0 ? t.kids[1] : t.kids[2]);
  if (t.op == "&&" && a == 0) return 0;
  if (t.op == "||" && a != 0) return 1;
  const auto second = evaluate(t.kids[1]);
  if (!second) return std::nullopt;
  const wide b = *second;
  if (t.op == "&&" || t.op == "||") return b != 0 ? 1 : 0;
  if (t.op == "+") return checked(a + b);
  if (t.op == "-") return checked(a - b);
  if (t.op == "*") return checked(a * b);
  if (t.op == "/") return b == 0 ? std::nullopt : checked(floored(a, b));
  if (t.op == "%") return b == 0 ? std::nullopt : checked(a - floored(a, b) * b);
  if (t.op == "<<" || t.op == ">>") {
    if (b < 0 || b > 63) return std::nullopt;
    wide factor = 1;
    for (int i = 0; i < b; ++i) factor *= 2;
    return t.op == "<<" ? checked(a * factor) : checked(floored(a, factor));
  }
  if (t.op == "<") return a < b;
  if (t.op == "<=") return a <= b;
  if (t.op == ">") return a > b;
  if (t.op == ">=") return a >= b;
  if (t.op == "==") return a == b;
  if (t.op == "!=") return a != b;
  if (t.op == "min") return a < b ? a : b;
  if (t.op == "max") return a > b ? a : b;
  if (t.op == "ceildiv")
    return b == 0 ? std::nullopt : checked(floored(a, b) * b == a ? a / b : floored(a, b) + 1);
  if (t.op == "align_up")
    return b <= 0 ? std::nullopt : checked((floored(a, b) * b == a ? a / b : floored(a, b) + 1) * b);
  FAIL("an operator that the oracle does not know: " << t.op);
  return std::nullopt;
}

tree random_tree(kevo::rng& random, int depth) {
  static const std::vector<std::string> operators = {
      "+",  "-",  "*",  "/",   "%",   "<<",      ">>",       "<", "<=", ">", ">=",        "==",
      "!=", "&&", "||", "min", "max", "ceildiv", "align_up", "?", "-u", "!", "log2_ceil", "pow2_ceil"};
  if (depth == 0 || random.chance(0.15)) {
    switch (random.below(6)) {
      case 0:
        return {"", static_cast<std::int64_t>(random()), {}};
      case 1:
        return {"", random.integer(-70, 70), {}};
      case 2:
        return {"", std::numeric_limits<std::int64_t>::min() + random.integer(0, 1), {}};
      case 3:
        return {"", std::numeric_limits<std::int64_t>::max() - random.integer(0, 1), {}};
      default:
        return {"", random.integer(-3, 9), {}};
    }
  }
  tree result{operators[random.below(operators.size())], 0, {}};
  const bool unary =
      result.op == "-u" || result.op == "!" || result.op == "log2_ceil" || result.op == "pow2_ceil";
  const int kids = result.op == "?" ? 3 : unary ? 1 : 2;
  for (int i = 0; i < kids; ++i) result.kids.push_back(random_tree(random, depth - 1));
  return result;
}

// How tightly an operator binds; the printer leaves out parentheses where it dares, so that precedence is
// tested.
int level(const tree& t) {
  if (t.op.empty()) return t.value < 0 ? 8 : 9;
  if (t.op == "?") return 0;
  if (t.op == "||") return 1;
  if (t.op == "&&") return 2;
  if (t.op == "==" || t.op == "!=") return 3;
  if (t.op == "<" || t.op == "<=" || t.op == ">" || t.op == ">=") return 4;
  if (t.op == "<<" || t.op == ">>") return 5;
  if (t.op == "+" || t.op == "-") return 6;
  if (t.op == "*" || t.op == "/" || t.op == "%") return 7;
  if (t.op == "-u" || t.op == "!") return 8;
  return 9;
}

std::string print(const tree& t, int around, kevo::rng& random) {
  std::string text;
  const int mine = level(t);
  const std::string gap = random.chance(0.3) ? "" : " ";
  if (t.op.empty()) {
    text = std::to_string(t.value);
  } else if (t.op == "?") {
    text = print(t.kids[0], 1, random) + gap + "?" + gap + print(t.kids[1], 0, random) + gap + ":" + gap +
           print(t.kids[2], 0, random);
  } else if (t.op == "-u" || t.op == "!") {
    text = (t.op == "!" ? "!" : "-") + print(t.kids[0], t.op == "-u" ? 9 : 8, random);
  } else if (mine == 9) {
    text = t.op + "(" + gap + print(t.kids[0], 0, random);
    for (std::size_t i = 1; i < t.kids.size(); ++i) text += gap + "," + gap + print(t.kids[i], 0, random);
    text += gap + ")";
  } else {
    text = print(t.kids[0], mine, random) + gap + t.op + gap + print(t.kids[1], mine + 1, random);
  }
  return mine < around ? "(" + text + ")" : text;
}

}  // namespace

TEST_CASE("random expressions agree with a brute-force oracle") {
  kevo::rng random(20240817);
  int values = 0, errors = 0;
  for (int i = 0; i < 20000; ++i) {
    const tree t = random_tree(random, 1 + static_cast<int>(random.below(5)));
    const std::string text = print(t, 0, random);
    const auto expected = evaluate(t);
    std::optional<std::int64_t> actual;
    std::string why;
    try {
      actual = kevo::expression::parse(text).evaluate({});
    } catch (const kevo::error& e) {
      why = e.what();
    }
    (expected ? values : errors)++;
    if (actual.has_value() != expected.has_value() || (actual && wide{*actual} != *expected)) {
      FAIL("'" << text << "' gave " << (actual ? std::to_string(*actual) : why));
    }
  }
  CHECK(values > 5000);
  CHECK(errors > 2000);
}

TEST_CASE("a task's id changes with what a verdict depends on, and with nothing else") {
  kevo::task t;
  t.name = "t";
  t.axes = {{"N", std::nullopt, ""}};
  t.inputs = {{"x", {"N"}, false, "float32", {}, ""}};
  t.workloads = {{.uuid = "a", .axes = {{"N", 4}}, .inputs = {}, .generate = {}, .tolerances = {}}};
  const auto id = id_of(t);
  auto changed = t;
  changed.description = "words";
  changed.file = "elsewhere.yaml";
  CHECK(id_of(changed) == id);
  changed.workloads[0].hidden = true;
  CHECK(id_of(changed) != id);
  changed = t;
  changed.axes[0].value = 4;
  CHECK(id_of(changed) != id);
  changed = t;
  changed.tolerances[""] = {};
  CHECK(id_of(changed) != id);
  changed = t;
  changed.cost.min_flops = kevo::expression::parse("N");
  CHECK(id_of(changed) != id);
}
