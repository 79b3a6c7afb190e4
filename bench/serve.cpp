// How many requests for results that it has `kevo serve` answers, and how fast.
//   bench.serve KEVO [--rate 1000] [--seconds 20] [--connections 16] [--results 200] [--new 0]
// Starts that program with a fitness function that costs little, lets it evaluate some programs, and then
// asks for their results at a fixed rate. A request's time counts from the moment at which it was to be sent,
// also where its connection was still busy with the one before. Meanwhile, --new programs a second that the
// server does not know are submitted, which it has to record. Prints the rate and percentiles.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/http_probe.hpp"
#include "tests/support/served.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

struct options {
  double rate = 1000;  ///< [1/s]
  double seconds = 20;
  int connections = 16;
  int results = 200;
  double fresh = 0;  ///< [1/s] programs that the server does not know
};

/// Times [ms] of the requests of one connection; -1 for one without its result.
std::vector<double> ask(int port, const options& given, int which, clock_type::time_point from) {
  probe::connection line(port);
  std::vector<double> times;
  const auto total = static_cast<long>(given.rate * given.seconds);
  for (long i = which; i < total; i += given.connections) {
    const auto due = from + std::chrono::duration_cast<clock_type::duration>(
                                std::chrono::duration<double>(static_cast<double>(i) / given.rate));
    std::this_thread::sleep_until(due);
    const auto said =
        line.ask("POST", "/v1/evaluations", shell::number_request(static_cast<int>(i % given.results)));
    const std::chrono::duration<double, std::milli> took = clock_type::now() - due;
    times.push_back(said.status == 200 ? took.count() : -1);
  }
  return times;
}

void submit_new_programs(int port, const options& given, clock_type::time_point from) {
  if (given.fresh <= 0) return;
  probe::connection line(port);
  const auto total = static_cast<int>(given.fresh * given.seconds);
  for (int i = 0; i < total; ++i) {
    std::this_thread::sleep_until(from + std::chrono::duration_cast<clock_type::duration>(
                                             std::chrono::duration<double>(i / given.fresh)));
    line.ask("POST", "/v1/evaluations", shell::number_request(given.results + i));
  }
}

}  // namespace

int main(int count, char** words) {
  options given;
  if (count < 2) {
    std::fputs("usage: bench.serve KEVO [--rate R] [--seconds S] [--connections N] [--results N] [--new R]\n",
               stderr);
    return 2;
  }
  for (int i = 2; i + 1 < count; i += 2) {
    const std::string key = words[i];
    if (key == "--rate") given.rate = std::atof(words[i + 1]);
    if (key == "--seconds") given.seconds = std::atof(words[i + 1]);
    if (key == "--connections") given.connections = std::max(1, std::atoi(words[i + 1]));
    if (key == "--new") given.fresh = std::atof(words[i + 1]);
    if (key == "--results") given.results = std::max(1, std::atoi(words[i + 1]));
  }
  const shell::scratch folder;
  auto words_of_server = shell::numbers_service(folder.string());
  words_of_server.insert(words_of_server.begin(), std::filesystem::absolute(words[1]).string());
  shell::served server(words_of_server, folder.string());
  const int port = server.port();
  if (port == 0) {
    std::fputs("the server does not start\n", stderr);
    return 1;
  }
  for (int i = 0; i < given.results; ++i)
    probe::ask(port, "POST", "/v1/evaluations?wait=60", shell::number_request(i));
  const auto from = clock_type::now() + std::chrono::milliseconds(50);
  std::vector<std::vector<double>> parts(static_cast<std::size_t>(given.connections));
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { submit_new_programs(port, given, from); });
    for (int i = 0; i < given.connections; ++i)
      threads.emplace_back([&, i] { parts[static_cast<std::size_t>(i)] = ask(port, given, i, from); });
  }
  const std::chrono::duration<double> took = clock_type::now() - from;
  server.end(SIGTERM);
  std::vector<double> times;
  for (const auto& part : parts) times.insert(times.end(), part.begin(), part.end());
  std::sort(times.begin(), times.end());
  const auto without = std::count(times.begin(), times.end(), -1.0);
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf("%zu requests in %.2f s: %.0f a second, %ld without their result\n", times.size(), took.count(),
              static_cast<double>(times.size()) / took.count(), static_cast<long>(without));
  std::printf("[ms] median %.2f, p90 %.2f, p99 %.2f, p99.9 %.2f, longest %.2f\n", at(0.5), at(0.9), at(0.99),
              at(0.999), times.back());
  return without == 0 ? 0 : 1;
}
