#include "operators/agent/agent_folder.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "operators/llm/edits.hpp"

namespace kevo {

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
