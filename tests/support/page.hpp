#pragma once
// Reads a Markdown page of the documentation and follows it: writes the files that it shows, runs its
// commands and compares their output with the output that it shows. Used by tests/docs.
//
// Fenced blocks of a page, by the words after the opening ```:
//   sh                     commands, run by bash in the folder of the page; the exit code must be 0
//   sh exit=2              the exit code must be 2
//   sh not-run: REASON     commands that are not run; they are counted, the reason is printed, and they are
//                          checked without being run (tests/support/unrun.hpp)
//   text output            output of the commands before, shortened: see `lacks`; not compared after a block
//                          that is not run
//   LANGUAGE file=PATH     a file, written to the folder of the page
//   LANGUAGE from=PATH     an excerpt: it must stand, word for word, in that file of the source tree
// An HTML comment on a line of its own, which a reader of the page does not see:
//   <!-- test: COMMAND -->       is run at this place
//   <!-- test with: WORDS -->    is appended to each command of kevo in the next sh block
//   <!-- test port: 8750 -->     this number stands for a port that is free, in the whole page: tests that
//                                run side by side must not serve at the same one

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <netinet/in.h>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "tests/support/ends_started.hpp"
#include "tests/support/shell.hpp"

namespace page {

enum class kind { command, not_run, output, file, excerpt };

/// What a page asks for at one place.
struct step {
  page::kind kind = kind::command;
  std::size_t line = 0;  ///< line of the page where the block begins, from 1
  std::string text;      ///< the block's content
  std::string detail;    ///< path of a file or of an excerpt's source; reason of commands that are not run
  int exit_code = 0;     ///< of commands
  bool reading = true;   ///< false for commands that the reader of the page does not see
};

/// What came of following a page.
struct result {
  std::size_t run = 0;                ///< command blocks that were run
  std::size_t not_run = 0;            ///< command blocks that say why they are not run
  std::vector<std::string> reasons;   ///< of those, "LINE: REASON"
  std::vector<std::string> failures;  ///< "LINE: what is wrong"
};

inline std::string after(const std::string& words, std::string_view key) {
  const auto at = words.find(key);
  if (at == std::string::npos) return {};
  const auto begin = at + key.size();
  return words.substr(begin, words.find(' ', begin) - begin);
}

/// `text` between `<!-- KEY` and `-->` where the line is such a comment, else nothing.
inline std::string comment(const std::string& line, const std::string& key) {
  const std::string open = "<!-- " + key;
  if (!line.starts_with(open) || !line.ends_with(" -->")) return {};
  return line.substr(open.size(), line.size() - open.size() - 4);
}

inline std::string with_words(const std::string& commands, const std::string& words) {
  std::istringstream in(commands);
  std::string all;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("kevo ") && !line.starts_with("build/release/kevo ")) {
      all += line + '\n';
      continue;
    }
    const auto remark = line.find("  #");
    all += line.substr(0, remark) + ' ' + words + '\n';
  }
  return all;
}

/// The steps of a page, in its order. Blocks that ask for nothing are left out.
inline std::vector<step> steps_of(const std::string& markdown) {
  std::vector<step> steps;
  std::istringstream in(markdown);
  std::string words_to_add;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (const auto hidden = comment(line, "test: "); !hidden.empty()) {
      steps.push_back({.kind = kind::command, .line = number, .text = hidden + '\n', .reading = false});
    }
    if (const auto words = comment(line, "test with: "); !words.empty()) words_to_add = words;
    if (!line.starts_with("```")) continue;
    step next{.line = number};
    const std::string head = line.substr(3);
    for (; std::getline(in, line) && line != "```"; ++number) next.text += line + '\n';
    ++number;
    if (const auto reason = head.find("sh not-run:"); reason == 0) {
      next.kind = kind::not_run;
      next.detail = head.substr(std::string_view("sh not-run:").size());
    } else if (const auto path = after(head, " file="); !path.empty()) {
      next.kind = kind::file;
      next.detail = path;
    } else if (head == "sh" || head.starts_with("sh ")) {
      if (!words_to_add.empty()) next.text = with_words(next.text, words_to_add);
      words_to_add.clear();
      const auto code = after(head, "exit=");
      next.exit_code = code.empty() ? 0 : std::stoi(code);
    } else if (head == "text output") {
      next.kind = kind::output;
    } else if (const auto source = after(head, " from="); !source.empty()) {
      next.kind = kind::excerpt;
      next.detail = source;
    } else {
      continue;
    }
    steps.push_back(next);
  }
  return steps;
}

/// A line with every number as # and every run of blanks as one: figures differ from machine to machine.
inline std::string without_figures(const std::string& line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      const bool goes_on = !plain.empty() && plain.back() == '#';
      if (!goes_on) plain += '#';
      const bool fraction = i + 2 < line.size() && line[i + 1] == '.' &&
                            std::isdigit(static_cast<unsigned char>(line[i + 2])) != 0;
      if (fraction) ++i;
    } else if (c == ' ' || c == '\t') {
      if (!plain.empty() && plain.back() != ' ') plain += ' ';
    } else {
      plain += c;
    }
  }
  while (!plain.empty() && plain.back() == ' ') plain.pop_back();
  return plain;
}

/// Whether a line of output is what a page says: numbers may be any numbers, `...` may be any text.
inline bool line_shows(const std::string& printed, const std::string& expected) {
  const std::string text = without_figures(printed);
  const std::string wanted = without_figures(expected);
  std::size_t at = 0;
  std::size_t begin = 0;
  while (begin <= wanted.size()) {
    const auto end = std::min(wanted.find("...", begin), wanted.size());
    std::string piece = wanted.substr(begin, end - begin);
    const auto found = text.find(piece, at);
    if (found == std::string::npos || (begin == 0 && found != 0)) return false;
    at = found + piece.size();
    if (end == wanted.size()) return piece.empty() || at == text.size();
    begin = end + 3;
  }
  return true;
}

/// The first line of `expected` that `printed` lacks, nothing if it shows all of them in this order. Further
/// lines may stand between them.
inline std::string lacks(const std::string& printed, const std::string& expected) {
  std::istringstream in(printed);
  std::istringstream lines(expected);
  for (std::string wanted; std::getline(lines, wanted);) {
    if (wanted.empty() || wanted == "...") continue;
    bool found = false;
    for (std::string line; !found && std::getline(in, line);) found = line_shows(line, wanted);
    if (!found) return wanted;
  }
  return {};
}

/// A port of this machine that nobody listened at a moment ago.
inline std::string free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  int port = 0;
  if (::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    port = ntohs(address.sin_port);
  ::close(socket);
  return std::to_string(port);
}

/// The page with each port that it names replaced by a free one of its own.
inline std::string with_free_ports(std::string markdown) {
  constexpr std::string_view key = "<!-- test port: ";
  std::set<std::string> taken;
  for (auto at = markdown.find(key); at != std::string::npos; at = markdown.find(key, at + key.size())) {
    const auto begin = at + key.size();
    const std::string named = markdown.substr(begin, markdown.find(' ', begin) - begin);
    std::string free = free_port();
    while (!taken.insert(free).second) free = free_port();
    const std::regex whole("\\b" + named + "\\b");
    markdown = std::regex_replace(markdown, whole, free);
  }
  return markdown;
}

/// What is wrong with the commands of a block that is not run.
using check_of_commands = std::function<std::vector<std::string>(const std::string& commands)>;

/// Follows a page in `folder`. `kevo` is found on the PATH, $KEVO is the source tree. What the page left
/// running ends with it, wherever that is.
inline result follow(const std::string& page, const std::filesystem::path& folder,
                     const check_of_commands& check_not_run = {}) {
  const std::string markdown = with_free_ports(page);
  const kevo_test::ends_started all_of_page;
  result done;
  std::string printed;
  bool ran = true;  // the block before; what a block that is not run would print is not known
  for (const auto& one : steps_of(markdown)) {
    const auto fail = [&](const std::string& why) {
      done.failures.push_back("line " + std::to_string(one.line) + ": " + why);
    };
    switch (one.kind) {
      case kind::command: {
        const std::string setting = "export PATH=" KEVO_BINARY_DIR ":\"$PATH\" KEVO=" KEVO_SOURCE_DIR
                                    " NO_COLOR=1 LC_ALL=C.UTF-8\nset -e\n";
        const auto start = std::chrono::steady_clock::now();
        const auto ended = shell::run({"/bin/bash", "-c", setting + one.text}, folder.string());
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (took.count() > 2)
          std::printf("  line %d took %.1f s\n", static_cast<int>(one.line), took.count());
        if (one.reading) {
          ++done.run;
          ran = true;
          printed = ended.out + ended.err;
        }
        if (ended.code != one.exit_code) {
          fail("exit code " + std::to_string(ended.code) + " of\n" + one.text + ended.out + ended.err);
          return done;  // what follows stands on it
        }
        break;
      }
      case kind::not_run:
        ++done.not_run;
        ran = false;
        done.reasons.push_back(std::to_string(one.line) + ":" + one.detail);
        if (one.detail.find_first_not_of(' ') == std::string::npos) fail("a block that is not run says why");
        if (check_not_run) {
          for (const auto& fault : check_not_run(one.text)) fail(fault);
        }
        break;
      case kind::output:
        if (const auto missing = ran ? lacks(printed, one.text) : std::string(); !missing.empty()) {
          fail("the output lacks\n" + missing + "\nit is\n" + printed);
        }
        break;
      case kind::file:
        shell::write_file(folder / one.detail, one.text);
        break;
      case kind::excerpt:
        if (shell::read_file(std::filesystem::path(KEVO_SOURCE_DIR) / one.detail).find(one.text) ==
            std::string::npos) {
          fail("the text does not stand in " + one.detail);
        }
        break;
    }
  }
  return done;
}

}  // namespace page
