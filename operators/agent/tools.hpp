#pragma once
// The tools that an agent's model is offered, and the arguments of a call to one.

#include <map>
#include <string>
#include <vector>

#include <kevo/fitness/draft_tools.hpp>
#include <kevo/llm/chat.hpp>

namespace kevo {

/// Name, description and parameters of all tools. `outside`: those of the fitness function; may be null.
std::vector<tool_definition> agent_tools(const draft_tools* outside);
/// Whether what a tool answers does not follow from its arguments and the turn alone, so that a repeated turn
/// has to be given what it answered then.
bool answers_from_outside(const std::string& name);

/// What a model gave a tool.
struct tool_arguments {
  std::map<std::string, std::string> texts;  ///< by name; whole numbers and truth values are texts here, too
  std::string complaint;                     ///< why the call cannot be answered; empty if it can

  /// The argument of this name; empty if it was left out.
  std::string text(const std::string& name) const {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
  }
};

/// The arguments of a call. A complaint says that they are no JSON object or that one which the tool needs is
/// missing or no text; nobody is asked whether there is such a tool.
tool_arguments arguments_of(const tool_call& call);

}  // namespace kevo
