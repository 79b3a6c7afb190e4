// An archive of your own: it keeps the best candidate of each source length, so that it contains short and
// long programs. It is a struct with add, update, remove, sample, size and at, without a base class.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>

#include <kevo/kevo.hpp>

struct best_of_each_length {
  std::map<std::size_t, kevo::elite> kept;    // by length; `cell` is the length, too
  bool wants_source() const { return true; }  // optional: entries then contain their program

  kevo::archive_result add(const kevo::archive_entry& entry) {
    const kevo::elite offered{entry.id, entry.score, entry.source->text().size()};
    const auto [place, is_new] = kept.try_emplace(entry.source->text().size(), offered);
    if (is_new) return {kevo::archive_status::new_cell, entry.score};
    const double gain = entry.score - place->second.score;
    if (gain > 0) place->second = offered;
    return {gain > 0 ? kevo::archive_status::improved : kevo::archive_status::rejected, std::max(gain, 0.0)};
  }
  kevo::archive_result update(const kevo::archive_entry& entry) {  // evaluated again, with another score
    return remove(entry.id), add(entry);
  }
  bool remove(kevo::candidate_id id) {
    return std::erase_if(kept, [id](const auto& one) { return one.second.id == id; }) > 0;
  }
  std::optional<kevo::elite> sample(kevo::rng& random) const {
    return kept.empty() ? std::nullopt : std::optional(at(random.below(kept.size())));
  }
  std::size_t size() const { return kept.size(); }
  kevo::elite at(std::size_t i) const { return std::next(kept.begin(), static_cast<long>(i))->second; }
};
static_assert(kevo::archive<best_of_each_length>);
// A program is a word of the letters a and b; its score is one more than the number of letters b.
struct edit_word {
  std::string name() const { return "edit_word"; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    std::string word(request.parents.front()->program->text());
    if (random.chance(0.5)) word.resize(2 + random.below(11), 'a');
    word[random.below(word.size())] = random.chance(0.5) ? 'a' : 'b';
    return kevo::proposal{kevo::single_file_program("word", "word.txt", word), "edited the word"};
  }
};
struct letters_b {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    const auto found = static_cast<double>(std::ranges::count(request.program->text(), 'b'));
    return {.outcome = kevo::outcome::valid, .score = 1 + found, .stage = request.wanted};
  }
};

int main() {
  kevo::search_parts parts;
  parts.select = kevo::uniform{};
  parts.operators = {edit_word{}};
  parts.portfolio = kevo::uniform_portfolio{};
  parts.archive = best_of_each_length{};
  parts.stop = kevo::stop::evaluations{800};
  kevo::search search(std::move(parts), {.seed = 1});
  search.add_seed(kevo::single_file_program("word", "word.txt", "aa"), 0);
  kevo::run_to_end(search, letters_b{}, [] { return 0.0; });
  for (std::size_t i = 0; i < search.archive().size(); ++i)  // one word of each length
    std::cout << search.snapshot(search.archive().at(i).id).program->text() << '\n';
  return search.archive().size() == 11 && search.best().score >= 10 ? 0 : 1;
}
