// kevo serve: evaluations for other programs, over HTTP.

#include <chrono>
#include <cstdio>
#include <sstream>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/text/counted.hpp"
#include "src/base/text/text_file.hpp"
#include "src/cli/command.hpp"
#include "src/cli/fitness_options.hpp"
#include "src/cli/standard_error.hpp"
#include "src/plugins/builtin.hpp"
#include "src/run/interrupts.hpp"
#include "src/serve/service.hpp"

namespace kevo::cli {
namespace {

struct serve_options {
  serve::service_settings settings;
  std::string listen = "127.0.0.1:8750";
  std::vector<std::string> overrides;
  std::string forward_token;
};

/// "127.0.0.1:8750" or "[::1]:8750".
void take_address(const std::string& text, serve::http_settings& to) {
  const auto colon = text.rfind(':');
  int port = -1;
  if (colon != std::string::npos && colon + 1 < text.size() &&
      text.find_first_not_of("0123456789", colon + 1) == std::string::npos && text.size() - colon <= 6)
    port = std::stoi(text.substr(colon + 1));
  if (port < 0 || port > 65535)
    throw error(error_code::usage, "'" + text + "' is not an address with a port", {},
                "for example --listen 127.0.0.1:8750");
  to.port = static_cast<std::uint16_t>(port);
  to.address = text.substr(0, colon);
  if (to.address.size() > 2 && to.address.front() == '[' && to.address.back() == ']')
    to.address = to.address.substr(1, to.address.size() - 2);
}

/// To whom evaluations are handed on.
void take_forward(serve_options& given) {
  auto& to = given.settings.forward;
  if (to.urls.empty()) {
    if (!given.forward_token.empty() || !to.ca_file.empty())
      throw error(error_code::usage, "--forward-token and --forward-ca need --forward", {},
                  "add --forward URL, or remove them");
    return;
  }
  if (!given.overrides.empty())
    throw error(error_code::usage, "with --forward, settings of the fitness function have no effect", {},
                "give them to the servers that evaluate");
  if (!given.forward_token.empty()) {
    std::istringstream words(read_text_file(given.forward_token, 65536));
    words >> to.token;
  }
  // A server that is one of several copies behind a proxy must not be asked twice while it is at work: the
  // second time it would be another one. The wait ends if the connection does.
  to.wait_s = 3600;
  to.most_losses = 5;
  to.through_proxy = true;
}

void serve_until_stopped(serve_options& given) {
  take_address(given.listen, given.settings.http);
  take_forward(given);
  registry plugins = builtin_plugins();
  const fitness_choice choice = read_fitness_options({.config = {}, .overrides = given.overrides}, plugins);
  const auto make = [&](std::shared_ptr<const task> one) {
    return make_fitness(choice, plugins, {.task = std::move(one), .plugins = &plugins});
  };
  interrupts signals;
  {
    const serve::service running(given.settings, make, [](const std::string& line) { say("kevo: " + line); });
    fmt::print("serving {} on {}\n", format::counted(running.tasks(), "task"), running.url());
    std::fflush(stdout);
    while (!signals.graceful_stop().stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      signals.poll();
    }
    fmt::print("ending; unfinished evaluations continue when the server is started again\n");
    std::fflush(stdout);
  }
}

void add_forward(CLI::App& verb, serve_options& given) {
  auto& to = given.settings.forward;
  verb.add_option(
          "--forward", to.urls,
          "Forward evaluations to the server at this address instead of making them on this machine. This "
          "server then keeps the queue, the record and the tenants; may be given several times")
      ->allow_extra_args(false);
  verb.add_option("--forward-token", given.forward_token, "File with the token for these servers");
  verb.add_option("--forward-ca", to.ca_file,
                  "PEM file with certificates of these servers to trust in addition to the system's");
}

void add_limits(CLI::App& verb, serve_options& given) {
  auto& http = given.settings.http;
  verb.add_option("--at-once", given.settings.at_once,
                  "Number of evaluations that run at the same time (default 1)")
      ->check(CLI::Range(1, 1024));
  verb.add_option("--queue", given.settings.longest_queue,
                  "Maximum number of evaluations that wait (default 100000)")
      ->check(CLI::Range(1, 100000000));
  verb.add_option("--rate", given.settings.requests_per_s,
                  "Maximum number of requests per second for each tenant (default: no limit)")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--body", http.body_bytes, "Maximum size of a request's body in bytes (default 16777216)")
      ->check(CLI::Range(1, 1 << 30));
  verb.add_option("--connections", http.connections, "Maximum number of open connections (default 1024)")
      ->check(CLI::Range(1, 1000000));
  verb.add_option("--connections-per-address", http.connections_of_address,
                  "Maximum number of open connections of one address (default 256)")
      ->check(CLI::Range(1, 1000000));
  verb.add_option("--read-timeout", http.body_s,
                  "Seconds in which a request must arrive completely (default 60)")
      ->check(CLI::PositiveNumber);
  verb.add_option("--threads", http.threads, "Number of threads that answer requests (default 2)")
      ->check(CLI::Range(1, 64));
}

}  // namespace

void add_serve(CLI::App& program, invocation& shared) {
  (void)shared;
  auto* verb = program.add_subcommand("serve", "Evaluate programs for other programs, over HTTP");
  auto given = std::make_shared<serve_options>();
  verb->add_option("tasks", given->settings.tasks, "Task files, and folders in which all tasks are served");
  verb->add_option(
          "--state", given->settings.state,
          "Folder of the record of all requests and results, from which a restarted server continues")
      ->required();
  verb->add_option(
      "--listen", given->listen,
      "Address and port (default 127.0.0.1:8750; port 0 means any). An address that other machines "
      "reach needs --tokens");
  verb->add_option("--tokens", given->settings.tokens,
                   "File with a line NAME TOKEN for each token of a tenant");
  verb->add_option("--certificate", given->settings.http.certificate,
                   "PEM file with the certificate, for TLS");
  verb->add_option("--key", given->settings.http.key, "PEM file with the key of the certificate");
  verb->add_flag("--allow-tasks", given->settings.allow_tasks,
                 "Also take tasks that come with requests; their references and baselines are executed as "
                 "trusted programs");
  add_limits(*verb, *given);
  add_forward(*verb, *given);
  verb->add_option(
          "--set", given->overrides,
          "Set a fitness setting: --set fitness.compiler=clang++. Relative paths start in the current folder")
      ->allow_extra_args(false);
  verb->callback([given] { serve_until_stopped(*given); });
}

}  // namespace kevo::cli
