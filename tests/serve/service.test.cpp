// timed
// The service's own interface: submissions are evaluated once, in their order, and seen by their tenant only.

#include <chrono>
#include <condition_variable>
#include <thread>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>
#include <kevo/task_id.hpp>

#include "src/serve/routes.hpp"
#include "tests/serve/played_service.hpp"

namespace {

using played::object;
using played::submission;
using played::text_in;

/// A door that evaluations wait at.
struct door {
  std::mutex guard;
  std::condition_variable_any moved;
  bool open = false;
  void pass(const std::stop_token& stop) {
    std::unique_lock lock(guard);
    moved.wait(lock, stop, [this] { return open; });
    if (stop.stop_requested()) throw kevo::error(kevo::error_code::interrupted, "interrupted");
  }
  void let_in() {
    const std::scoped_lock lock(guard);
    open = true;
    moved.notify_all();
  }
};

std::shared_ptr<door> close_door(const played::service& of) {
  auto made = std::make_shared<door>();
  of.it->before = [made](const kevo::evaluation_request& request) { made->pass(request.stop); };
  return made;
}

template <class Condition>
bool soon(Condition holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

void with_tokens(const shell::scratch& folder, kevo::serve::service_settings& settings) {
  const auto file = folder / "tokens";
  shell::write_file(file, "# tenants\nann aaaaaaaaaaaaaaaaaaaa\nbob bbbbbbbbbbbbbbbbbbbb\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  settings.tokens = file.string();
}

const std::string ann = "aaaaaaaaaaaaaaaaaaaa";
const std::string bob = "bbbbbbbbbbbbbbbbbbbb";

}  // namespace

TEST_CASE("a program is evaluated once, however often it is submitted, and the result can be waited for") {
  const played::service it;
  const auto first = it.ask("POST", "/v1/evaluations?wait=20", submission("abc"));
  REQUIRE(first.status == 200);
  CHECK(text_in(first, "status") == "done");
  CHECK(object(first).at("evaluation").at("score").to_number<double>() == 3);
  const auto again = it.ask("POST", "/v1/evaluations", submission("abc"));
  CHECK(again.status == 200);
  CHECK(text_in(again, "id") == text_in(first, "id"));
  CHECK(it.ask("GET", "/v1/evaluations/" + text_in(first, "id")).status == 200);
  CHECK(it.it->evaluations == 1);
  // Another task, stage, attempt or text is another content.
  CHECK(it.ask("POST", "/v1/evaluations?wait=20", submission("abc", "", "second")).status == 200);
  CHECK(it.ask("POST", "/v1/evaluations?wait=20", submission("abc", R"("stage":"built")")).status == 200);
  CHECK(it.ask("POST", "/v1/evaluations?wait=20", submission("abc", R"("attempt":"2")")).status == 200);
  CHECK(it.ask("POST", "/v1/evaluations?wait=20", submission("abd")).status == 200);
  CHECK(it.it->evaluations == 5);
  CHECK(it.ask("POST", "/v1/evaluations?wait=20", submission("abc", R"("second_try":true)")).status == 200);
  CHECK(it.it->evaluations == 5);  // as without it
  bool second_try = true;
  it.it->before = [&](const kevo::evaluation_request& asked) { second_try = asked.second_try; };
  CHECK(it.ask("POST", "/v1/evaluations?wait=20", submission("abc", R"("second_try":false)")).status == 200);
  CHECK(it.it->evaluations == 6);
  CHECK_FALSE(second_try);
  CHECK(it.ask("POST", "/v1/evaluations", submission("abc", R"("second_try":1)")).status == 400);
}

TEST_CASE("results outlive the server, and what was queued or at work goes on") {
  played::service it;
  CHECK(it.ask("POST", "/v1/evaluations?wait=20", submission("abc")).status == 200);
  const auto shut = close_door(it);
  const auto at_work = it.ask("POST", "/v1/evaluations", submission("abcd"));
  const auto queued = it.ask("POST", "/v1/evaluations", submission("abcde"));
  CHECK(at_work.status == 202);
  CHECK(soon([&] { return it.it->evaluations == 2; }));
  it.stop();
  it.it->before = {};
  it.start();
  CHECK(it.ask("POST", "/v1/evaluations", submission("abc")).status == 200);
  for (const auto& each : {at_work, queued})
    CHECK(it.ask("GET", "/v1/evaluations/" + text_in(each, "id") + "?wait=20").status == 200);
  CHECK(it.it->evaluations == 4);  // the one at work began twice
  CHECK(it.log().find("2 evaluations of an earlier server are continued") != std::string::npos);
}

TEST_CASE("priority comes before deadline, deadline before order; what is late expires") {
  const played::service it;
  const auto shut = close_door(it);
  CHECK(it.ask("POST", "/v1/evaluations", submission("first")).status == 202);
  CHECK(soon([&] { return it.it->evaluations == 1; }));
  it.ask("POST", "/v1/evaluations", submission("plain"));
  it.ask("POST", "/v1/evaluations", submission("plain too"));
  it.ask("POST", "/v1/evaluations", submission("later deadline", R"("deadline_s":1000)"));
  it.ask("POST", "/v1/evaluations", submission("sooner deadline", R"("deadline_s":500)"));
  const auto low = it.ask("POST", "/v1/evaluations", submission("low", R"("priority":-1)"));
  CHECK(object(low).at("position").as_int64() == 4);
  it.ask("POST", "/v1/evaluations", submission("high", R"("priority":5)"));
  const auto late = it.ask("POST", "/v1/evaluations", submission("late", R"("deadline_s":0.001)"));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  shut->let_in();
  CHECK(it.ask("GET", "/v1/evaluations/" + text_in(low, "id") + "?wait=20").status == 200);
  CHECK(it.it->order == std::vector<std::string>{"first", "high", "sooner deadline", "later deadline",
                                                 "plain", "plain too", "low"});
  const auto expired = it.ask("GET", "/v1/evaluations/" + text_in(late, "id"));
  CHECK(text_in(expired, "status") == "expired");
  CHECK(text_in(it.ask("POST", "/v1/evaluations?wait=20", submission("late")), "status") == "done");
}

TEST_CASE("what several ask for waits with the highest priority and the latest deadline of them") {
  const played::service it;
  const auto shut = close_door(it);
  it.ask("POST", "/v1/evaluations", submission("first"));
  REQUIRE(soon([&] { return it.it->evaluations == 1; }));
  it.ask("POST", "/v1/evaluations", submission("other"));
  it.ask("POST", "/v1/evaluations", submission("shared", R"("deadline_s":0.001,"priority":-5)"));
  const auto again = it.ask("POST", "/v1/evaluations", submission("shared", R"("priority":5)"));
  CHECK(object(again).at("position").as_int64() == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  shut->let_in();
  CHECK(text_in(it.ask("POST", "/v1/evaluations?wait=20", submission("shared")), "status") == "done");
  CHECK(it.ask("POST", "/v1/evaluations?wait=20", submission("other")).status == 200);
  CHECK(it.it->order == std::vector<std::string>{"first", "shared", "other"});
}

TEST_CASE("a failure of the machine is no result, and is tried again when it is asked for again") {
  const played::service it;
  it.it->before = [&](const kevo::evaluation_request&) {
    if (it.it->evaluations == 1) throw kevo::error(kevo::error_code::environment, "no compiler");
  };
  const auto failed = it.ask("POST", "/v1/evaluations?wait=20", submission("abc"));
  CHECK(text_in(failed, "status") == "failed");
  CHECK(failed.body.find("no compiler") != std::string::npos);
  CHECK(text_in(it.ask("POST", "/v1/evaluations?wait=20", submission("abc")), "status") == "done");
  const auto shut = close_door(it);
  const auto late = it.ask("POST", "/v1/evaluations?wait=20", submission("slow", R"("limit_s":0.05)"));
  CHECK(text_in(late, "status") == "failed");
  CHECK(late.body.find("\"code\":\"timeout\"") != std::string::npos);
}

TEST_CASE("a tenant sees its own evaluations and events only; one content is evaluated once for all") {
  const shell::scratch folder;
  const played::service it([&](auto& settings) { with_tokens(folder, settings); });
  probe::connection events(it.port());
  events.send("GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + bob + "\r\n\r\n");
  std::string heard = events.some(5000);
  CHECK(heard.starts_with("HTTP/1.1 200"));
  const auto hers = it.ask("POST", "/v1/evaluations?wait=20", submission("abc"), ann);
  REQUIRE(hers.status == 200);
  const auto address = "/v1/evaluations/" + text_in(hers, "id");
  CHECK(it.ask("GET", address, "", ann).status == 200);
  CHECK(it.ask("GET", address, "", bob).status == 404);
  CHECK(it.ask("GET", address).status == 401);
  CHECK(it.ask("GET", address, "", "cccccccccccccccccccc").status == 401);
  const auto his = it.ask("POST", "/v1/evaluations?wait=20", submission("abc"), bob);
  CHECK(text_in(his, "id") != text_in(hers, "id"));
  CHECK(it.it->evaluations == 1);
  const auto new_one = it.ask("POST", "/v1/evaluations?wait=20", submission("xyz"), bob);
  while (heard.find("event: done") == std::string::npos) {
    const std::string more = events.some(10000);
    REQUIRE(!more.empty());
    heard += more;
  }
  CHECK(heard.find("event: running\ndata: {\"id\":\"" + text_in(new_one, "id")) != std::string::npos);
  CHECK(heard.find(text_in(hers, "id")) == std::string::npos);
}

TEST_CASE("a tenant with a full queue holds up nobody: turns are shared, and others are still admitted") {
  const shell::scratch folder;
  played::service it([&folder](auto& settings) {
    with_tokens(folder, settings);
    settings.longest_queue = 4;
  });
  const auto entry = close_door(it);
  const auto ask = [&](const std::string& text, const std::string& token) {
    return it.ask("POST", "/v1/evaluations", submission(text, R"("priority": 50)"), token).status;
  };
  CHECK(ask("a0", ann) == 202);
  REQUIRE(soon([&] { return it.it->evaluations == 1; }));
  for (const char* text : {"a1", "a2", "a3", "a4"}) CHECK(ask(text, ann) == 202);
  CHECK(ask("a5", ann) == 429);
  for (const char* text : {"b1", "b2"})
    CHECK(it.ask("POST", "/v1/evaluations", submission(text), bob).status == 202);
  CHECK(it.ask("POST", "/v1/evaluations", submission("b3"), bob).status == 429);
  entry->let_in();
  REQUIRE(soon([&] { return it.it->evaluations == 7; }));
  const std::scoped_lock lock(it.it->guard);
  const auto place = [&](const std::string& text) {
    return std::find(it.it->order.begin(), it.it->order.end(), text) - it.it->order.begin();
  };
  CHECK(place("b1") == 1);
  CHECK(place("b2") <= 3);
}

TEST_CASE("no request gives, changes or removes a result") {
  const played::service it;
  const auto made = it.ask("POST", "/v1/evaluations?wait=20", submission("abc"));
  const std::string address = "/v1/evaluations/" + text_in(made, "id");
  const std::string forged = R"({"status":"done","evaluation":{"outcome":"valid","score":99}})";
  for (const char* method : {"PUT", "PATCH", "DELETE", "POST"}) {
    CHECK(it.ask(method, address).status == 405);
    CHECK(it.ask(method, address, forged).status / 100 == 4);
  }
  CHECK(it.ask("POST", "/v1/evaluations", submission("abc", R"("evaluation":{"outcome":"valid"})")).status ==
        400);
  CHECK(object(it.ask("GET", address)).at("evaluation").at("score").to_number<double>() == 3);
  // Whatever differs in a program, its names too, is another program with a result of its own.
  std::string renamed = submission("abc");
  renamed.replace(renamed.find("kernel.txt"), 10, "kernel.tx2");
  CHECK(text_in(it.ask("POST", "/v1/evaluations?wait=20", renamed), "id") != text_in(made, "id"));
  CHECK(it.it->evaluations == 2);
}

TEST_CASE("sizes of hidden workloads go to those who have the task; another task of that name is refused") {
  const played::service it;
  const auto tasks = it.ask("GET", "/v1/tasks");
  REQUIRE(object(tasks).at("tasks").as_array().size() == 2);
  // Nobody learns the id from the server: it is the proof of having the task.
  const auto id =
      kevo::to_string(kevo::id_of(kevo::load_task((it.folder() / "tasks/first/task.yaml").string())));
  CHECK(tasks.body.find(id) == std::string::npos);
  CHECK(it.ask("POST", "/v1/evaluations?wait=20", submission("abc")).body.find("secret size") ==
        std::string::npos);
  const auto knowing =
      it.ask("POST", "/v1/evaluations?wait=20", submission("abc", R"("task_id":")" + id + '"'));
  CHECK(knowing.body.find("secret size") != std::string::npos);
  CHECK(it.it->evaluations == 1);
  const auto other =
      it.ask("POST", "/v1/evaluations", submission("abc", R"("task_id":")" + std::string(32, '0') + '"'));
  CHECK(other.status == 409);
  CHECK(other.body.find(id) == std::string::npos);
  CHECK(it.ask("POST", "/v1/evaluations", submission("abc", "", "third")).status == 404);
}

TEST_CASE("a batch is answered in its order, its errors in their places") {
  const played::service it;
  const auto answered = it.ask("POST", "/v1/batches",
                               R"({"evaluations":[)" + submission("a") + "," + submission("b", "", "none") +
                                   R"(,{"task":1},)" + submission("ccc") + "]}");
  REQUIRE(answered.status == 200);
  const auto all = object(answered).at("evaluations").as_array();
  REQUIRE(all.size() == 4);
  CHECK(all[1].at("error").at("code") == "not_found");
  CHECK(all[2].at("error").at("code") == "input");
  for (const std::size_t place : {std::size_t{0}, std::size_t{3}}) {
    const auto done =
        it.ask("GET", "/v1/evaluations/" + std::string(all[place].at("id").as_string()) + "?wait=20");
    CHECK(object(done).at("evaluation").at("score").to_number<double>() == (place == 0 ? 1 : 3));
  }
}

TEST_CASE("a sent task is taken where that is allowed") {
  const std::string sent =
      R"({"task":{"file":"task.yaml","files":{"task.yaml":"name: mine\nseeds: [a/seed.txt]\n","a/seed.txt":"x"}},)"
      R"("program":{"language":"text","files":[{"path":"kernel.txt","text":"abcd"}]}})";
  const played::service closed;
  CHECK(closed.ask("POST", "/v1/evaluations", sent).status == 403);
  const played::service open([](auto& settings) { settings.allow_tasks = true; });
  CHECK(text_in(open.ask("POST", "/v1/evaluations?wait=20", sent), "status") == "done");
  std::string outside = sent;
  outside.replace(outside.find("[a/seed.txt]"), 12, "[/etc/hosts]");
  const auto refused = open.ask("POST", "/v1/evaluations?wait=20", outside);
  CHECK(text_in(refused, "status") == "failed");
  CHECK(refused.body.find("was not sent") != std::string::npos);
}

TEST_CASE("metrics count, and the description lists every route and every field of a submission") {
  const played::service it;
  it.ask("POST", "/v1/evaluations?wait=20", submission("abc"));
  it.ask("POST", "/v1/evaluations?wait=20", submission("abc"));
  const std::string metrics = it.ask("GET", "/metrics").body;
  for (const char* line :
       {"kevo_serve_accepted_total 1\n", "kevo_serve_known_total 1\n", "kevo_serve_queue_length 0\n",
        "kevo_serve_ended_total{state=\"done\"} 1\n", "kevo_serve_outcomes_total{outcome=\"valid\"} 1\n",
        "kevo_serve_answers_total{status=\"2xx\"} 2\n"})
    CHECK_MESSAGE(metrics.find(line) != std::string::npos, line);
  const auto described = object(it.ask("GET", "/openapi.json"));
  const auto& paths = described.at("paths").as_object();
  std::size_t operations = 0;
  for (const auto& path : paths) operations += path.value().as_object().size();
  CHECK(operations == kevo::serve::all_routes().size());
  for (const auto& route : kevo::serve::all_routes()) {
    REQUIRE_MESSAGE(paths.contains(route.path), route.path);
    CHECK_MESSAGE(paths.at(route.path).as_object().contains(route.method == "GET" ? "get" : "post"),
                  route.path);
    // What is described is there: neither unknown nor of another method.
    std::string target = route.path;
    if (const auto brace = target.find('{'); brace != std::string::npos)
      target = target.substr(0, brace) + "x";
    if (target == "/v1/events") continue;
    const auto said = it.ask(route.method, target, route.method == "POST" ? "{}" : "");
    CHECK_MESSAGE(said.body.find("this path does not exist") == std::string::npos, route.path);
    CHECK_MESSAGE(said.status != 405, route.path);
    const auto other = it.ask("DELETE", target);
    CHECK_MESSAGE(other.status == 405, route.path);
    CHECK_MESSAGE(other.head.find("\r\nAllow: " + route.method + "\r\n") != std::string::npos, route.path);
  }
  const auto& fields = described.at("components").at("schemas").at("Submission").at("properties").as_object();
  for (const auto& field : fields) {
    const std::string value = field.key() == "program" || field.key() == "task" ? "7" : "{}";
    const auto said =
        it.ask("POST", "/v1/evaluations", "{\"" + std::string(field.key()) + "\":" + value + "}");
    CHECK_MESSAGE(said.body.find("unknown key") == std::string::npos, field.key());
  }
  CHECK(it.ask("POST", "/v1/evaluations", submission("a", R"("colour":1)")).body.find("unknown key") !=
        std::string::npos);
}
