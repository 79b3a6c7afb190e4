#include "operators/agent/agent_folder.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "operators/llm/edits.hpp"

namespace kevo {
namespace {

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

/// Whether a text holds a word that is not a part of a longer name.
bool holds_name(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !is_part_of_name(text[at - 1]);
    if (begins && (end == text.size() || !is_part_of_name(text[end]))) return true;
  }
  return false;
}

/// Whether a source names a file, as an #include or a call that reads it does, or imports it as a module.
bool names(std::string_view source, std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (holds_name(source, name)) return true;
  if (!name.ends_with(".py")) return false;
  const std::string_view module = name.substr(0, name.size() - 3);
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with("import ") && !line.starts_with("from ")) continue;
    std::string words(line);
    std::replace(words.begin(), words.end(), '.', ' ');
    if (holds_name(words, module)) return true;
  }
  return false;
}

}  // namespace

std::string path_complaint(const std::string& path) {
  if (path.empty()) return "the path is empty";
  if (path.size() > 200) return "the path is longer than 200 characters";
  if (path.front() == '/') return "the path is absolute: name a file of the scratch folder";
  const bool plain = std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
  });
  if (!plain) return "the path holds characters other than letters, digits, _ - . /";
  std::size_t at = 0;
  while (at <= path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part.front() == '.')
      return "the path has an empty part or one that begins with a dot";
  }
  return {};
}

const source_file* agent_folder::find(const std::string& path) const {
  const auto it =
      std::find_if(work_.files.begin(), work_.files.end(), [&](const auto& f) { return f.path == path; });
  return it == work_.files.end() ? nullptr : &*it;
}

std::vector<std::string> agent_folder::paths() const {
  std::vector<std::string> all;
  for (const auto& file : work_.files) all.push_back(file.path);
  return all;
}

std::string agent_folder::read(const std::string& path, std::string& text) const {
  if (auto wrong = path_complaint(path); !wrong.empty()) return wrong;
  const source_file* file = find(path);
  if (file == nullptr) return fmt::format("there is no file '{}'", path);
  text = file->text;
  return {};
}

std::string agent_folder::write(const std::string& path, std::string text) {
  if (auto wrong = path_complaint(path); !wrong.empty()) return wrong;
  std::size_t bytes = text.size();
  for (const auto& file : work_.files) bytes += file.path == path ? 0 : file.text.size();
  if (bytes > most_bytes) return fmt::format("the files would hold more than {} bytes", most_bytes);
  if (text.find('\0') != std::string::npos) return "the text holds a NUL byte";
  for (auto& file : work_.files) {
    if (file.path != path) continue;
    file.text = std::move(text);
    return {};
  }
  if (work_.files.size() >= most_files) return fmt::format("there are {} files already", most_files);
  work_.files.push_back({path, std::move(text)});
  return {};
}

std::string agent_folder::grep(const std::string& text, const std::string& path) const {
  std::string found;
  for (const auto& file : work_.files) {
    if (!path.empty() && file.path != path) continue;
    std::string_view rest = file.text;
    for (std::size_t line = 1; !rest.empty(); ++line) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view one = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (one.find(text) != std::string_view::npos) found += fmt::format("{}:{}: {}\n", file.path, line, one);
    }
  }
  return found;
}

std::optional<program> agent_folder::beginning_with(const std::string& path) const {
  const source_file* first = find(path);
  if (first == nullptr) return std::nullopt;
  program made = work_;
  made.files = {*first};
  for (const auto& file : work_.files) {
    if (&file != first) made.files.push_back(file);
  }
  return made;
}

std::string agent_folder::remove(const std::string& path) {
  if (auto wrong = path_complaint(path); !wrong.empty()) return wrong;
  const source_file* file = find(path);
  if (file == nullptr) return fmt::format("there is no file '{}'", path);
  if (file == &work_.files.front()) return fmt::format("'{}' is the file that is built", path);
  std::erase_if(work_.files, [&](const source_file& one) { return one.path == path; });
  return {};
}

program agent_folder::candidate(const program& parent) const {
  std::vector<bool> kept(work_.files.size(), false);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i] = i == 0 || std::any_of(parent.files.begin(), parent.files.end(),
                                    [&](const source_file& one) { return one.path == work_.files[i].path; });
  }
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      for (std::size_t from = 0; from < kept.size() && !kept[i]; ++from) {
        if (kept[from] && names(work_.files[from].text, work_.files[i].path)) kept[i] = more = true;
      }
    }
  }
  program made = work_;
  made.files.clear();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) made.files.push_back(work_.files[i]);
  }
  return made;
}

std::string agent_folder::edit(const std::string& path, const std::string& search,
                               const std::string& replace) {
  std::string text;
  if (auto wrong = read(path, text); !wrong.empty()) return wrong;
  std::string complaint;
  text = apply_edits(text, {edit_of(search, replace)}, complaint);
  if (!complaint.empty()) return complaint;
  return write(path, std::move(text));
}

}  // namespace kevo
