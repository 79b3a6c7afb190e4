// timed
// A client of KernelGYM, written from the description of its interface, gets what it expects: fields, states,
// codes, and a result for every task_id.

#include <chrono>
#include <thread>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "tests/serve/played_service.hpp"

namespace {

namespace json = boost::json;
using played::object;

const std::string reference_of_client = "import torch\nclass Model(torch.nn.Module): pass\n";

/// POST /evaluate with the fields that KernelGYM's client sends, some of them replaced.
json::object request(const std::string& task_id, const std::string& kernel, json::object other = {}) {
  json::object made{{"task_id", task_id},      {"reference_code", reference_of_client},
                    {"kernel_code", kernel},   {"backend", "triton"},
                    {"num_correct_trials", 5}, {"num_perf_trials", 100},
                    {"timeout", 300},          {"priority", "normal"},
                    {"entry_point", "Model"},  {"device_preference", "any"},
                    {"is_valid", false},       {"verbose_errors", true},
                    {"enable_profiling", true}};
  for (auto& [key, value] : other) made[key] = value;
  return made;
}

/// A service whose tasks come with requests. Importing them needs PyTorch, which this test does without.
std::unique_ptr<played::service> gym() {
  return std::make_unique<played::service>([](auto& settings) {
    settings.allow_tasks = true;
    settings.import = [](const std::string& text, const std::string&) {
      if (text.find("broken") != std::string::npos)
        throw kevo::error(kevo::error_code::input, "the reference could not be imported");
      return std::make_shared<const kevo::task>();
    };
  });
}

json::object post(const played::service& to, const std::string& path, const json::object& body,
                  int status = 200) {
  const auto said = to.ask("POST", path, json::serialize(body));
  CHECK_MESSAGE(said.status == status, said.body);
  return object(said);
}

/// What the client does after a request that it does not wait for.
json::object poll(const played::service& to, const std::string& task_id) {
  for (int i = 0; i < 1000; ++i) {
    const auto said = to.ask("GET", "/status/" + task_id);
    REQUIRE(said.status == 200);
    const auto status = object(said).at("status").as_string();
    if (status == "completed" || status == "failed" || status == "timeout")
      return object(to.ask("GET", "/results/" + task_id));
    CHECK((status == "pending" || status == "processing"));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

}  // namespace

TEST_CASE("a result has KernelGYM's fields, and says which of the request's had no effect") {
  const auto it = gym();
  it->it->evaluates = [](const std::string& text) {
    kevo::evaluation made;
    made.outcome = kevo::outcome::valid;
    made.speedup = 2.5;
    made.measures["own_kernel_share"] = 0.25;
    made.workloads.push_back(
        {.uuid = "a", .outcome = kevo::outcome::valid, .time_ns = 2e6, .baseline_ns = 5e6});
    if (text.find("cheats") != std::string::npos) made.outcome = kevo::outcome::rejected;
    if (text.find("typo") != std::string::npos) made.outcome = kevo::outcome::build_failed;
    if (text.find("hangs") != std::string::npos) made.outcome = kevo::outcome::timed_out;
    if (text.find("segfault") != std::string::npos) made.outcome = kevo::outcome::crashed;
    if (text.find("wrong") != std::string::npos) made.outcome = kevo::outcome::incorrect;
    if (!made.valid()) {
      made.speedup = 0;
      made.workloads.clear();
      made.reasons = {"because of " + text};
      made.feedback = "line 7";
    }
    if (text.find("syntax") != std::string::npos) {
      made.outcome = kevo::outcome::launch_failed;
      made.reasons = {"could not be loaded"};
      made.workloads.clear();
    }
    return made;
  };
  bool second_try = true;
  it->it->before = [&](const kevo::evaluation_request& asked) { second_try = asked.second_try; };
  const auto good = post(*it, "/evaluate", request("t1", "class ModelNew: pass"));
  CHECK_FALSE(second_try);
  CHECK(good.at("task_id") == "t1");
  CHECK(good.at("status") == "completed");
  CHECK(good.at("compiled") == true);
  CHECK(good.at("correctness") == true);
  CHECK(good.at("decoy_kernel") == false);
  CHECK(good.at("reference_runtime").to_number<double>() == doctest::Approx(5));
  CHECK(good.at("kernel_runtime").to_number<double>() == doctest::Approx(2));
  CHECK(good.at("speedup").to_number<double>() == 2.5);
  CHECK(good.at("error_message").is_null());
  CHECK(good.at("error_code").is_null());
  const auto& ignored = good.at("metadata").at("kevo_ignored").as_array();
  CHECK(std::count(ignored.begin(), ignored.end(), json::value("num_perf_trials")) == 1);
  struct expected {
    const char* kernel;
    bool compiled;
    bool decoy;
    const char* code;
  };
  for (const expected& each : {expected{"class ModelNew: cheats", true, true, "CORRECTNESS_ERROR"},
                               expected{"class ModelNew: typo", false, false, "COMPILATION_ERROR"},
                               expected{"class ModelNew: hangs", true, false, "TIMEOUT_ERROR"},
                               expected{"class ModelNew: segfault", true, false, "RUNTIME_ERROR"},
                               expected{"class ModelNew: wrong", true, false, "CORRECTNESS_ERROR"}}) {
    const auto bad = post(*it, "/evaluate", request(each.kernel, each.kernel));
    CHECK_MESSAGE(bad.at("status") == "completed", each.kernel);
    CHECK_MESSAGE(bad.at("compiled") == each.compiled, each.kernel);
    CHECK_MESSAGE(bad.at("correctness") == false, each.kernel);
    CHECK_MESSAGE(bad.at("decoy_kernel") == each.decoy, each.kernel);
    CHECK_MESSAGE(bad.at("error_code") == each.code, each.kernel);
    CHECK_MESSAGE(bad.at("speedup").is_null(), each.kernel);
    CHECK_MESSAGE(bad.at("error_message").as_string().starts_with("because of"), each.kernel);
    CHECK_MESSAGE(bad.at("error_message").as_string().ends_with("line 7"), each.kernel);
  }
  // Neither a time-out nor a crash is tried again, also for another task.
  CHECK(it->it->evaluations == 6);
  for (const expected& each : {expected{"class ModelNew: hangs", true, false, "TIMEOUT_ERROR"},
                               expected{"class ModelNew: segfault", true, false, "RUNTIME_ERROR"}})
    CHECK(
        post(*it, "/evaluate", request(std::string(each.kernel) + " again", each.kernel)).at("error_code") ==
        each.code);
  CHECK(it->it->evaluations == 6);
  const auto unloaded = post(*it, "/evaluate", request("t9", "class ModelNew: syntax"));
  CHECK(unloaded.at("compiled") == false);
  CHECK(unloaded.at("error_code") == "COMPILATION_ERROR");
  const auto& coverage = good.at("metadata");
  CHECK(coverage.at("custom_kernel_cuda_time_in_profiling_us").to_number<double>() ==
        doctest::Approx(0.25 * coverage.at("total_kernel_run_time_in_profiling_us").to_number<double>()));
}

TEST_CASE("tasks are polled by their names, of which one program may have several") {
  const auto it = gym();
  std::atomic<bool> go{false};
  it->it->before = [&](const kevo::evaluation_request&) {
    while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  std::jthread first([&] { post(*it, "/evaluate", request("rollout 1", "class ModelNew: pass")); });
  while (it->it->evaluations == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  // A group of samples may contain the same text several times; each is asked for under a name of its own.
  json::object second;
  std::jthread also([&] { second = post(*it, "/evaluate", request("rollout 2", "class ModelNew: pass")); });
  while (it->ask("GET", "/status/rollout%202").status != 200)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(object(it->ask("GET", "/status/rollout%201")).at("status") == "processing");
  CHECK(it->ask("GET", "/results/rollout%201").status == 404);
  CHECK(object(it->ask("GET", "/health")).at("queue_status").at("processing") == 1);
  go = true;
  first.join();
  also.join();
  CHECK(second.at("task_id") == "rollout 2");
  CHECK(poll(*it, "rollout%201").at("task_id") == "rollout 1");
  CHECK(poll(*it, "rollout%202").at("status") == "completed");
  CHECK(it->it->evaluations == 1);
  post(*it, "/evaluate", request("rollout 3", "class ModelNew: pass", {{"force_refresh", true}}));
  CHECK(it->it->evaluations == 2);
  CHECK(it->ask("GET", "/status/nobody").status == 404);
}

TEST_CASE("batches and workflows are answered whole, also if the machine fails for one of their tasks") {
  const auto it = gym();
  it->it->before = [&](const kevo::evaluation_request& asked) {
    if (asked.program->text().find("crash of the machine") != std::string::npos)
      throw kevo::error(kevo::error_code::environment, "no device");
  };
  json::array tasks;
  for (const char* kernel :
       {"class ModelNew: 1", "class ModelNew: crash of the machine", "class ModelNew: 3"})
    tasks.push_back(request(kernel, kernel));
  const auto batch = post(*it, "/evaluate/batch", {{"batch_id", "b"}, {"tasks", tasks}});
  CHECK(batch.at("batch_id") == "b");
  CHECK(batch.at("total_tasks") == 3);
  CHECK(batch.at("completed_tasks") == 2);
  CHECK(batch.at("failed_tasks") == 1);
  const auto& results = batch.at("results").as_array();
  REQUIRE(results.size() == 3);
  CHECK(results[0].at("status") == "completed");
  CHECK(results[1].at("task_id") == "class ModelNew: crash of the machine");
  CHECK(results[1].at("status") == "failed");
  CHECK(results[1].at("error_code") == "SYSTEM_ERROR");
  CHECK(it->it->evaluations == 3);
  json::object payload = request("ignored", "class ModelNew: flow");
  payload.erase("task_id");
  const auto flow =
      post(*it, "/workflow/submit", {{"workflow", "kernelbench"}, {"task_id", "w"}, {"payload", payload}});
  CHECK(flow.at("task_id") == "w");
  CHECK(flow.at("status") == "completed");
  CHECK(flow.at("result").at("correctness") == true);
  const auto broken =
      post(*it, "/evaluate", request("x", "class ModelNew: x", {{"reference_code", "this one is broken"}}));
  CHECK(broken.at("status") == "failed");
  CHECK(broken.at("error_code") == "VALIDATION_ERROR");
}

TEST_CASE("requests outside KernelGYM's limits are refused with its code") {
  const auto it = gym();
  const json::object wrong[] = {request("", "class ModelNew: pass"),
                                request("t", "short"),
                                request("t", std::string(100001, 'x')),
                                request("t", "class ModelNew: pass", {{"timeout", 5}}),
                                request("t", "class ModelNew: pass", {{"timeout", "soon"}}),
                                request("t", "class ModelNew: pass", {{"entry_point", "a; import os"}}),
                                request("t", "class ModelNew: pass", {{"workflow", "another"}}),
                                request("t", "class ModelNew: pass", {{"reference_code", nullptr}})};
  for (const auto& one : wrong)
    CHECK(post(*it, "/evaluate", one, 400).at("error").at("code") == "VALIDATION_ERROR");
  CHECK(post(*it, "/evaluate/batch", {{"batch_id", "b"}, {"tasks", json::array()}}, 400)
            .at("error")
            .at("code") == "VALIDATION_ERROR");
  CHECK(it->it->evaluations == 0);
}
