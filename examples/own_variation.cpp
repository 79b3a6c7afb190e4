// A variation operator of your own is a plain struct with `name` and `vary`. It needs no base class, no macro
// and no registration. This one swaps two lines of a text; the search sorts the lines with it.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <kevo/kevo.hpp>

static std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  lines.pop_back();
  return lines;
}

struct swap_two_lines {
  std::string name() const { return "swap_two_lines"; }

  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    kevo::program child = *request.parents.front()->program;
    auto lines = lines_of(child.text());
    if (lines.size() < 2) return kevo::no_proposal{"one line has no order"};
    std::swap(lines[random.below(lines.size())], lines[random.below(lines.size())]);
    child.files.front().text.clear();
    for (const auto& line : lines) child.files.front().text += line + '\n';
    return kevo::proposal{child, "swapped two lines"};
  }
};
static_assert(kevo::variation<swap_two_lines>);

// The score is the number of pairs of lines that are in order.
struct sortedness {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    const auto lines = lines_of(request.program->text());
    kevo::evaluation result{.outcome = kevo::outcome::valid, .stage = request.wanted};
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (std::size_t k = i + 1; k < lines.size(); ++k) result.score += lines[i] < lines[k] ? 1 : 0;
    }
    return result;
  }
};

int main() {
  kevo::search_parts parts;
  parts.select = kevo::greedy{};
  parts.operators = {swap_two_lines{}};
  parts.portfolio = kevo::ucb1{};
  parts.archive = kevo::top_k(10);
  parts.stop = kevo::stop::evaluations{600};

  kevo::search search(std::move(parts), {.seed = 1, .patience = 1000});
  search.add_seed(kevo::single_file_program("text", "poem.txt",
                                            "5 and\n2 the\n4 rain\n1 first\n6 then\n3 soft\n8 end\n7 sun\n"),
                  0);
  kevo::run_to_end(search, sortedness{}, [] { return 0.0; });

  const auto best = search.snapshot(search.best().id);
  std::printf("score %.0f of 28 after %zu candidates\n%s", search.best().score, search.graph().size(),
              std::string(best.program->text()).c_str());
  return search.best().score == 28 ? 0 : 1;
}
