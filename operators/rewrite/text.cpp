#include "operators/rewrite/text.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace kevo::rewriting {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

void collect(const parsed_source& in, const node& one, const replacements& by, std::string& out,
             std::size_t& from) {
  const auto put = [&](const std::string& text) {
    out += in.text.substr(from, one.begin - from) + text;
    from = one.end;
  };
  if (const auto whole = by.nodes.find(&one); whole != by.nodes.end()) return put(whole->second);
  if (one.kind == node_kind::name) {
    if (const auto other = by.names.find(one.declared); other != by.names.end()) {
      if (in.of(one) != one.name) throw refusal{"a macro hides " + one.name};
      return put(other->second);
    }
  }
  if (one.kind == node_kind::other && one.children.empty() && !by.names.empty()) {
    // What is not understood must not have a name in it that is to be replaced.
    const auto text = in.of(one);
    for (const auto& [id, unused] : by.names) {
      std::size_t length = 0;
      while (id >= 0 && static_cast<std::size_t>(id) + length < in.text.size() &&
             is_word(in.text[static_cast<std::size_t>(id) + length]))
        ++length;
      if (length > 0 && text.find(in.text.substr(static_cast<std::size_t>(id), length)) != std::string::npos)
        throw refusal{"a construct that is not understood"};
    }
  }
  for (const node& child : one.children) collect(in, child, by, out, from);
}

}  // namespace

std::string written(const parsed_source& in, const node& one, const replacements& by) {
  std::string out;
  std::size_t from = one.begin;
  collect(in, one, by, out, from);
  out += in.text.substr(from, std::max(one.end, from) - from);
  return out;
}

void lines::add(std::string_view line) {
  while (!line.empty()) {  // further lines of a statement are one deeper
    const std::size_t end = std::min(line.find('\n'), line.size());
    std::string_view part = line.substr(0, end);
    const std::size_t first = part.find_first_not_of(" \t");
    if (first != std::string_view::npos) {
      const bool later = !text_.empty() && line.data() != nullptr && more_;
      text_ += std::string(static_cast<std::size_t>(2 * depth_ + (later ? 4 : 0)), ' ');
      text_ += part.substr(first);
      text_ += '\n';
    }
    line.remove_prefix(std::min(end + 1, line.size()));
    more_ = !line.empty();
  }
  more_ = false;
}

void lines::open(std::string_view line) {
  add(std::string(line) + " {");
  ++depth_;
}

void lines::close(std::string_view line) {
  --depth_;
  add(line);
}

void lines::otherwise() {
  --depth_;
  add("} else {");
  ++depth_;
}

std::vector<const node*> statements_of(const node& body) {
  std::vector<const node*> result;
  if (body.kind != node_kind::block) return {&body};
  for (const node& one : body.children) result.push_back(&one);
  return result;
}

void open_loop(lines& to, const parsed_source& in, const counted_loop& loop, const replacements& by,
               pragmas which) {
  if (loop.begin < loop.at->begin) {
    std::string_view written_pragmas =
        std::string_view(in.text).substr(loop.begin, loop.at->begin - loop.begin);
    while (!written_pragmas.empty()) {
      const std::size_t end = std::min(written_pragmas.find('\n'), written_pragmas.size());
      const std::string_view line = written_pragmas.substr(0, end);
      if (which == pragmas::all || line.find("#pragma omp") == std::string_view::npos) to.add(line);
      written_pragmas.remove_prefix(std::min(end + 1, written_pragmas.size()));
    }
  }
  const node& one = *loop.at;
  std::string init = written(in, one.children[0], by);
  if (init.empty() || init.back() != ';') init += ';';
  to.open("for (" + init + " " + written(in, one.children[1], by) + "; " + written(in, one.children[2], by) +
          ")");
}

void add_statement(lines& to, const parsed_source& in, const node& one, const replacements& by) {
  if (const auto whole = by.nodes.find(&one); whole != by.nodes.end()) return to.add(whole->second);
  switch (one.kind) {
    case node_kind::block:
      to.open("");
      for (const node& child : one.children) add_statement(to, in, child, by);
      to.close();
      return;
    case node_kind::counted: {
      const auto loop = as_counted(in, one);
      if (!loop) break;
      open_loop(to, in, *loop, by);
      for (const node* child : statements_of(*loop->body)) add_statement(to, in, *child, by);
      to.close();
      return;
    }
    case node_kind::branch: {
      if (one.children.size() < 2 || one.children.size() > 3 || one.children[0].kind == node_kind::variable ||
          one.children[0].kind == node_kind::declaration)
        break;
      to.open("if (" + written(in, one.children[0], by) + ")");
      for (const node* child : statements_of(one.children[1])) add_statement(to, in, *child, by);
      if (one.children.size() == 3) {
        to.otherwise();
        for (const node* child : statements_of(one.children[2])) add_statement(to, in, *child, by);
      }
      to.close();
      return;
    }
    case node_kind::nothing:
      return;
    default:
      break;
  }
  std::string text = written(in, one, by);
  const std::size_t end = end_of_statement(in, one);
  if (end > one.end) text += ';';
  to.add(text);
}

std::string fresh_names::operator()(const std::string& name) {
  const auto taken = [&](const std::string& wanted) {
    for (std::size_t at = text_.find(wanted); at != std::string::npos; at = text_.find(wanted, at + 1)) {
      const bool whole = (at == 0 || !is_word(text_[at - 1])) &&
                         (at + wanted.size() >= text_.size() || !is_word(text_[at + wanted.size()]));
      if (whole) return true;
    }
    return false;
  };
  std::string result = name;
  for (int number = 2; taken(result); ++number) result = name + "_" + std::to_string(number);
  text_ += " " + result;
  return result;
}

void changes::replace(std::size_t begin, std::size_t end, std::string text) {
  all_.push_back({begin, end, std::move(text)});
}

void changes::replace(const counted_loop& loop, const lines& by) {
  std::string text = by.text();  // the first line is indented already, and the last one has its end
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  if (!text.empty()) text.pop_back();
  replace(loop.begin, loop.end, std::move(text));
}

std::string changes::applied_to(std::string text) const {
  std::vector<change> sorted = all_;
  // What is put in at the beginning of a part that is replaced stands in front of it.
  std::stable_sort(sorted.begin(), sorted.end(), [](const change& a, const change& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].begin < sorted[i - 1].end) throw refusal{"changes overlap"};
  }
  for (auto one = sorted.rbegin(); one != sorted.rend(); ++one)
    text.replace(one->begin, one->end - one->begin, one->text);
  return text;
}

int depth_at(const parsed_source& in, std::size_t offset) {
  const std::size_t line = offset == 0 ? std::string::npos : in.text.rfind('\n', offset - 1);
  const std::size_t start = line == std::string::npos ? 0 : line + 1;
  std::size_t blanks = 0;
  while (start + blanks < offset && in.text[start + blanks] == ' ') ++blanks;
  return static_cast<int>(blanks / 2);
}

std::size_t place_for_declarations(const parsed_source& in) {
  std::size_t at = 0;
  bool heading = true;  // comments at the top of the file
  for (std::size_t start = 0; start < in.text.size();) {
    const std::size_t end = std::min(in.text.find('\n', start), in.text.size() - 1) + 1;
    const std::string_view line = std::string_view(in.text).substr(start, end - start);
    heading = heading && line.substr(0, 2) == "//" && line.find("kevo:") == std::string_view::npos;
    if (heading || line.substr(0, 8) == "#include") at = end;
    start = end;
  }
  if (at < in.text.size() && in.text[at] == '\n') ++at;
  return at;
}

std::string grouped(const std::string& expression) {
  const bool simple = std::all_of(expression.begin(), expression.end(), is_word);
  const bool closed = !expression.empty() && expression.front() == '(' && expression.back() == ')' &&
                      std::count(expression.begin(), expression.end(), '(') == 1;
  return simple || closed ? expression : "(" + expression + ")";
}

std::string times(const std::string& a, const std::string& b) {
  if (a == "1") return b;
  if (b == "1") return a;
  const auto factor = [](const std::string& one) {
    return one.find_first_of("+-/%<>?&|,") == std::string::npos ? one : grouped(one);
  };
  return factor(a) + " * " + factor(b);
}

}  // namespace kevo::rewriting
