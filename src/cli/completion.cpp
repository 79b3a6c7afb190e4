// kevo completion: prints a completion script for a shell.
#include "src/cli/completion.hpp"

#include <cstdio>
#include <functional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/cli/command.hpp"

namespace kevo::cli {
namespace {

using visit = std::function<void(const verb_description& verb, const std::string& path)>;

// Every verb below `verb`, with the words that lead to it: "task", "task check".
void each_verb(const verb_description& verb, const std::string& path, const visit& on_verb) {
  for (const auto& inner : verb.verbs) {
    const std::string at = path.empty() ? inner.name : path + " " + inner.name;
    on_verb(inner, at);
    each_verb(inner, at, on_verb);
  }
}

std::string names_of(const std::vector<verb_description>& verbs) {
  std::string names;
  for (const auto& verb : verbs) names += (names.empty() ? "" : " ") + verb.name;
  return names;
}

std::string options_of(const verb_description& verb) {
  std::string names;
  for (const auto& one : verb.options) {
    if (one.positional) continue;
    for (const auto& name : one.names) names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

// Within single quotes of a shell; fish and POSIX shells read this alike.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\"'\"'") : std::string(1, c);
  return out + "'";
}

// In a specification of zsh's _arguments brackets and colons have a meaning.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string bash_completion(const verb_description& program) {
  std::string cases;
  const auto add = [&](const verb_description& verb, const std::string& path) {
    cases +=
        fmt::format("    '{}') verbs='{}' options='{}' ;;\n", path, names_of(verb.verbs), options_of(verb));
  };
  add(program, "");
  each_verb(program, "", add);
  return fmt::format(
      "# bash completion for kevo; written by: kevo completion bash\n"
      "_kevo() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} path='' verbs options i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"${{path:+$path }}${{COMP_WORDS[i]}}\" in\n"
      "      {}) path=${{path:+$path }}${{COMP_WORDS[i]}} ;;\n"
      "    esac\n"
      "  done\n"
      "  case $path in\n{}  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
      "  elif [[ -n $verbs ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$verbs\" -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _kevo kevo\n",
      [&] {
        std::string paths;
        each_verb(program, "", [&](const verb_description&, const std::string& path) {
          paths += (paths.empty() ? "'" : " | '") + path + "'";
        });
        return paths;
      }(),
      cases);
}

std::string zsh_completion(const verb_description& program) {
  std::string verbs;
  std::string cases;
  for (const auto& verb : program.verbs)
    verbs += "    " + in_quotes(zsh_text(verb.name) + ":" + zsh_text(verb.description)) + "\n";
  for (const auto& verb : program.verbs) {
    cases += "    " + verb.name + ")\n      _arguments";
    const auto& shown = verb.verbs.empty() ? verb.options : verb.verbs.front().options;
    if (!verb.verbs.empty()) cases += " '1:verb:(" + names_of(verb.verbs) + ")'";
    for (const auto& one : shown) {
      if (one.positional) continue;
      for (const auto& name : one.names) {
        std::string spec = (one.repeats ? "*" : "") + name + "[" + zsh_text(one.description) + "]";
        if (!one.value.empty()) spec += ":" + zsh_text(one.value) + ":_files";
        cases += " \\\n        " + in_quotes(spec);
      }
    }
    cases += " \\\n        '*:file:_files'\n      ;;\n";
  }
  return "#compdef kevo\n# zsh completion for kevo; written by: kevo completion zsh\n_kevo() {\n  local -a "
         "verbs\n  verbs=(\n" +
         verbs +
         "  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n  local "
         "verb=${words[2]}\n"
         "  shift words\n  (( CURRENT-- ))\n  case $verb in\n" +
         cases + "  esac\n}\n_kevo \"$@\"\n";
}

std::string fish_completion(const verb_description& program) {
  std::string lines = "# fish completion for kevo; written by: kevo completion fish\n";
  for (const auto& verb : program.verbs)
    lines += fmt::format("complete -c kevo -n __fish_use_subcommand -f -a {} -d {}\n", verb.name,
                         in_quotes(verb.description));
  each_verb(program, "", [&](const verb_description& verb, const std::string& path) {
    const std::string first = path.substr(0, path.find(' '));
    if (path != first)
      lines += fmt::format("complete -c kevo -n '__fish_seen_subcommand_from {}' -f -a {} -d {}\n", first,
                           verb.name, in_quotes(verb.description));
    for (const auto& one : verb.options) {
      if (one.positional) continue;
      std::string names;
      for (const auto& name : one.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      lines += fmt::format("complete -c kevo -n '__fish_seen_subcommand_from {}'{}{} -d {}\n", first, names,
                           one.value.empty() ? "" : " -r", in_quotes(one.description));
    }
  });
  return lines;
}

void add_completion(CLI::App& program, invocation& /*shared*/) {
  auto* verb =
      program.add_subcommand("completion", "Print a script with which a shell completes kevo's command line");
  auto* shell = verb->add_option("shell", "bash, zsh or fish")->required();
  verb->callback([&program, shell] {
    const auto name = shell->as<std::string>();
    const auto tree = describe(program);
    if (name == "bash") {
      fmt::print("{}", bash_completion(tree));
    } else if (name == "zsh") {
      fmt::print("{}", zsh_completion(tree));
    } else if (name == "fish") {
      fmt::print("{}", fish_completion(tree));
    } else {
      throw error(error_code::usage, "there is no completion for the shell '" + name + "'", {},
                  "use bash, zsh or fish");
    }
  });
}

}  // namespace kevo::cli
