// An own archive: which elites are kept. This one keeps the best candidate of each source length, so that
// short and long programs live side by side. No base class: a struct with add, update, remove, sample, size
// and at.

#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include <kevo/kevo.hpp>

struct best_of_each_length {
  std::map<std::size_t, kevo::elite> kept;  // by length; `cell` is the length, too

  bool wants_source() const { return true; }  // optional: entries then bring their program

  kevo::archive_result add(const kevo::archive_entry& entry) {
    const std::size_t length = entry.source->text().size();
    const kevo::elite offered{entry.id, entry.score, length};
    const auto [place, is_new] = kept.try_emplace(length, offered);
    if (is_new) return {kevo::archive_status::new_cell, entry.score};
    const double gain = entry.score - place->second.score;
    if (gain <= 0) return {kevo::archive_status::rejected, 0};
    place->second = offered;
    return {kevo::archive_status::improved, gain};
  }
  // The candidate was evaluated again and has another score.
  kevo::archive_result update(const kevo::archive_entry& entry) {
    remove(entry.id);
    return add(entry);
  }
  bool remove(kevo::candidate_id id) {
    return std::erase_if(kept, [id](const auto& one) { return one.second.id == id; }) > 0;
  }

  std::optional<kevo::elite> sample(kevo::rng& random) const {
    if (kept.empty()) return std::nullopt;
    return at(random.below(kept.size()));
  }
  std::size_t size() const { return kept.size(); }
  kevo::elite at(std::size_t i) const {
    return std::next(kept.begin(), static_cast<std::ptrdiff_t>(i))->second;
  }
};
static_assert(kevo::archive<best_of_each_length>);

// A program is a word of the letters a and b; its score counts the places where the letter changes.
struct edit_letter {
  std::string name() const { return "edit_letter"; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    std::string word(request.parents.front()->program->text());
    const std::size_t at = random.below(word.size());
    if (random.chance(0.5))
      word[at] = word[at] == 'a' ? 'b' : 'a';
    else if (word.size() < 12)
      word.insert(at, 1, 'a');
    return kevo::proposal{kevo::single_file_program("word", "word.txt", word), "edited a letter"};
  }
};

struct changes {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    const std::string_view word = request.program->text();
    kevo::evaluation result{.outcome = kevo::outcome::valid, .score = 1, .stage = request.wanted};
    for (std::size_t i = 1; i < word.size(); ++i) result.score += word[i] != word[i - 1] ? 1 : 0;
    return result;
  }
};

int main() {
  kevo::search_parts parts;
  parts.select = kevo::uniform{};
  parts.operators = {edit_letter{}};
  parts.portfolio = kevo::uniform_portfolio{};
  parts.archive = best_of_each_length{};
  parts.stop = kevo::stop::evaluations{800};

  kevo::search search(std::move(parts), {.seed = 1});
  search.add_seed(kevo::single_file_program("word", "word.txt", "aa"), 0);
  kevo::run_to_end(search, changes{}, [] { return 0.0; });

  for (std::size_t i = 0; i < search.archive().size(); ++i) {
    const kevo::elite one = search.archive().at(i);
    std::printf("length %2zu: score %.0f, %s\n", static_cast<std::size_t>(one.cell), one.score,
                std::string(search.snapshot(one.id).program->text()).c_str());
  }
  return search.archive().size() == 11 && search.best().score >= 10 ? 0 : 1;
}
