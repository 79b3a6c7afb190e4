#include <array>
#include <charconv>
#include <optional>

#include <kevo/detail/nearest.hpp>

#include "src/base/tensor_file/element_count.hpp"
#include "src/base/tensor_file/tensor_file.hpp"

namespace kevo {
namespace {

struct npy_type {
  std::string_view code;  // of `descr` without its byte order
  std::string_view dtype;
  std::uint64_t size;
};

constexpr std::array<npy_type, 12> npy_types = {{{"f8", "float64", 8},
                                                 {"f4", "float32", 4},
                                                 {"f2", "float16", 2},
                                                 {"i8", "int64", 8},
                                                 {"i4", "int32", 4},
                                                 {"i2", "int16", 2},
                                                 {"i1", "int8", 1},
                                                 {"u8", "uint64", 8},
                                                 {"u4", "uint32", 4},
                                                 {"u2", "uint16", 2},
                                                 {"u1", "uint8", 1},
                                                 {"b1", "bool", 1}}};

// The header is the text of a Python dictionary with three known keys.
class header_reader {
 public:
  header_reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const {
    throw error(error_code::input, message, {.file = file_}, hint);
  }

  std::string_view value_of(std::string_view key) const {
    for (const char quote : {'\'', '"'}) {
      const std::string word = quote + std::string(key) + quote;
      const auto found = text_.find(word);
      if (found == std::string_view::npos) continue;
      auto rest = text_.substr(found + word.size());
      const auto colon = rest.find_first_not_of(" \t");
      if (colon == std::string_view::npos || rest[colon] != ':') break;
      rest.remove_prefix(colon + 1);
      const auto begin = rest.find_first_not_of(" \t");
      if (begin == std::string_view::npos) break;
      return rest.substr(begin);
    }
    fail("the header of this .npy file has no '" + std::string(key) + "'");
  }

  std::string_view text_value(std::string_view key) const {
    const auto value = value_of(key);
    const char quote = value.front();
    const auto end = value.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos)
      fail("'" + std::string(key) + "' in the header of this .npy file is not a plain type",
           "structured types are not supported; save one field");
    return value.substr(1, end - 1);
  }

  std::vector<std::int64_t> shape() const {
    auto value = value_of("shape");
    const auto end = value.find(')');
    if (value.front() != '(' || end == std::string_view::npos) fail("the shape in the header is not a tuple");
    value = value.substr(1, end - 1);
    std::vector<std::int64_t> found;
    while (true) {
      const auto begin = value.find_first_not_of(" \t,");
      if (begin == std::string_view::npos) return found;
      value.remove_prefix(begin);
      std::int64_t extent = 0;
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), extent);
      if (parsed.ec != std::errc() || extent < 0)
        fail("the shape in the header holds something else than sizes");
      if (found.size() == 32) fail("the shape in the header has more than 32 extents");
      found.push_back(extent);
      value.remove_prefix(static_cast<std::size_t>(parsed.ptr - value.data()));
    }
  }

 private:
  std::string_view text_;
  const std::string& file_;
};

}  // namespace

file_tensor parse_npy(std::string_view contents, const std::string& file) {
  const header_reader whole({}, file);
  constexpr std::string_view magic = "\x93NUMPY";
  if (!contents.starts_with(magic)) {
    whole.fail("this is not a .npy file: it does not start with \\x93NUMPY",
               "write it with numpy.save(path, array)");
  }
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(contents[i]));
  };
  if (contents.size() < 10) whole.fail("this .npy file ends within its header");
  const auto version = byte(6);
  if (version < 1 || version > 3)
    whole.fail("this .npy file has the version " + std::to_string(version) + "; versions 1 to 3 are known");
  const std::size_t start = version == 1 ? 10 : 12;
  if (contents.size() < start) whole.fail("this .npy file ends within its header");
  std::uint64_t length = byte(8) | byte(9) << 8U;
  if (version > 1) length |= byte(10) << 16U | byte(11) << 24U;
  if (length > contents.size() - start) whole.fail("this .npy file ends within its header");
  const header_reader header(contents.substr(start, length), file);

  const auto type = header.text_value("descr");
  const npy_type* known = nullptr;
  for (const auto& one : npy_types) {
    if (type.size() > 1 && type.substr(1) == one.code) known = &one;
  }
  if (known == nullptr || std::string_view("<>|=").find(type.front()) == std::string_view::npos) {
    header.fail("the type '" + detail::shown(type) + "' of this .npy file is not supported",
                "convert it, for example with array.astype(numpy.float32)");
  }
  if (type.front() == '>' && known->size > 1)
    header.fail("the elements of this .npy file are big-endian",
                "convert them: array.astype(array.dtype.newbyteorder('<'))");
  const auto order = header.value_of("fortran_order");
  if (!order.starts_with("False")) {
    if (!order.starts_with("True")) header.fail("'fortran_order' in the header is neither True nor False");
    header.fail("this .npy file is in Fortran order", "convert it: numpy.ascontiguousarray(array)");
  }
  file_tensor made{std::string(known->dtype), header.shape(), {}};
  const auto bytes = detail::bytes_of_shape(made.shape, known->size);
  if (!bytes) header.fail("the shape in the header is too large");
  const auto data = contents.substr(start + length);
  if (*bytes != data.size()) {
    header.fail("the shape in the header needs " + std::to_string(*bytes) + " bytes, and " +
                    std::to_string(data.size()) + " follow",
                *bytes > data.size() ? "the file was cut off" : "");
  }
  const auto* begin = reinterpret_cast<const std::byte*>(data.data());
  made.bytes.assign(begin, begin + data.size());
  return made;
}

}  // namespace kevo
