// Tensors from files: what NumPy, safetensors and SciPy write is read, and everything malformed is refused
// with its reason.

#include "src/base/tensor_file/tensor_file.hpp"

#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  file += static_cast<char>(header.size() & 0xffU);
  file += static_cast<char>(header.size() >> 8U);
  if (version > 1) file += std::string(2, '\0');
  return file + header + data;
}

std::string safetensors(const std::string& header, const std::string& data) {
  std::string file(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  return file + header + data;
}

template <class T>
std::vector<T> values_of(const kevo::file_tensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

template <class Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const kevo::error& e) {
    CHECK(e.code() == kevo::error_code::input);
    CHECK(e.place().file == "x");
    return e.message() + " | " + e.hint();
  }
  return "accepted";
}

const float two_floats[] = {1.5F, -2.0F};
const std::string data(reinterpret_cast<const char*>(two_floats), 8);
const std::string good_header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }        \n";

}  // namespace

TEST_CASE("a .npy file is read in all its versions") {
  for (const char version : {'\1', '\2', '\3'}) {
    const auto found = kevo::parse_npy(npy(good_header, data, version), "x");
    CHECK(found.dtype == "float32");
    CHECK(found.shape == std::vector<std::int64_t>{2});
    CHECK(values_of<float>(found) == std::vector<float>{1.5F, -2.0F});
  }
  const auto matrix =
      kevo::parse_npy(npy("{'descr': '|i1', 'fortran_order': False, 'shape': (2, 4), }\n", data), "x");
  CHECK(matrix.dtype == "int8");
  CHECK(matrix.shape == std::vector<std::int64_t>{2, 4});
  CHECK(kevo::parse_npy(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", data), "x")
            .shape.empty());
}

TEST_CASE("a malformed .npy file is refused with its reason") {
  struct row {
    std::string file;
    std::string says;
  };
  const auto header = [](const std::string& text) { return npy(text, data); };
  const std::vector<row> table = {
      {"", "not a .npy file"},
      {"hello, this is text", "not a .npy file"},
      {std::string("\x93NUMPY\x01", 7), "ends within its header"},
      {npy(good_header, data).substr(0, 30), "ends within its header"},
      {npy(good_header, data, 9), "version 9"},
      {npy(good_header, data.substr(0, 7)), "needs 8 bytes, and 7 follow | the file was cut off"},
      {npy(good_header, data + "x"), "needs 8 bytes, and 9 follow"},
      {header("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }"), "big-endian"},
      {header("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }"), "Fortran order"},
      {header("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,), }"), "neither True nor False"},
      {header("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }"), "'<c8'"},
      {header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"), "'|O'"},
      {header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }"), "not a plain type"},
      {header("{'fortran_order': False, 'shape': (2,), }"), "no 'descr'"},
      {header("{'descr': '<f4', 'shape': (2,), }"), "no 'fortran_order'"},
      {header("{'descr': '<f4', 'fortran_order': False}"), "no 'shape'"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': [2], }"), "not a tuple"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, x), }"), "something else than sizes"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }"), "something else than sizes"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"),
       "something else"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"), "too large"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905, 4), }"), "too large"},
      {header("{'descr': "), "no 'descr'"},
  };
  for (const auto& one : table) {
    CAPTURE(one.file);
    const auto said = refusal([&] { kevo::parse_npy(one.file, "x"); });
    CHECK_MESSAGE(said.find(one.says) != std::string::npos, said);
  }
}

TEST_CASE("a tensor of a safetensors file is found by its name") {
  const std::string header =
      R"({"__metadata__": {"a": "b"}, "w": {"dtype": "F32", "shape": [2, 1], "data_offsets": [4, 12]}})";
  const auto found = kevo::parse_safetensors(safetensors(header, "1234" + data), "w", "x");
  CHECK(found.dtype == "float32");
  CHECK(found.shape == std::vector<std::int64_t>{2, 1});
  CHECK(values_of<float>(found) == std::vector<float>{1.5F, -2.0F});
}

TEST_CASE("a malformed safetensors file is refused with its reason") {
  const auto with = [](const std::string& entry) { return safetensors("{\"w\": " + entry + "}", data); };
  struct row {
    std::string file;
    std::string says;
  };
  const std::vector<row> table = {
      {"", "ends within its header"},
      {safetensors("{}", "").substr(0, 9), "ends within its header"},
      {std::string(8, '\xff') + "{}", "not a safetensors file"},
      {safetensors("[]", ""), "not a map of tensors"},
      {safetensors(R"({"v": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}})", data), "no tensor 'w'"},
      {with("3"), "not a map"},
      {with(R"({"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]})"), "'F8_E4M3'"},
      {with(R"({"shape": [2], "data_offsets": [0, 8]})"), "dtype"},
      {with(R"({"dtype": "F32", "data_offsets": [0, 8]})"), "'shape'"},
      {with(R"({"dtype": "F32", "shape": [2]})"), "'data_offsets'"},
      {with(R"({"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]})"), "'shape'"},
      {with(R"({"dtype": "F32", "shape": [2.5], "data_offsets": [0, 8]})"), "'shape'"},
      {with(R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 9]})"), "does not lie within the file"},
      {with(R"({"dtype": "F32", "shape": [2], "data_offsets": [8, 0]})"), "does not lie within the file"},
      {with(R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 8, 9]})"), "does not lie within the file"},
      {with(R"({"dtype": "F32", "shape": [3], "data_offsets": [0, 8]})"), "does not fit the size"},
      {with(R"({"dtype": "F32", "shape": [4611686018427387904, 4], "data_offsets": [0, 8]})"),
       "does not fit the size"},
  };
  for (const auto& one : table) {
    CAPTURE(one.file);
    const auto said = refusal([&] { kevo::parse_safetensors(one.file, "w", "x"); });
    CHECK_MESSAGE(said.find(one.says) != std::string::npos, said);
  }
}

TEST_CASE("a header of a safetensors file that would take gigabytes when it is parsed is refused") {
  std::string header = "{\"w\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}";
  header += std::string((4U << 20U) + 1, ' ') + "}";
  const auto said = refusal([&] { kevo::parse_safetensors(safetensors(header, data), "w", "x"); });
  CHECK_MESSAGE(said.find("at most 4194304 are supported") != std::string::npos, said);
}

TEST_CASE("a Matrix Market file becomes compressed rows with ascending columns") {
  const auto found = kevo::parse_matrix_market(
      "%%MatrixMarket matrix coordinate real general\n% made by hand\n\n3 4 4\n3 2 -1.5\n1 4 2\r\n1 1 "
      "+1e0\n3 1 7\n",
      "x");
  CHECK(found.rows == 3);
  CHECK(found.columns == 4);
  CHECK(found.row_start == std::vector<std::int64_t>{0, 2, 2, 4});
  CHECK(found.column == std::vector<std::int64_t>{0, 3, 0, 1});
  CHECK(found.value == std::vector<double>{1, 2, 7, -1.5});
  const auto symmetric =
      kevo::parse_matrix_market("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", "x");
  CHECK(symmetric.row_start == std::vector<std::int64_t>{0, 2, 3});
  CHECK(symmetric.column == std::vector<std::int64_t>{0, 1, 0});
  const auto skew = kevo::parse_matrix_market(
      "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 5\n", "x");
  CHECK(skew.value == std::vector<double>{-5, 5});
  // Too small for a double is 0, as other readers of the format have it.
  const auto tiny = kevo::parse_matrix_market(
      "%%MatrixMarket matrix coordinate real general\n1 5 5\n1 1 1e-400\n1 2 -1e-400\n1 3 0.00001e-320\n1 4 "
      "1e-99999999999999999999\n1 5 100e-330\n",
      "x");
  CHECK(tiny.value == std::vector<double>(5, 0.0));
}

TEST_CASE("a malformed Matrix Market file is refused with its reason") {
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  struct row {
    std::string file;
    std::string says;
  };
  const std::vector<row> table = {
      {"", "not a Matrix Market file"},
      {"%%MatrixMarket vector coordinate real general\n", "not a Matrix Market file"},
      {"%%MatrixMarket matrix array real general\n2 2\n", "'array' is not supported | only 'coordinate'"},
      {"%%MatrixMarket matrix coordinate complex general\n", "'complex'"},
      {"%%MatrixMarket matrix coordinate real hermitian\n", "'hermitian'"},
      {banner, "sizes is missing"},
      {banner + "2 2\n", "the number of entries"},
      {banner + "0 2 0\n", "the number of rows"},
      {banner + "99999999999999999999 2 0\n", "the number of rows"},
      {banner + "1000000000 2 0\n", "rows are not supported"},
      {banner + "2 2 1099511627776\n1 1 1\n", "promises 1099511627776 entries, and the file is too short"},
      {banner + "2 2 3\n1 1 1\n2 2 2\n", "promises 3 entries, and there are 2"},
      {banner + "2 2 1\n1 1 0.001e312\n", "not a finite number"},
      {banner + "2 2 1\n1 1 1e99999999999999999999\n", "not a finite number"},
      {banner + "2 2 1 7\n", "unexpected '7'"},
      {banner + "2 2 1\n", "the file was cut off"},
      {banner + "2 2 1\n3 1 1\n", "the row '3'"},
      {banner + "2 2 1\n1 0 1\n", "the column '0'"},
      {banner + "2 2 1\n1 1\n", "the value ''"},
      {banner + "2 2 1\n1 1 nan\n", "not a finite number"},
      {banner + "2 2 1\n1 1 1e999\n", "not a finite number"},
      {banner + "2 2 1\n1 1 1 1\n", "unexpected '1'"},
      {banner + "2 2 1\n1 1 1\n2 2 2\n", "more entries"},
      {banner + "2 2 2\n1 1 1\n1 1 2\n", "(1, 1) is given twice"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", "must be square"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "lower triangle"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "no diagonal"},
  };
  for (const auto& one : table) {
    CAPTURE(one.file);
    const auto said = refusal([&] { kevo::parse_matrix_market(one.file, "x"); });
    CHECK_MESSAGE(said.find(one.says) != std::string::npos, said);
  }
}
