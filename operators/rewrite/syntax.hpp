#pragma once
// C++ sources as trees of statements and expressions: what kevo-parse-cpp, which has libclang, says of them.
//
// The tree is text. Its first line is "errors N<tab>the first error". A node is a line
// "KIND BEGIN END DECLARED<tab>NAME<tab>TYPE", its children, and a line "end". BEGIN and END are offsets into
// the source, DECLARED is the offset at which the variable that is meant was declared, or -1.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kevo::rewriting {

enum class node_kind : std::uint8_t {
  function,
  parameter,
  variable,
  block,
  declaration,
  counted,  ///< a `for` with initialization, condition, increment and body
  repeated,
  branch,
  returned,
  jump,
  nothing,
  name,
  literal,
  parentheses,
  binary,
  unary,
  subscript,
  call,
  cast,
  conditional,
  other,
};

struct node {
  node_kind kind = node_kind::other;
  std::size_t begin = 0;
  std::size_t end = 0;  ///< one behind the last character; the `;` of an expression does not belong to it
  long declared = -1;   ///< identifies a variable within a source
  std::string name;
  std::string type;     ///< without aliases; "const" in front is kept
  std::string written;  ///< variables: the type as the source has it
  std::vector<node> children;
};

/// A source and its tree.
struct parsed_source {
  std::string text;
  int errors = 0;
  std::string first_error;
  std::vector<node> items;

  std::string_view of(const node& one) const {
    return std::string_view(text).substr(one.begin, one.end - one.begin);
  }
};

/// Reads a tree; nothing if it is malformed or does not fit the text.
std::optional<parsed_source> read_tree(std::string text, std::string_view tree);

/// The operator of a binary or unary node, without blanks and comments: "+", "<=", "++".
std::string operator_of(const parsed_source& in, const node& one);
/// Whether a unary operator stands behind its operand.
bool is_postfix(const node& one);
/// Whether the node assigns to its first child: =, +=, ++, ...
bool assigns(const parsed_source& in, const node& one);
/// The expression without parentheses around it.
const node& bare(const node& one);
/// The variable at the root of `a`, `a[i][j]`; nothing for other expressions.
const node* root_of(const node& one);

/// The initial value of a variable, null if there is none. The extents of an array are children, too.
const node* initial_value(const parsed_source& in, const node& variable);

/// Calls `visit` for a node and all below it, in the order of the text; where it returns false, nothing
/// below.
void walk(const node& one, const std::function<bool(const node&)>& visit);
/// Whether any node below (or the node itself) has the property.
bool any_of(const node& one, const std::function<bool(const node&)>& property);
/// Whether the variable occurs.
bool mentions(const node& one, long declared);
/// How often the variable occurs.
int count_of(const node& one, long declared);

/// One behind the statement, its `;` included.
std::size_t end_of_statement(const parsed_source& in, const node& one);
/// Where a statement begins, `#pragma` lines in front of a loop included.
std::size_t begin_of_statement(const parsed_source& in, const node& one);
/// The line of an offset, from 1.
int line_of(const parsed_source& in, std::size_t offset);

}  // namespace kevo::rewriting
