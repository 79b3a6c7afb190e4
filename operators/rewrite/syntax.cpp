#include "operators/rewrite/syntax.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace kevo::rewriting {
namespace {

constexpr std::array<std::pair<std::string_view, node_kind>, 21> kinds = {{
    {"function", node_kind::function},
    {"parameter", node_kind::parameter},
    {"variable", node_kind::variable},
    {"block", node_kind::block},
    {"declaration", node_kind::declaration},
    {"for", node_kind::counted},
    {"while", node_kind::repeated},
    {"if", node_kind::branch},
    {"return", node_kind::returned},
    {"jump", node_kind::jump},
    {"nothing", node_kind::nothing},
    {"name", node_kind::name},
    {"literal", node_kind::literal},
    {"parentheses", node_kind::parentheses},
    {"binary", node_kind::binary},
    {"unary", node_kind::unary},
    {"subscript", node_kind::subscript},
    {"call", node_kind::call},
    {"cast", node_kind::cast},
    {"conditional", node_kind::conditional},
    {"other", node_kind::other},
}};

std::string_view next(std::string_view& rest, char until) {
  const std::size_t at = std::min(rest.find(until), rest.size());
  const std::string_view found = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return found;
}

template <class Number>
bool number(std::string_view text, Number& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

bool read_node(std::string_view line, node& to) {
  const std::string_view kind = next(line, ' ');
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == kind; });
  if (found == kinds.end()) return false;
  to.kind = found->second;
  if (!number(next(line, ' '), to.begin) || !number(next(line, ' '), to.end) ||
      !number(next(line, '\t'), to.declared))
    return false;
  to.name = next(line, '\t');
  to.type = line;
  return true;
}

// What the tree says in libclang's way is said in ours.
void settle(node& one) {
  if (one.kind == node_kind::call && one.name == "operator[]" && one.children.size() == 3) {
    one.kind = node_kind::subscript;
    one.children.erase(one.children.begin() + 1);
  }
  const auto expect = [&](std::size_t count) {
    if (one.children.size() != count) one.kind = node_kind::other;
  };
  switch (one.kind) {
    case node_kind::counted:
      if (one.children.size() != 4) one.kind = node_kind::repeated;
      break;
    case node_kind::binary:
    case node_kind::subscript:
      expect(2);
      break;
    case node_kind::unary:
    case node_kind::parentheses:
    case node_kind::cast:
      expect(1);
      break;
    case node_kind::conditional:
      expect(3);
      break;
    default:
      break;
  }
}

bool fits(const node& one, std::size_t begin, std::size_t end) {
  if (one.begin < begin || one.end > end || one.begin > one.end) return false;
  std::size_t last = one.begin;
  for (const node& child : one.children) {
    if (!fits(child, last, one.end)) return false;
    last = child.end;
  }
  return true;
}

// A node whose children do not lie in it one after another (what macros expand to) is taken as a whole.
void make_fit(node& one) {
  for (node& child : one.children) make_fit(child);
  if (!fits(one, one.begin, one.end)) {
    one.children.clear();
    if (one.kind != node_kind::function) one.kind = node_kind::other;
  }
}

// libclang writes some types its own way.
void take_written_types(node& one, const std::string& text) {
  for (node& child : one.children) take_written_types(child, text);
  const auto declared = static_cast<std::size_t>(one.declared);
  if (one.kind != node_kind::variable || one.declared < 0 || declared <= one.begin || declared >= one.end)
    return;
  one.written = text.substr(one.begin, declared - one.begin);
  while (!one.written.empty() && one.written.back() == ' ') one.written.pop_back();
}

std::string squeezed(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i), text.size()) + 1;
    } else if (text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && text[i] != '\r' && text[i] != '\\') {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

std::optional<parsed_source> read_tree(std::string text, std::string_view tree) {
  parsed_source result;
  result.text = std::move(text);
  std::string_view first = next(tree, '\n');
  if (next(first, ' ') != "errors" || !number(next(first, '\t'), result.errors)) return std::nullopt;
  result.first_error = first;
  std::vector<node> open;
  while (!tree.empty()) {
    const std::string_view line = next(tree, '\n');
    if (line == "end") {
      if (open.empty()) return std::nullopt;
      node done = std::move(open.back());
      open.pop_back();
      settle(done);
      (open.empty() ? result.items : open.back().children).push_back(std::move(done));
      continue;
    }
    node one;
    if (!read_node(line, one) || one.end > result.text.size()) return std::nullopt;
    open.push_back(std::move(one));
  }
  if (!open.empty()) return std::nullopt;
  for (node& one : result.items) {
    make_fit(one);
    take_written_types(one, result.text);
  }
  return result;
}

std::string operator_of(const parsed_source& in, const node& one) {
  const std::string_view text = in.text;
  if (one.kind == node_kind::binary) {
    const node& left = one.children[0];
    const node& right = one.children[1];
    return squeezed(text.substr(left.end, right.begin - left.end));
  }
  if (one.kind == node_kind::unary) {
    const node& inner = one.children[0];
    return is_postfix(one) ? squeezed(text.substr(inner.end, one.end - inner.end))
                           : squeezed(text.substr(one.begin, inner.begin - one.begin));
  }
  return {};
}

bool is_postfix(const node& one) {
  return one.kind == node_kind::unary && one.children[0].begin == one.begin;
}

bool assigns(const parsed_source& in, const node& one) {
  if (one.kind == node_kind::unary) {
    const std::string what = operator_of(in, one);
    return what == "++" || what == "--";
  }
  if (one.kind != node_kind::binary) return false;
  const std::string what = operator_of(in, one);
  return !what.empty() && what.back() == '=' && what != "==" && what != "!=" && what != "<=" && what != ">=";
}

const node& bare(const node& one) {
  const node* at = &one;
  while (at->kind == node_kind::parentheses) at = at->children.data();
  return *at;
}

const node* root_of(const node& one) {
  const node* at = &bare(one);
  while (at->kind == node_kind::subscript) at = &bare(at->children[0]);
  return at->kind == node_kind::name ? at : nullptr;
}

const node* initial_value(const parsed_source& in, const node& variable) {
  if (variable.children.empty() || variable.declared < 0) return nullptr;
  const node& last = variable.children.back();
  const std::size_t name = static_cast<std::size_t>(variable.declared) + variable.name.size();
  if (name < in.text.size() && in.text[name] != '[') return &last;
  const std::size_t equals = in.text.find_first_of("={", name);
  return equals != std::string::npos && equals <= last.begin ? &last : nullptr;
}

void walk(const node& one, const std::function<bool(const node&)>& visit) {
  if (!visit(one)) return;
  for (const node& child : one.children) walk(child, visit);
}

bool any_of(const node& one, const std::function<bool(const node&)>& property) {
  if (property(one)) return true;
  return std::any_of(one.children.begin(), one.children.end(),
                     [&](const node& child) { return any_of(child, property); });
}

bool mentions(const node& one, long declared) {
  return declared >= 0 &&
         any_of(one, [&](const node& n) { return n.kind == node_kind::name && n.declared == declared; });
}

int count_of(const node& one, long declared) {
  int count = 0;
  walk(one, [&](const node& n) {
    count += n.kind == node_kind::name && n.declared == declared ? 1 : 0;
    return true;
  });
  return count;
}

std::size_t end_of_statement(const parsed_source& in, const node& one) {
  switch (one.kind) {
    case node_kind::block:
    case node_kind::function:
      return one.end;
    case node_kind::counted:
    case node_kind::branch:
      return end_of_statement(in, one.children.back());
    case node_kind::repeated:
      if (!one.children.empty() && one.children.back().kind == node_kind::block) return one.end;
      break;
    default:
      break;
  }
  if (one.end > one.begin && in.text[one.end - 1] == ';') return one.end;
  std::size_t at = one.end;
  while (at < in.text.size() && in.text[at] != ';' && in.text[at] != '\n' && in.text[at] != '}') ++at;
  return at < in.text.size() && in.text[at] == ';' ? at + 1 : one.end;
}

std::size_t begin_of_statement(const parsed_source& in, const node& one) {
  std::size_t begin = one.begin;
  if (one.kind != node_kind::counted && one.kind != node_kind::repeated) return begin;
  for (;;) {
    const std::size_t line = begin == 0 ? 0 : in.text.rfind('\n', begin - 1);
    if (begin == 0 || line == std::string::npos) return begin;
    if (in.text.find_first_not_of(" \t", line + 1) < begin) return begin;  // something else before it
    const std::size_t before = line == 0 ? std::string::npos : in.text.rfind('\n', line - 1);
    const std::size_t start = before == std::string::npos ? 0 : before + 1;
    const std::size_t word = in.text.find_first_not_of(" \t", start);
    if (word >= line || in.text.compare(word, 7, "#pragma") != 0) return begin;
    begin = word;
  }
}

int line_of(const parsed_source& in, std::size_t offset) {
  return 1 + static_cast<int>(std::count(in.text.begin(), in.text.begin() + static_cast<long>(offset), '\n'));
}

}  // namespace kevo::rewriting
