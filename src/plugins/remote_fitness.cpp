// The fitness function `remote` by its settings.

#include <cstdlib>

#include <kevo/fitness/remote.hpp>

#include "src/base/settings/path_setting.hpp"
#include "src/base/text/text_file.hpp"
#include "src/plugins/builtin.hpp"

namespace kevo {
namespace {

std::string token_from(settings& from, const build_context& context) {
  const std::string variable = from.text(
      "token_env", {.def = "", .doc = "environment variable that holds the token; empty means none"});
  const std::string file =
      path_from(from, "token_file",
                {.def = "", .doc = "file that holds the token, relative to the config; empty means none"},
                context.directory);
  std::string token;
  if (from.probing()) return token;
  if (!file.empty()) {
    token = read_text_file(file, 65536, from.place("token_file"));
  } else if (!variable.empty()) {
    if (const char* value = std::getenv(variable.c_str()); value != nullptr) token = value;
    if (token.empty())
      from.fail("token_env", "the environment variable " + variable + " is not set", "export it");
  }
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' '))
    token.pop_back();
  return token;
}

any_fitness remote_from(settings& from, const build_context& context) {
  remote_settings made;
  made.urls =
      from.texts("url", {.doc = "addresses of servers (kevo serve), for example [http://127.0.0.1:8750]; if "
                                "a server cannot be reached, the program is sent to the next one"});
  made.token = token_from(from, context);
  made.ca_file =
      path_from(from, "ca_file",
                {.def = "",
                 .doc = "PEM file with certificates to trust in addition to the system's, relative "
                        "to the config; empty means none"},
                context.directory);
  made.send_task = from.boolean(
      "send_task",
      {.def = false,
       .doc = "whether the task is sent with each request; if false, the server must have the same task"});
  made.priority = from.integer(
      "priority", {.def = 0,
                   .min = -100,
                   .max = 100,
                   .doc = "order in the queue of the server; evaluations with a higher number come first"});
  made.give_up_s = from.real(
      "give_up",
      {.def = 0.0,
       .min = 0.0,
       .unit = "s",
       .doc = "the run ends when no server has answered for this long; 0: it waits without a limit"});
  if (!context.task) return {};
  return any_fitness(std::make_shared<remote_fitness>(context.task, made));
}

}  // namespace

void register_remote_fitness(registry& all) {
  all.fitness.add(
      "remote", remote_from,
      "sends candidates to servers that evaluate them (kevo serve), and waits while no server answers");
}

}  // namespace kevo
