#pragma once
// Splits a text of shell commands into the words of each command. Used by tests/support/unrun.hpp.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace page {

/// One command of a block: its words without quotes, and the files that its output goes to.
struct simple_command {
  std::vector<std::string> words;
  std::vector<std::string> written;
};

/// Splits commands as bash does, without expanding anything but `$KEVO` and `$PWD`. Knows quotes, comments,
/// continued lines, redirections and the operators between commands; a command substitution has to be in
/// quotes.
class command_splitter {
 public:
  command_splitter(std::string text, std::string folder)
      : text_(std::move(text)), folder_(std::move(folder)) {}

  std::vector<simple_command> split() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote_ != 0) {
        in_quotes(c);
      } else if (c == '\'' || c == '"') {
        quote_ = c;
        in_word_ = true;
      } else if (c == '\\' && at_ + 1 < text_.size()) {
        if (text_[++at_] != '\n') add(text_[at_]);
      } else if (c == '#' && !in_word_) {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (c == ' ' || c == '\t') {
        end_word();
      } else if (c == '<' || c == '>') {
        end_word();
        redirection_ = c;
      } else if (std::string_view("\n;&|()").find(c) != std::string_view::npos) {
        end_command();
      } else {
        add(c);
      }
    }
    end_command();
    return std::move(commands_);
  }

 private:
  void in_quotes(char c) {
    if (c == quote_) {
      quote_ = 0;
    } else if (c == '\\' && quote_ == '"' && at_ + 1 < text_.size()) {
      add(text_[++at_]);
    } else {
      add(c);
    }
  }
  void add(char c) {
    in_word_ = true;
    if (c == '$' && quote_ != '\'') {
      for (const auto& [name, value] :
           {std::pair<std::string, std::string>{"$KEVO", KEVO_SOURCE_DIR}, {"$PWD", folder_}}) {
        if (text_.compare(at_, name.size(), name) == 0) {
          word_ += value;
          at_ += name.size() - 1;
          return;
        }
      }
    }
    word_ += c;
  }
  void end_word() {
    if (in_word_) {
      if (redirection_ == '>') {
        now_.written.push_back(word_);
      } else {
        now_.words.push_back(word_);
      }
      redirection_ = 0;
    }
    word_.clear();
    in_word_ = false;
  }
  void end_command() {
    end_word();
    if (!now_.words.empty()) commands_.push_back(now_);
    now_ = {};
  }

  std::string text_;
  std::string folder_;
  std::size_t at_ = 0;
  char quote_ = 0;
  char redirection_ = 0;
  bool in_word_ = false;
  std::string word_;
  simple_command now_;
  std::vector<simple_command> commands_;
};

}  // namespace page
