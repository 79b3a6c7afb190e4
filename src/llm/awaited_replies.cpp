#include "src/llm/awaited_replies.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/text/text_file.hpp"
#include "src/llm/program_call.hpp"
#include "src/llm/text_calls.hpp"

namespace kevo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_reply_bytes = std::size_t{4} << 20U;

void write_whole(const std::string& path, const std::string& text) {
  const std::string made = path + ".new";
  std::error_code failed;
  fs::create_directories(fs::path(path).parent_path(), failed);
  std::ofstream out(made, std::ios::binary);
  out << text;
  out.close();
  if (out) fs::rename(made, path, failed);
  if (!out || failed)
    throw error(error_code::environment, "cannot write a request to a language model", {.file = path},
                "check the permissions of the folder and the free disk space");
}

/// The messages as a person reads them.
std::string readable(const chat_request& request, const std::string& stem) {
  std::string text = fmt::format(
      "Write the reply to the following messages into {0}.reply.md, beside this file, then run `kevo "
      "resume`. "
      "A reply that calls tools goes into {0}.reply.json.\n",
      stem);
  for (const auto& message : request.messages) {
    text += fmt::format("\n---- {} ----\n\n{}\n", message.role, message.content);
    for (const auto& call : message.tool_calls)
      text += fmt::format("\ncalls {} {}\n", call.name, call.arguments);
  }
  for (const auto& tool : request.tools)
    text += fmt::format("\n---- tool {} ----\n\n{}\n{}\n", tool.name, tool.description, tool.parameters);
  return text;
}

}  // namespace

void awaited_replies::use(std::string folder) {
  const std::scoped_lock lock(guard_);
  folder_ = std::move(folder);
}

std::uint64_t awaited_replies::next_number(std::uint64_t job, const std::string& operator_name) {
  const std::scoped_lock lock(guard_);
  return numbers_[{job, operator_name}]++;
}

std::optional<chat_reply> awaited_replies::answer(const awaited_call& call, const std::string& request_json,
                                                  const chat_request& request) {
  const std::scoped_lock lock(guard_);
  if (folder_.empty())
    throw error(error_code::usage, "replies from files need the folder of a run", {.key = "llm.ask"},
                "use `kevo run` or a session, which have one");
  const std::string stem = fmt::format("{:04}-{}-{}", call.job, call.operator_name, call.number);
  const std::string path = (fs::path(folder_) / stem).string();
  for (const char* kind : {".reply.json", ".reply.md", ".reply.txt"}) {
    if (!fs::exists(path + kind)) continue;
    const std::string text = read_text_file(path + kind, most_reply_bytes, {.file = path + kind});
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) continue;  // it is still being written
    chat_reply reply = reply_of_program(text, call_ids(request));
    take_calls_from_text(reply, request.tools, call_ids(request));
    reply.tries = 1;
    return reply;
  }
  write_whole(path + ".request.json", request_json + "\n");
  write_whole(path + ".request.md", readable(request, stem));
  awaited_.emplace(call.job, path + ".request.json");
  return std::nullopt;
}

bool awaited_replies::awaits(std::uint64_t job) const {
  const std::scoped_lock lock(guard_);
  const auto first = awaited_.lower_bound({job, std::string()});
  return first != awaited_.end() && first->first == job;
}

std::vector<std::string> awaited_replies::requests() const {
  const std::scoped_lock lock(guard_);
  std::vector<std::string> all;
  for (const auto& [job, file] : awaited_) all.push_back(file);
  return all;
}

}  // namespace kevo
