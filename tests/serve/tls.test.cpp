// The service behind TLS, with a certificate that openssl made: clients that trust it are served, others are
// not, and a token never travels to a server whose certificate is wrong.

#include <chrono>
#include <cstdlib>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/fitness/remote.hpp>
#include <kevo/load_task.hpp>

#include "tests/serve/played_service.hpp"
#include "tests/support/skip.hpp"

namespace {

const std::string token = "0123456789abcdef0123456789abcdef";

/// Makes NAME.pem and NAME.key for this machine's own address; false if there is no openssl.
bool make_certificate(const shell::scratch& folder, const std::string& name) {
  return shell::run(
             {"/bin/sh", "-c",
              "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
              "/CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " +
                  name + ".key -out " + name + ".pem"},
             folder.string())
             .code == 0;
}

}  // namespace

TEST_CASE("a service behind TLS serves those who trust its certificate and have a token") {
  const shell::scratch folder;
  if (!make_certificate(folder, "mine") || !make_certificate(folder, "other"))
    return kevo_test::skip("there is no openssl to make a certificate with");
  shell::write_file(folder / "tokens", "ann " + token + "\n");
  std::filesystem::permissions(folder / "tokens", std::filesystem::perms::owner_read);
  const auto with = [&](const std::string& key) {
    return [&folder, key](auto& settings) {
      settings.http.certificate = (folder / "mine.pem").string();
      settings.http.key = (folder / key).string();
      settings.http.head_s = 0.5;
      settings.tokens = (folder / "tokens").string();
    };
  };
  CHECK_THROWS_WITH_AS(played::service(with("other.key")), doctest::Contains("other.key"), kevo::error);
  const played::service it(with("mine.key"));
  REQUIRE(it.url().starts_with("https://"));
  const auto task =
      std::make_shared<const kevo::task>(kevo::load_task((it.folder() / "tasks/first/task.yaml").string()));
  const kevo::evaluation_request request{.program = std::make_shared<const kevo::program>(
                                             kevo::single_file_program("text", "kernel.txt", "abc"))};
  const auto client = [&](const std::string& ca, const std::string& its_token) {
    return kevo::remote_fitness(task, {.urls = {it.url()}, .token = its_token, .ca_file = ca});
  };
  CHECK(client((folder / "mine.pem").string(), token).evaluate(request).score == 3);
  CHECK_THROWS_AS(client((folder / "other.pem").string(), token).evaluate(request), kevo::error);
  CHECK_THROWS_AS(client("", token).evaluate(request), kevo::error);
  CHECK_THROWS_WITH_AS(client((folder / "mine.pem").string(), "wrong").evaluate(request),
                       doctest::Contains("token"), kevo::error);
  CHECK(it.it->evaluations == 1);
  // Who speaks no TLS, or nothing, gets no answer and is disconnected.
  CHECK(it.ask("GET", "/healthz").status == 0);
  probe::connection silent(it.port());
  CHECK(silent.some(5000).empty());
  CHECK(silent.ended());
}
