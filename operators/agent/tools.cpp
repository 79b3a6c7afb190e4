#include "operators/agent/tools.hpp"

#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace kevo {
namespace {

namespace json = boost::json;

/// A tool of text arguments; names that end in '?' may be left out.
tool_definition tool(const char* name, const char* description, const std::vector<std::string>& texts = {}) {
  std::string properties;
  std::string required;
  for (std::string text : texts) {
    const bool optional = text.ends_with('?');
    if (optional) text.pop_back();
    properties += fmt::format(R"({}"{}":{{"type":"string"}})", properties.empty() ? "" : ",", text);
    if (!optional) required += fmt::format(R"({}"{}")", required.empty() ? "" : ",", text);
  }
  return {name, description,
          fmt::format(R"({{"type":"object","properties":{{{}}},"required":[{}]}})", properties, required)};
}

/// Checked before a tool does anything.
constexpr std::pair<const char*, const char*> required_arguments[] = {
    {"read_file", "path"},   {"write_file", "path"},   {"write_file", "text"},
    {"edit_file", "path"},   {"edit_file", "search"},  {"edit_file", "replace"},
    {"delete_file", "path"}, {"read_candidate", "id"}, {"search_knowledge", "query"},
    {"submit", "summary"},   {"grep", "text"},         {"run", "path"},
    {"compare", "draft"}};

}  // namespace

bool answers_from_outside(const std::string& name) {
  return name == "run" || name == "assembly";
}

std::vector<tool_definition> agent_tools(const draft_tools* outside) {
  std::vector<tool_definition> all = {
      tool("list_files", "Names of the files in your scratch folder."),
      tool("read_file", "Text of a file of your scratch folder.", {"path"}),
      tool("write_file",
           "Replace or add a file of your scratch folder. A new file becomes a part of the program if a file "
           "of "
           "the program includes or imports it.",
           {"path", "text"}),
      tool("edit_file",
           "Replace text in a file: whole lines, or a part of one. `search` must fit in exactly one place.",
           {"path", "search", "replace"}),
      tool("delete_file", "Remove a file of your scratch folder.", {"path"}),
      tool("grep", "Lines of the files of your scratch folder, or of one of them, that contain a text.",
           {"text", "path?"}),
      tool("reset", "Make your scratch folder the parent again, or one of your drafts by number.",
           {"draft?"}),
      tool("diff", "What your main file changed against the parent's, or against a candidate's by number.",
           {"id?"}),
      tool("read_lineage", "Ancestors and earlier children of the parent, with plan and outcome."),
      tool("read_candidate",
           "Source and evaluation of an ancestor, sibling, child of the parent or other selected "
           "candidate, by number.",
           {"id"}),
      tool("search_knowledge", "Pages on optimization techniques that match these words.", {"query"}),
      tool("compile", "Build what is in your scratch folder."),
      tool("test", "Build it, and check its results."),
      tool("time", "Build it, check its results, and time it."),
      tool("compare",
           "How many times as fast one of your drafts, by number, is as another one, or as the parent if "
           "`with` "
           "is left out: for each workload, with an interval of confidence. Both must have been timed.",
           {"draft", "with?"}),
      tool("profile",
           "Measures, timings by workload and resources, as your latest build, test or timing found them."),
      tool(
          "submit",
          "End your work with what is in your scratch folder, or with one of your drafts by number: it must "
          "be "
          "timed, valid and not slower than the parent. If an earlier draft was faster, you are told, unless "
          "`force` is \"true\".",
          {"summary", "draft?", "force?"})};
  if (outside != nullptr && outside->run)
    all.push_back(tool(
        "run",
        "Build and run a file of your scratch folder that has a function main and may include your other "
        "files: a microbenchmark, a look at CPUID, a test of an idea. It runs alone on a processor that is "
        "measured on, for at most 10 s, without network and files of others, and you get what it prints. "
        "With `counters` \"true\", also its instructions, cycles and cache misses.",
        {"path", "counters?"}));
  if (outside != nullptr && outside->assembly)
    all.push_back(
        tool("assembly",
             "The innermost loops in the machine code of what is in your scratch folder, with vector "
             "width, spilled registers and, where it is installed, what llvm-mca says of the first "
             "one. `function`: only loops of functions whose name contains this.",
             {"function?"}));
  return all;
}

tool_arguments arguments_of(const tool_call& call) {
  boost::system::error_code ec;
  const json::value parsed =
      json::parse(call.arguments.empty() ? "{}" : call.arguments, ec, {}, {.max_depth = 16});
  tool_arguments result;
  if (ec || !parsed.is_object()) {
    result.complaint = "the arguments are no JSON object" + (ec ? ": " + ec.message() : std::string());
    return result;
  }
  for (const auto& [name, value] : parsed.get_object()) {
    if (value.is_string()) result.texts[std::string(name)] = value.get_string();
    if (value.is_bool()) result.texts[std::string(name)] = value.get_bool() ? "true" : "false";
    if (value.is_int64()) result.texts[std::string(name)] = std::to_string(value.get_int64());
  }
  for (const auto& [name, needed] : required_arguments) {
    if (call.name != name || result.texts.contains(needed)) continue;
    result.complaint = fmt::format("the argument '{}' is missing or no text", needed);
    break;
  }
  return result;
}

}  // namespace kevo
