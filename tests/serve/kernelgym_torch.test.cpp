// labels: slow
// timeout: 120
// one processor
// A request of KernelGYM's client, evaluated for real: the reference becomes a task, the programs are judged
// by PyTorch on a CPU.

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/http_probe.hpp"
#include "tests/support/served.hpp"
#include "tests/support/skip.hpp"

namespace {

const std::string head = "import torch\nimport torch.nn as nn\n";

std::string module(const std::string& name, const std::string& result) {
  return head + "class " + name + "(nn.Module):\n    def forward(self, x):\n        return " + result + "\n";
}

}  // namespace

TEST_CASE("a correct and a wrong module of PyTorch get KernelGYM's words for them") {
  const shell::scratch folder;
  shell::served server(shell::kevo({"serve", "--state", (folder / "state").string(), "--allow-tasks"}),
                       folder.string());
  REQUIRE(server.port() != 0);
  const std::string reference = module("Model", "torch.relu(x) * 2.0") +
                                "def get_inputs():\n    return [torch.randn(64, 256)]\n"
                                "def get_init_inputs():\n    return []\n";
  const auto evaluate = [&](const std::string& kernel) {
    probe::connection line(server.port());
    const boost::json::object body{{"task_id", kernel.substr(kernel.size() - 20)},
                                   {"timeout", 100},
                                   {"reference_code", reference},
                                   {"kernel_code", kernel},
                                   {"run_performance", false}};
    line.send(
        "POST /evaluate HTTP/1.1\r\nContent-Length: " + std::to_string(boost::json::serialize(body).size()) +
        "\r\n\r\n" + boost::json::serialize(body));
    const auto said = line.receive(110000);
    REQUIRE(said.status == 200);
    return boost::json::parse(said.body).as_object();
  };
  const auto right = evaluate(module("ModelNew", "torch.clamp(x, min=0) * 2.0"));
  if (const auto& why = right.at("error_message"); why.is_string()) {
    if (why.as_string().find("no Python with PyTorch") != boost::json::string::npos)
      return kevo_test::skip(std::string(why.as_string()));
    FAIL(why.as_string());
  }
  CHECK(right.at("status") == "completed");
  CHECK(right.at("correctness") == true);
  const auto wrong = evaluate(module("ModelNew", "torch.clamp(x, min=0) * 3.0"));
  CHECK(wrong.at("status") == "completed");
  CHECK(wrong.at("compiled") == true);
  CHECK(wrong.at("correctness") == false);
  CHECK(wrong.at("error_code") == "CORRECTNESS_ERROR");
}
