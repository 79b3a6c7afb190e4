#pragma once
// Writing C++: copies of parts of a source with other names in them, indented lines, names that are not
// taken, and changes of a text.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "operators/rewrite/loops.hpp"
#include "operators/rewrite/syntax.hpp"

namespace kevo::rewriting {

/// Thrown inside an action where it cannot be applied; `apply` of the action catches it.
struct refusal {
  std::string reason;
};

/// What stands for variables, by node::declared, and for whole nodes.
struct replacements {
  std::map<long, std::string> names;
  std::map<const node*, std::string> nodes;
};

/// The text of a node with its replacements. Throws `refusal` where a macro hides a name.
std::string written(const parsed_source& in, const node& one, const replacements& by = {});

/// Lines with indentation.
class lines {
 public:
  explicit lines(int depth = 0) : depth_(depth) {}
  void add(std::string_view line);
  void open(std::string_view line);  ///< "line {", and what follows is one deeper
  void close(std::string_view line = "}");
  void otherwise();  ///< "} else {"
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  int depth() const { return depth_; }
  /// Adds lines that are indented already.
  void append(const lines& more) { text_ += more.text_; }

 private:
  int depth_;
  bool more_ = false;
  std::string text_;
};

/// Adds a statement, in this layout, with its replacements.
void add_statement(lines& to, const parsed_source& in, const node& one, const replacements& by = {});
/// The statements of a block, or the one statement that stands for a block.
std::vector<const node*> statements_of(const node& body);
/// Which `#pragma` lines of a loop go with it. Those of OpenMP name variables that a change may have given
/// another type.
enum class pragmas : std::uint8_t { all, of_compiler };
/// The `for (...)` of a loop with its replacements, preceded by its `#pragma` lines.
void open_loop(lines& to, const parsed_source& in, const counted_loop& loop, const replacements& by = {},
               pragmas which = pragmas::all);

/// `name`, or `name` with a number behind it, so that the source does not contain it; it is taken from then
/// on.
class fresh_names {
 public:
  explicit fresh_names(const parsed_source& in) : text_(in.text) {}
  std::string operator()(const std::string& name);

 private:
  std::string text_;
};

/// Changes of a text that do not overlap.
class changes {
 public:
  void replace(std::size_t begin, std::size_t end, std::string text);
  /// Statements in place of a loop.
  void replace(const counted_loop& loop, const lines& by);
  std::string applied_to(std::string text) const;

 private:
  struct change {
    std::size_t begin, end;
    std::string text;
  };
  std::vector<change> all_;
};

/// How deep the statement at an offset is indented, in steps of two blanks.
int depth_at(const parsed_source& in, std::size_t offset);
/// Where declarations for the whole file go: behind the includes.
std::size_t place_for_declarations(const parsed_source& in);
/// In parentheses unless it is a name, a number or a call.
std::string grouped(const std::string& expression);
/// "a * b" with what is 1 left out.
std::string times(const std::string& a, const std::string& b);

}  // namespace kevo::rewriting
