// kevo man: prints the manual page.
#include "src/cli/manual_page.hpp"

#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "src/cli/command.hpp"

namespace kevo::cli {
namespace {

// Backslashes begin requests, a hyphen would become a typographic one, and a line may not begin with a dot or
// an apostrophe.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

std::string synopsis(const verb_description& verb, const std::string& path) {
  std::string line = "\\fB" + roff(path) + "\\fR [\\fIOPTIONS\\fR]";
  for (const auto& one : verb.options) {
    if (!one.positional) continue;
    std::string name = "\\fI" + roff(one.names.front()) + "\\fR";
    if (one.repeats) name += "...";
    line += one.required ? " " + name : " [" + name + "]";
  }
  return line;
}

void write_verb(std::string& page, const verb_description& verb, const std::string& path) {
  if (verb.verbs.empty()) {
    page += ".SS " + roff(path) + "\n" + synopsis(verb, path) + "\n.PP\n" + roff(verb.description) + ".\n";
    for (const auto& one : verb.options) {
      page += ".TP\n\\fB" + roff(fmt::format("{}", fmt::join(one.names, ", "))) + "\\fR";
      if (!one.value.empty() && !one.positional) page += " \\fI" + roff(one.value) + "\\fR";
      if (one.repeats && !one.positional) page += "...";
      page += "\n" + roff(one.description) + "\n";
    }
  }
  for (const auto& inner : verb.verbs) write_verb(page, inner, path + " " + inner.name);
}

}  // namespace

std::string manual_page(const verb_description& program, std::string_view version) {
  std::string page = ".TH KEVO 1 \"\" \"kevo " + roff(version) + "\" \"User Commands\"\n";
  page += ".SH NAME\nkevo \\- evolve compute kernels\n";
  page += ".SH SYNOPSIS\n\\fBkevo\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n";
  page += ".SH DESCRIPTION\n" + roff(program.description) + "\n";
  page += ".SH COMMANDS\n";
  for (const auto& verb : program.verbs) write_verb(page, verb, "kevo " + verb.name);
  page +=
      ".SH EXIT STATUS\n.TP\n0\nThe command did its job. A candidate that is not valid is a result, not an "
      "error.\n"
      ".TP\n1\nThe environment failed, for example a full disk or a compiler that is missing.\n"
      ".TP\n2\nThe usage or an input is wrong; the message names the file, the line and the key. A run in "
      "which no candidate was valid ends with 2, too, as does \\fBkevo attack \\-\\-fail\\fR if an exploit "
      "got through.\n"
      ".TP\n3\nOnly with \\fB\\-\\-require\\-confirmed\\fR: the run ended without a confirmed best program.\n"
      ".TP\n130\nThe program was interrupted. A run that was interrupted goes on with \\fBkevo resume\\fR.\n";
  return page;
}

void add_man(CLI::App& program, invocation& /*shared*/) {
  auto* verb = program.add_subcommand("man", "Print the manual page, in the format that man reads");
  verb->callback([&program] { fmt::print("{}", manual_page(describe(program), version_number())); });
}

}  // namespace kevo::cli
