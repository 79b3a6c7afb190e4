#include "src/llm/knowledge.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>

#include "src/base/sqlite/sqlite.hpp"
#include "src/base/text/text_file.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;

std::string trimmed(std::string text) {
  text.erase(0, std::min(text.find_first_not_of(" \t\r"), text.size()));
  text.erase(text.find_last_not_of(" \t\r") + 1);
  return text;
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : list + ",") {
    if (c != ',') {
      word += c;
    } else if (word = trimmed(word); !word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

bool fits(const std::vector<std::string>& list, const std::string& word) {
  return word.empty() || list.empty() || std::find(list.begin(), list.end(), word) != list.end();
}

/// In lower case, letters and digits alone: "AVX-512F" becomes "avx512f".
std::string plain(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      made += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return made;
}

/// Whether the machine has all that a page needs; one that is not known has nothing.
bool has_needs(const knowledge_page& page, const std::string& machine) {
  const std::string has = plain(machine);
  return std::all_of(page.needs.begin(), page.needs.end(),
                     [&](const std::string& one) { return has.find(plain(one)) != std::string::npos; });
}

bool fits(const knowledge_page& page, const knowledge_filter& filter) {
  return has_needs(page, filter.machine) && fits(page.languages, filter.language) &&
         fits(page.hardware, filter.hardware) && fits(page.bottlenecks, filter.bottleneck) &&
         fits(page.phases, filter.phase);
}

bool constrains(const knowledge_page& page) {
  return page.kind == "constraints";
}

/// Whether a page competes with others for a place in a prompt.
bool competes(const knowledge_page& page) {
  return !page.id.empty() && !constrains(page) && page.kind != "index" && page.kind != "example";
}

bool fits_target(const knowledge_page& page, const knowledge_filter& filter) {
  return has_needs(page, filter.machine) && fits(page.languages, filter.language) &&
         fits(page.hardware, filter.hardware);
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

/// Words of which neither a task nor a page is about, though many of both have them.
bool says_nothing(std::string_view word) {
  static constexpr std::string_view common[] = {
      "a",       "about", "all",    "an",      "and",    "are",     "as",       "at",      "be",    "before",
      "beyond",  "by",    "can",    "columns", "each",   "element", "elements", "every",   "exact", "float",
      "float32", "for",   "from",   "has",     "have",   "if",      "in",       "inner",   "input", "inputs",
      "into",    "is",    "it",     "its",     "keep",   "kept",    "kernel",   "kernels", "limit", "limits",
      "major",   "more",  "no",     "not",     "number", "of",      "on",       "one",     "or",    "order",
      "other",   "out",   "output", "outputs", "over",   "pass",    "row",      "rows",    "size",  "sizes",
      "so",      "that",  "the",    "their",   "them",   "then",    "there",    "they",    "this",  "thread",
      "threads", "time",  "times",  "to",      "two",    "use",     "used",     "uses",    "what",  "when",
      "where",   "which", "wide",   "with",    "without"};
  return word.size() < 2 || std::binary_search(std::begin(common), std::end(common), word);
}

/// The words of a text, in lower case, each once; beyond the first `most_words` none.
std::vector<std::string> query_words(const std::string& text) {
  constexpr std::size_t most_words = 64;
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) {
      word += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
    } else if (!word.empty()) {
      if (words.size() < most_words && std::find(words.begin(), words.end(), word) == words.end())
        words.push_back(word);
      word.clear();
    }
  }
  return words;
}

/// A line of a page's head; empty if there is nothing to say.
std::string line_of(const char* key, const std::vector<std::string>& list) {
  return list.empty() ? std::string() : fmt::format("{}: {}\n", key, fmt::join(list, ", "));
}

/// An FTS5 query of plain words: any of them, none in FTS5's own syntax.
std::string match_of(const std::vector<std::string>& words) {
  std::string match;
  for (const auto& word : words) match += (match.empty() ? "\"" : " OR \"") + word + "\"";
  return match;
}

}  // namespace

knowledge_page parse_page(const std::string& id, const std::string& text) {
  knowledge_page page{.id = id};
  const auto wrong = [&](const std::string& why) {
    return error(error_code::input, why, {.file = id + ".md"}, "docs/llm.md says how a page begins");
  };
  if (!text.starts_with("---\n")) throw wrong("the page does not begin with a line '---'");
  const auto end = text.find("\n---\n", 3);
  if (end == std::string::npos) throw wrong("the head of the page is not closed by a line '---'");
  std::size_t at = 4;
  while (at < end + 1) {
    const auto stop = text.find('\n', at);
    const std::string line = text.substr(at, stop - at);
    at = stop + 1;
    const auto colon = line.find(':');
    if (colon == std::string::npos) throw wrong("the line '" + line + "' of the head has no colon");
    const std::string key = trimmed(line.substr(0, colon));
    const std::string value = trimmed(line.substr(colon + 1));
    if (key == "title") {
      page.title = value;
    } else if (key == "topics") {
      page.topics = words_of(value);
    } else if (key == "needs") {
      page.needs = words_of(value);
    } else if (key == "kind") {
      page.kind = value;
    } else if (key == "languages") {
      page.languages = words_of(value);
    } else if (key == "hardware") {
      page.hardware = words_of(value);
    } else if (key == "bottlenecks") {
      page.bottlenecks = words_of(value);
    } else if (key == "phases") {
      page.phases = words_of(value);
    } else if (key == "steps") {
      page.steps = words_of(value);
    } else if (key == "source") {
      page.source = value;
    } else {
      throw wrong("the head has an unknown key '" + key + "'");
    }
  }
  page.text = text.substr(end + 5);
  if (page.title.empty()) throw wrong("the page has no title");
  return page;
}

std::string page_text(const knowledge_page& page) {
  return fmt::format(
      "---\ntitle: {}\n{}kind: {}\nlanguages: {}\nhardware: {}\n{}bottlenecks: {}\nphases: {}\n{}source: "
      "{}\n---\n{}",
      one_line(page.title), line_of("topics", page.topics), page.kind, fmt::join(page.languages, ", "),
      fmt::join(page.hardware, ", "), line_of("needs", page.needs), fmt::join(page.bottlenecks, ", "),
      fmt::join(page.phases, ", "), line_of("steps", page.steps), one_line(page.source), page.text);
}

struct knowledge_base::implementation {
  std::string skills;
  bool writes = true;
  mutable std::mutex guard;
  mutable sqlite::connection index{"", sqlite::access::create};
  std::vector<knowledge_page> pages;

  void add(knowledge_page page) {
    index.prepare("INSERT INTO pages(rowid, title, topics, words, text) VALUES (?, ?, ?, ?, ?)")
        .run(pages.size() + 1, page.title, fmt::format("{}", fmt::join(page.topics, " ")),
             fmt::format("{} {} {}", fmt::join(page.bottlenecks, " "), fmt::join(page.hardware, " "),
                         fmt::join(page.phases, " ")),
             page.text);
    pages.push_back(std::move(page));
  }

  std::set<std::int64_t> matching(const std::string& match) const {
    std::set<std::int64_t> found;
    auto rows = index.prepare("SELECT rowid FROM pages WHERE pages MATCH ?");
    rows.bind_all(match);
    while (rows.step()) found.insert(rows.integer(0));
    return found;
  }

  /// The pages that are about the words of a query: one of these is in the title or the topics, or more
  /// than half of those that say something are in the text. A page that shares some words with a long
  /// description is not.
  std::set<std::int64_t> about(const std::vector<std::string>& words) const {
    std::set<std::int64_t> named;
    std::map<std::int64_t, std::size_t> in_text;
    std::size_t telling = 0;
    for (const auto& word : words) {
      if (says_nothing(word)) continue;
      ++telling;
      named.merge(matching("{title topics} : \"" + word + "\""));
      for (const std::int64_t row : matching("text : \"" + word + "\"")) ++in_text[row];
    }
    for (const auto& [row, count] : in_text) {
      if (2 * count > telling) named.insert(row);
    }
    return named;
  }

  void read(const std::string& folder) {
    if (!fs::is_directory(folder))
      throw error(error_code::input, "the knowledge folder does not exist", {.file = folder},
                  "create it, or name another folder in the config");
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file() && !entry.is_symlink() && entry.path().extension() == ".md" &&
          entry.path().filename() != "README.md")
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      std::string id = fs::relative(file, folder).replace_extension().generic_string();
      add(parse_page(id, read_text_file(file.string(), 1U << 20U)));
    }
  }
};

knowledge_base::knowledge_base(const std::string& folder, std::string skills, skill_writing writing)
    : state_(std::make_unique<implementation>()) {
  state_->writes = writing == skill_writing::on;
  state_->index.execute(
      "CREATE VIRTUAL TABLE pages USING fts5(title, topics, words, text, tokenize = 'porter unicode61')");
  if (!folder.empty()) state_->read(folder);
  state_->skills = std::move(skills);
  if (!state_->writes && !fs::is_directory(state_->skills)) return;
  if (!state_->skills.empty()) {
    std::error_code failed;
    fs::create_directories(state_->skills, failed);
    if (failed)
      throw error(error_code::environment, "cannot make the folder: " + failed.message(),
                  {.file = state_->skills}, "name a folder that can be written in the config");
    state_->read(state_->skills);
  }
}

knowledge_base::~knowledge_base() = default;

std::size_t knowledge_base::size() const {
  const std::scoped_lock lock(state_->guard);
  return static_cast<std::size_t>(std::count_if(state_->pages.begin(), state_->pages.end(),
                                                [](const auto& one) { return !one.id.empty(); }));
}

std::vector<knowledge_page> knowledge_base::search(const std::string& query, const knowledge_filter& filter,
                                                   std::size_t limit) const {
  const auto words = query_words(query);
  std::vector<knowledge_page> found;
  if (words.empty() || limit == 0) return found;
  const std::scoped_lock lock(state_->guard);
  const auto about = state_->about(words);
  // A word of the title counts five times one of the text; equal ranks in the order of the pages.
  auto rows = state_->index.prepare(
      "SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 5.0, 5.0, 2.0, 1.0), rowid");
  const std::string match = match_of(words);  // the statement keeps a reference to it
  rows.bind_all(match);
  while (found.size() < limit && rows.step()) {
    const knowledge_page& page = state_->pages[static_cast<std::size_t>(rows.integer(0)) - 1];
    if (about.contains(rows.integer(0)) && competes(page) && fits(page, filter)) found.push_back(page);
  }
  return found;
}

std::vector<knowledge_page> knowledge_base::constraints(const knowledge_filter& filter) const {
  const std::scoped_lock lock(state_->guard);
  std::vector<knowledge_page> found;
  for (const auto& page : state_->pages) {
    if (constrains(page) && fits_target(page, filter)) found.push_back(page);
  }
  return found;
}

std::vector<knowledge_page> knowledge_base::examples(const std::string& step,
                                                     const knowledge_filter& filter) const {
  const std::scoped_lock lock(state_->guard);
  std::vector<knowledge_page> found;
  for (const auto& page : state_->pages) {
    if (page.kind == "example" && fits_target(page, filter) &&
        std::find(page.steps.begin(), page.steps.end(), step) != page.steps.end())
      found.push_back(page);
  }
  return found;
}

std::string knowledge_base::index(const knowledge_filter& filter) const {
  const std::scoped_lock lock(state_->guard);
  std::string text;
  for (const auto& page : state_->pages) {
    if (page.kind == "index" && fits_target(page, filter)) text += page.text + "\n";
  }
  const auto names = [&text](const std::string& id) {  // prose may contain an id that is a plain word
    return text.find("`" + id + "`") != std::string::npos ||
           text.find("(" + id + ".md)") != std::string::npos;
  };
  std::string others;
  for (const auto& page : state_->pages) {
    if (competes(page) && fits_target(page, filter) && !names(page.id))
      others += fmt::format("- {}: {}\n", page.id, page.title);
  }
  return text + others;
}

std::vector<knowledge_page> knowledge_base::named(const std::vector<std::string>& ids,
                                                  const knowledge_filter& filter) const {
  const std::scoped_lock lock(state_->guard);
  std::vector<knowledge_page> found;
  for (const auto& id : ids) {
    const auto same = [&](const knowledge_page& page) { return page.id == id; };
    const auto it = std::find_if(state_->pages.begin(), state_->pages.end(), same);
    if (it != state_->pages.end() && competes(*it) && fits_target(*it, filter) &&
        std::none_of(found.begin(), found.end(), same))
      found.push_back(*it);
  }
  return found;
}

std::vector<knowledge_page> knowledge_base::fitting(const knowledge_filter& filter, std::size_t limit) const {
  const std::scoped_lock lock(state_->guard);
  std::vector<knowledge_page> found;
  for (const auto& page : state_->pages) {
    if (found.size() < limit && competes(page) && fits(page, filter)) found.push_back(page);
  }
  return found;
}

bool knowledge_base::learns() const {
  const std::scoped_lock lock(state_->guard);
  return !state_->skills.empty();
}

std::string knowledge_base::add_skill(knowledge_page page) {
  const std::scoped_lock lock(state_->guard);
  page.kind = "skill";
  content_hasher hash;
  page.id = "skill_" + to_string(hash.text(page.title).text(page.text).finish());
  const std::string id = page.id;
  // A resumed run learns again what it knew.
  const bool known = std::any_of(state_->pages.begin(), state_->pages.end(),
                                 [&](const knowledge_page& one) { return one.id == id; });
  if (known) return id;
  const std::string path = state_->skills + "/" + id + ".md";
  if (std::FILE* file = state_->writes ? std::fopen(path.c_str(), "wbx") : nullptr;
      file != nullptr) {  // a skill that cannot be written is no fault of the run
    const std::string text = page_text(page);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
  state_->add(std::move(page));
  return id;
}

void knowledge_base::withdraw(const std::string& id) {
  const std::scoped_lock lock(state_->guard);
  const auto it = std::find_if(state_->pages.begin(), state_->pages.end(),
                               [&](const knowledge_page& one) { return one.id == id; });
  if (it == state_->pages.end() || it->kind != "skill") return;
  // The numbers of the other pages stay.
  state_->index.prepare("DELETE FROM pages WHERE rowid = ?").run(it - state_->pages.begin() + 1);
  *it = {};
  std::error_code ignored;
  if (state_->writes) fs::remove(state_->skills + "/" + id + ".md", ignored);
}

}  // namespace kevo
