// labels: slow
// one processor
// timeout: 300
// Inputs that a function of the reference makes (SOL-ExecBench's type `custom`).
#include <string>

#include "tests/support/shell.hpp"
#include "tests/torch/corpus.hpp"
#include "tests/torch/experts.hpp"

namespace {

kevo::task loaded_experts(const shell::scratch& folder, const std::string& text) {
  shell::write_file(folder / "task/task.yaml", experts::task_text(100));
  shell::write_file(folder / "task/reference.py", text);
  return kevo::load_task((folder / "task/task.yaml").string());
}

std::optional<kevo::torch_fitness> fitness_of_experts(const kevo::task& t) {
  try {
    return kevo::torch_fitness(std::make_shared<const kevo::task>(t), torch_corpus::warm_settings());
  } catch (const kevo::error& missing) {
    if (missing.message().find("no Python with PyTorch") != 0) throw;
    kevo_test::skip(missing.message());
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("programs are judged on inputs that a function of the reference makes anew for each call") {
  const shell::scratch folder;
  auto fitness = fitness_of_experts(loaded_experts(folder, experts::reference));
  if (!fitness) return;
  for (const auto& one : experts::bodies()) {
    using enum kevo::evaluation_stage;
    const auto e = torch_corpus::evaluate(*fitness, experts::program_of(one),
                                          &one == &experts::bodies().front() ? timed_short : checked);
    INFO(one.name, ": ", torch_corpus::said(e));
    CHECK(e.outcome == (one.right ? kevo::outcome::valid : kevo::outcome::incorrect));
  }
}

TEST_CASE("a function that makes other inputs than the task says is an error that names it") {
  const shell::scratch folder;
  const auto failure_of = [&](const std::string& from, const std::string& to) -> std::string {
    std::string text = experts::reference;
    text.replace(text.find(from), from.size(), to);
    auto fitness = fitness_of_experts(loaded_experts(folder, text));
    if (!fitness) return "skipped";
    try {
      torch_corpus::evaluate(*fitness, "def run(x, expert, weight, scale):\n    return x[:, 0]\n",
                             kevo::evaluation_stage::checked);
    } catch (const kevo::error& failure) {
      CHECK(failure.code() == kevo::error_code::input);
      return failure.message();
    }
    return "nothing was wrong";
  };
  const auto says = [](const std::string& got, const std::string& wanted) {
    CHECK_MESSAGE((got == "skipped" ||
                   (got.find("'make_inputs'") != std::string::npos && got.find(wanted) != std::string::npos)),
                  got);
  };
  says(failure_of("expert.to(torch.int32)", "expert"), "returned int64; the task says int32");
  says(failure_of("\"expert\": ", "\"other\": "), "gives no expert");
  says(failure_of("assert axes_and_scalars", "assert not axes_and_scalars"), "AssertionError");
}
