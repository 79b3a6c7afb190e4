#pragma once
// A knowledge base: a folder of Markdown pages, found by words (SQLite FTS5, BM25) and filtered by what they
// are about.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kevo {

/// One page. Lists name what it is for; an empty list fits everything. Its text is data for prompts, nothing
/// else.
struct knowledge_page {
  std::string id;  ///< path below the folder, without ".md"
  std::string title;
  std::vector<std::string> topics;  ///< words by which it is found, as those of the title
  std::string kind;                 ///< constraints, guidance, hardware, skill, index, example
  std::vector<std::string> languages;
  std::vector<std::string> hardware;
  std::vector<std::string> needs;  ///< what the machine must have, such as avx512f or sm_90
  std::vector<std::string> bottlenecks;
  std::vector<std::string> phases;
  std::vector<std::string> steps;  ///< of an example: the optimization steps that it shows
  std::string source;              ///< where its facts are from
  std::string text;
};

/// What a page has to fit; empty words fit every page.
struct knowledge_filter {
  std::string language;
  std::string hardware;
  std::string machine;  ///< vector instructions or architecture: "AVX2, FMA", "sm_90a"; empty: not known
  std::string bottleneck;
  std::string phase;
};

/// Reads one page: a head of `key: value` lines between two `---` lines, then Markdown. Throws kevo::error
/// (input).
knowledge_page parse_page(const std::string& id, const std::string& text);
/// The page as a file.
std::string page_text(const knowledge_page& page);

/// Whether successes become pages.
enum class skill_writing : std::uint8_t { on, off };

/// Thread-safe.
class knowledge_base {
 public:
  /// Reads all .md files below `folder`, and those of `skills`, where new ones are written; either may be
  /// empty. Links are not followed. Throws kevo::error (input, environment).
  knowledge_base(const std::string& folder, std::string skills, skill_writing writing = skill_writing::on);
  ~knowledge_base();
  knowledge_base(const knowledge_base&) = delete;
  knowledge_base& operator=(const knowledge_base&) = delete;

  std::size_t size() const;
  /// All pages of the kind "constraints" that fit the language and the hardware, in the order in which they
  /// were read: prompts always show them, so that they take part in no search.
  std::vector<knowledge_page> constraints(const knowledge_filter& filter) const;
  /// What a model is shown to choose pages from: the text of the pages of the kind "index" that fit the
  /// language and the hardware, then a line `- ID: TITLE` for each other page that fits them and that no such
  /// text names, as `ID` in backquotes or as a link to ID.md. Constraints and examples are not listed.
  std::string index(const knowledge_filter& filter) const;
  /// The listed pages with these ids that fit the language and the hardware, in the order of `ids`, each
  /// once.
  std::vector<knowledge_page> named(const std::vector<std::string>& ids,
                                    const knowledge_filter& filter) const;
  /// The pages of the kind "example" for a step that fit the language and the hardware. Like the pages of the
  /// kind "index" they take part in no search.
  std::vector<knowledge_page> examples(const std::string& step, const knowledge_filter& filter) const;
  /// At most `limit` pages that fit the filter and are about the query, best match first: a word of it is in
  /// the title or the topics, or more than half of its words are in the text; words such as "each" or
  /// "float32" do not count. The query is plain words, in no syntax.
  std::vector<knowledge_page> search(const std::string& query, const knowledge_filter& filter,
                                     std::size_t limit) const;
  /// The pages that fit the filter, in the order in which they were read, at most `limit`.
  std::vector<knowledge_page> fitting(const knowledge_filter& filter, std::size_t limit) const;

  /// Whether there is a folder for skills.
  bool learns() const;
  /// Adds a page of the kind "skill" and writes it as a file, unless it is known; gives its id.
  std::string add_skill(knowledge_page page);
  /// Takes a skill out again, its file, too. Unknown ids and other pages are left alone.
  void withdraw(const std::string& id);

 private:
  struct implementation;
  std::unique_ptr<implementation> state_;
};

}  // namespace kevo
