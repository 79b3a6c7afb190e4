// The files that a task names: sources, and contents of inputs.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>
#include <kevo/task_id.hpp>

#include "src/base/settings/json.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"
#include "tests/task/sample_task.hpp"

using namespace sample_task;

TEST_CASE("every shipped task loads") {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(KEVO_SOURCE_DIR) + "/configs/tasks")) {
    const auto file = entry.path() / "task.yaml";
    if (!std::filesystem::exists(file)) continue;
    CAPTURE(file.string());
    const auto t = kevo::load_task(file.string());
    CHECK(t.name == entry.path().filename().string());
    CHECK_FALSE(t.seeds.empty());
    CHECK_FALSE(t.baselines.empty());
    CHECK(t.reference.has_value());
    ++count;
  }
  CHECK(count >= 1);
}

TEST_CASE("a workload takes contents from files in the folder of the task, and from no other") {
  const folder dir;
  dir.write("r.cpp", "// reference\n");
  dir.write("a.cpp", "// seed\n");
  dir.write("mine.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0.5\n1 3 1.5\n2 2 -2.5\n");
  std::string npy = std::string("\x93NUMPY\x01", 7) + std::string(1, '\0') + 'P' + std::string(1, '\0') +
                    "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  npy.resize(90, ' ');
  npy += std::string(12, '\0');
  dir.write("x.npy", npy);
  const std::string head =
      "name: s\naxes: {R: {type: var}, C: {type: var}, Z: {type: var}}\ninputs:\n"
      "  start: {shape: [R + 1], dtype: int32}\n  column: {shape: [Z], dtype: int16}\n"
      "  value: {shape: [Z], dtype: float32}\n  x: {shape: [C], dtype: float32}\n"
      "outputs: {y: {shape: [R], dtype: float32}}\nreference: {file: r.cpp}\nseeds: [a.cpp]\n";
  const std::string generate = "generate: {start: 'offsets(Z, equal)', column: 'columns(start, C)'}\n";
  const auto with = [&](const std::string& inputs, const std::string& axes = "{R: 2, C: 3, Z: 3}") {
    return head + generate + "workloads: [{uuid: a, axes: " + axes + ", inputs: {" + inputs + "}}]\n";
  };
  const std::string start = "start: {type: matrix_market, path: mine.mtx, part: offsets}";
  const std::string column = "column: {type: matrix_market, path: mine.mtx, part: columns}";
  const std::string value = "value: {type: matrix_market, path: mine.mtx, part: values}";
  const std::string x = "x: {type: npy, path: x.npy}";
  const auto t =
      kevo::load_task(dir.write("task.yaml", with(start + ", " + column + ", " + value + ", " + x)));
  const auto& inputs = t.workloads[0].inputs;
  CHECK(inputs.at("start").contents->bytes.size() == 12);
  CHECK(inputs.at("column").contents->bytes.size() == 6);
  CHECK(inputs.at("column").kept);
  CHECK(inputs.at("column").alternates);
  CHECK_FALSE(inputs.at("value").kept);
  CHECK_FALSE(inputs.at("x").kept);
  CHECK(t.source_files.at(to_string(id_of(t.seeds[0]))) == "a.cpp");
  // The id is that of the contents, not that of the name of the file.
  dir.write("other.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0.5\n1 3 1.5\n2 2 9\n");
  dir.write("same.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n2 2 9\n1 3 1.5\n1 1 0.5\n");
  const auto value_of = [&](const std::string& file) {
    return kevo::id_of(kevo::load_task(
        dir.write("task.yaml", with("value: {type: matrix_market, path: " + file + ", part: values}"))));
  };
  CHECK(value_of("mine.mtx") != value_of("other.mtx"));
  CHECK(value_of("same.mtx") == value_of("other.mtx"));

  const auto refused = [&](const std::string& text, const std::string& says) {
    try {
      kevo::load_task(dir.write("task.yaml", text));
      FAIL_CHECK("accepted: ", text);
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::input);
      CHECK_MESSAGE(std::string(e.what()).find(says) != std::string::npos, e.what());
    }
  };
  refused(with(start, "{R: 3, C: 3, Z: 3}"), "the file has the shape [3], and 'start' has the shape [4]");
  refused(with("start: {type: npy, path: x.npy}"), "the file holds float32, and 'start' is int32");
  refused(with("value: {type: npy, path: ../x.npy}"), "does not exist");
  refused(with("value: {type: npy, path: /etc/hostname}"), "outside the folder of the task");
  refused(with("value: {type: npy, path: mine.mtx}"), "not a .npy file");
  refused(with("value: {type: safetensors, path: x.npy, tensor_key: w}"), "not a safetensors file");
  refused(with("value: {type: matrix_market, path: x.npy, part: values}"), "not a Matrix Market file");
  refused(with("value: {type: matrix_market, path: mine.mtx, part: offsets}"), "offsets are integers");
  refused(with("value: {type: npy}"), "path");
  refused(with("value: {type: npy, path: x.npy, content: kept}"), "contents");
  refused(with(start + ", " + column + ", value: {type: npy, path: x.npy, contents: kept}, " +
               "x: {type: npy, path: x.npy, contents: kept}"),
          "a program that contains the expected output");
  const auto without = [&](const std::string& input) {
    return head + "workloads: [{uuid: a, axes: {R: 2, C: 3, Z: 3}, inputs: {" + input + "}}]\n";
  };
  refused(without(start), "'start' is int32 from a file, and has no generator");
  // Drawn ones, too: the other inputs from files make calls with generated contents.
  refused(without("start: {type: matrix_market, path: mine.mtx, part: offsets, contents: drawn}"),
          "'start' is int32 from a file, and has no generator");
}

TEST_CASE("integers from files that a JSON task keeps need no generator, and drawn ones do") {
  std::string npy = std::string("\x93NUMPY\x01", 7) + std::string(1, '\0') + 'P' + std::string(1, '\0') +
                    "{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }";
  npy.resize(90, ' ');
  npy += std::string(16, '\0');
  const auto with = [&](const std::string& contents) {
    const auto text =
        R"({"name": "s", "axes": {"N": {"type": "var"}}, "inputs": {"i": {"shape": ["N"], "dtype": "int32"},
            "x": {"shape": ["N"], "dtype": "float32"}}, "outputs": {"y": {"shape": ["N"], "dtype": "float32"}},
            "reference": {"language": "cpp", "file": "r.cpp"}, "workloads": [{"uuid": "a", "axes": {"N": 4},
            "inputs": {"i": {"type": "npy", "path": "i.npy", "contents": ")" +
        contents + R"("}, "x": {"type": "random"}}}]})";
    return kevo::decode_task(kevo::parse_json(text, "task.json"), fake_source, {},
                             [&](const std::string&, const kevo::error_place&) { return npy; });
  };
  const auto kept = with("kept").workloads[0].inputs.at("i");
  CHECK(kept.kept);
  CHECK_FALSE(kept.alternates);
  CHECK_THROWS_WITH_AS(with("drawn"), doctest::Contains("has no generator"), kevo::error);
}

TEST_CASE("an input file that does not fit into memory is an error of the input that names it") {
  const std::string text =
      "name: s\naxes: {N: {type: var}}\ninputs: {x: {shape: [N], dtype: bfloat16}}\noutputs: {y: {shape: "
      "[N], "
      "dtype: float32}}\nreference: {file: r.cpp}\nworkloads: [{uuid: a, axes: {N: 4}, inputs: {x: {type: "
      "npy, "
      "path: x.npy}}}]\n";
  const auto refusal_of = [&](const kevo::contents_reader& contents) {
    try {
      kevo::decode_task(
          kevo::parse_yaml(text, "task.yaml"),
          [](const auto&, const auto&, const auto&) {
            return kevo::single_file_program("cpp", "r.cpp", "x\n");
          },
          {}, contents);
    } catch (const kevo::error& e) {
      return std::string(e.what()) + " " + e.hint();
    }
    return std::string();
  };
  const auto large =
      refusal_of([](const std::string&, const kevo::error_place&) -> std::string { throw std::bad_alloc(); });
  CHECK_MESSAGE(large.find("not enough memory to read 'x.npy'") != std::string::npos, large);
  std::string npy = std::string("\x93NUMPY\x01", 7) + std::string(1, '\0') + 'P' + std::string(1, '\0') +
                    "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }";
  npy.resize(90, ' ');
  npy += std::string(16, '\0');
  const auto other = refusal_of([&](const std::string&, const kevo::error_place&) { return npy; });
  CHECK_MESSAGE(other.find("save it as bfloat16 in a safetensors file") != std::string::npos, other);
}

TEST_CASE("files that tasks name are checked where they are named") {
  const folder dir;
  dir.write("reference.cpp", "// r");
  dir.write("b.cpp", "// b");
  const auto path = dir.write("task.yaml", good);
  const auto fails = [&] {
    try {
      kevo::load_task(path);
    } catch (const kevo::error& e) {
      return e;
    }
    FAIL("accepted");
    return kevo::error(kevo::error_code::internal, "");
  };
  auto e = fails();
  CHECK(e.place().file == path);
  CHECK(e.place().line == 14);
  CHECK(e.place().key == "seeds[0]");
  CHECK(e.message().find("the file does not exist") != std::string::npos);
  dir.write("seed.cpp", "\n// kevo: requires x\n");
  e = fails();
  CHECK(e.place().file == (dir.path / "seed.cpp").string());
  CHECK(e.place().line == 2);
  dir.write("seed.cpp",
            std::string(1500000, ' '));  // whether that is too long is the fitness function's word
  CHECK(kevo::load_task(path).seeds[0].text().size() == 1500000);
  std::filesystem::resize_file(dir.path / "seed.cpp", (std::size_t{64} << 20U) + 1);
  CHECK(fails().message().find("larger than 65536 KiB") != std::string::npos);
  dir.write("seed.cpp", "int x;");
  const auto t = kevo::load_task(path);
  CHECK(id_of(t.seeds[0]) == id_of(t.baselines[0].source));
}
