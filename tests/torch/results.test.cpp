// labels: slow
// one processor
// timeout: 120
// Which tensors may be results, and which of them have to be made before they are handed over
// (kevo_torch_results.py).
#include <string>

#include <boost/json.hpp>

#include "fitness/torch/ask_python.hpp"
#include "tests/torch/corpus.hpp"

namespace {

// Says of each expression what is wrong with it as a result of 6 x 4 numbers, whether it is borrowed, and
// whether it is copied right.
constexpr const char* looks_at_results = R"py(
import sys


def describe(torch, module, seconds):
    checks = sys.modules["__main__"].result_checks(torch)
    x, y = torch.randn(6, 4), torch.randn(6, 4)
    lent = [(x.data_ptr(), x.data_ptr() + 96)]
    short, gone = torch.randn(6, 4), torch.randn(6, 4)
    short.untyped_storage().resize_(40)
    gone.untyped_storage().resize_(0)
    own = {
        "plain": y, "parameter": torch.nn.Parameter(y), "transposed": torch.randn(4, 6).t(), "part": torch.randn(9, 9)[2:8, 1:5],
        "real part": torch.complex(y, y).real, "diagonal": torch.diagonal(torch.randn(6, 4, 4), dim1=1, dim2=2),
        "apart": torch.randn(100).as_strided((6, 4), (10, 2))}
    borrowed = {
        "expanded": torch.randn(1, 4).expand(6, 4), "overlapping": torch.randn(100).as_strided((6, 4), (1, 1)),
        "windows": torch.randn(14).unfold(0, 4, 2), "input": x, "turned input": x.view(4, 6).t(),
        "imaginary part": torch.complex(y, y).conj().imag, "negative": torch._neg_view(y)}
    wrong = {
        "short": short, "gone": gone, "sparse": y.to_sparse(), "meta": torch.empty(6, 4, device="meta"), "double": y.double(),
        "shape": y.t(), "list": [y], "subclass": y.as_subclass(type("other", (torch.Tensor,), {}))}
    result = {}
    with torch.no_grad():
        for name, got in {**own, **borrowed, **wrong}.items():
            said = checks.wrong(got, [6, 4], torch.float32, torch.device("cpu"))
            one = {"wrong": said or "", "borrowed": False, "copied": False}
            if said is None:
                one["borrowed"] = checks.is_borrowed(got, lent)
                into = torch.empty(6, 4)
                checks.take(into, got, lent)
                one["copied"] = torch.equal(into, got)
            result[name] = one
    return result
)py";

}  // namespace

TEST_CASE("results are looked at before they are copied") {
  std::shared_ptr<kevo::torch::python_server> server;
  try {
    server = torch_corpus::warm_settings().server;
  } catch (const kevo::error& missing) {
    if (missing.message().find("no Python with PyTorch") != 0) throw;
    kevo_test::skip(missing.message());
    return;
  }
  const auto said = boost::json::parse(kevo::torch::ask_python(*server, kevo::program_of("python", ""),
                                                               looks_at_results, 20))
                        .as_object();
  const auto check = [&](const char* name, bool borrowed) {
    const auto& one = said.at(name).as_object();
    CHECK_MESSAGE(one.at("wrong").as_string().empty(), name, ": ", one.at("wrong").as_string().c_str());
    CHECK_MESSAGE(one.at("borrowed").as_bool() == borrowed, name);
    CHECK_MESSAGE(one.at("copied").as_bool(), name);
  };
  for (const char* name : {"plain", "parameter", "transposed", "part", "real part", "diagonal", "apart"})
    check(name, false);
  for (const char* name :
       {"expanded", "overlapping", "windows", "input", "turned input", "imaginary part", "negative"})
    check(name, true);
  const auto refused = [&](const char* name, const char* words) {
    const std::string text(said.at(name).at("wrong").as_string());
    CHECK_MESSAGE(text.find(words) != std::string::npos, name, ": ", text);
  };
  refused("short", "need 96 bytes, its storage has 40");
  refused("gone", "its storage has 0");
  refused("sparse", "layout sparse_coo");
  refused("meta", "on meta");
  refused("double", "float64; the task says float32");
  refused("shape", "the shape [4, 6]; the task says [6, 4]");
  refused("list", "returned a list");
  refused("subclass", "returned a other");
}

TEST_CASE("results are copied where the kernel forbids reading them, with the same verdicts") {
  auto settings = torch_corpus::warm_settings();
  settings.copied_results = true;
  for (const auto* folder : {"honest", "attacks"}) {
    for (const auto& e : torch_corpus::exhibits_in(folder)) {
      const bool tried = e.name == "transposed_result" || e.name == "negative_view" ||
                         e.name == "last_output_again" || e.name == "second_output_is_the_first_calls";
      if (!tried) continue;
      auto fitness = torch_corpus::fitness_for(e.task, settings);
      if (!fitness) return;
      const auto got = torch_corpus::evaluate(*fitness, e.text);
      CHECK_MESSAGE(std::find(e.verdicts.begin(), e.verdicts.end(), got.outcome) != e.verdicts.end(), e.name,
                    " is ", torch_corpus::said(got));
      CHECK_MESSAGE(got.context.at("outputs").find("copying the outputs") != std::string::npos,
                    got.context.at("outputs"));
    }
  }
}
