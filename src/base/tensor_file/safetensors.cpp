#include <array>

#include <kevo/detail/nearest.hpp>
#include <kevo/settings_node.hpp>

#include "src/base/settings/json.hpp"
#include "src/base/tensor_file/element_count.hpp"
#include "src/base/tensor_file/tensor_file.hpp"

namespace kevo {
namespace {

struct stored_type {
  std::string_view code;
  std::string_view dtype;
  std::uint64_t size;
};

constexpr std::array<stored_type, 13> stored_types = {{{"F64", "float64", 8},
                                                       {"F32", "float32", 4},
                                                       {"F16", "float16", 2},
                                                       {"BF16", "bfloat16", 2},
                                                       {"I64", "int64", 8},
                                                       {"I32", "int32", 4},
                                                       {"I16", "int16", 2},
                                                       {"I8", "int8", 1},
                                                       {"U64", "uint64", 8},
                                                       {"U32", "uint32", 4},
                                                       {"U16", "uint16", 2},
                                                       {"U8", "uint8", 1},
                                                       {"BOOL", "bool", 1}}};

// The format allows 100 MB. A parsed header takes tens of times its bytes; this is room for 40,000 tensors.
constexpr std::uint64_t longest_header = std::uint64_t{4} << 20U;

// A list of integers that are 0 or greater, under a key of a tensor's entry.
std::vector<std::int64_t> sizes(const settings_node& entry, std::string_view key, const std::string& file,
                                const std::string& tensor) {
  const auto* list = entry.find(key);
  std::vector<std::int64_t> found;
  const auto refuse = [&] {
    throw error(
        error_code::input,
        "'" + std::string(key) + "' of the tensor '" + detail::shown(tensor) + "' is not a list of sizes",
        {.file = file});
  };
  if (list == nullptr || !list->is_list()) refuse();
  for (const auto& item : list->items) {
    if (item.type != settings_node::kind::integer || item.integer < 0) refuse();
    found.push_back(item.integer);
  }
  return found;
}

}  // namespace

file_tensor parse_safetensors(std::string_view contents, const std::string& key, const std::string& file) {
  const auto refuse = [&](const std::string& message, const std::string& hint = {}) {
    throw error(error_code::input, message, {.file = file}, hint);
  };
  if (contents.size() < 8) refuse("this safetensors file ends within its header");
  std::uint64_t length = 0;
  for (unsigned i = 0; i < 8; ++i)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(contents[i])) << (8U * i);
  if (length > contents.size() - 8)
    refuse("this is not a safetensors file, or it ends within its header: the header would have " +
           std::to_string(length) + " bytes");
  if (length > longest_header)
    refuse("the header of this safetensors file has " + std::to_string(length) + " bytes, and at most " +
               std::to_string(longest_header) + " are supported",
           "store the tensor in a file of its own");
  const settings_node header = parse_json(contents.substr(8, length), file);
  if (!header.is_map()) refuse("the header of this safetensors file is not a map of tensors");
  const auto* entry = header.find(key);
  if (entry == nullptr || key == "__metadata__") {
    std::vector<std::string> names;
    for (const auto& one : header.entries) {
      if (one.key != "__metadata__") names.push_back(detail::shown(one.key));
    }
    refuse("this safetensors file has no tensor '" + detail::shown(key) + "'",
           detail::hint_for(key, names, "its tensors"));
  }
  if (!entry->is_map()) refuse("the entry of the tensor '" + detail::shown(key) + "' is not a map");
  const auto* code = entry->find("dtype");
  const stored_type* known = nullptr;
  for (const auto& one : stored_types) {
    if (code != nullptr && code->text == one.code) known = &one;
  }
  if (known == nullptr) {
    refuse("the tensor '" + detail::shown(key) + "' has the dtype '" +
           detail::shown(code == nullptr ? "" : code->text) + "', which is not supported");
  }
  file_tensor made{std::string(known->dtype), sizes(*entry, "shape", file, key), {}};
  const auto range = sizes(*entry, "data_offsets", file, key);
  const auto data = contents.substr(8 + length);
  if (range.size() != 2 || range[0] > range[1] || static_cast<std::uint64_t>(range[1]) > data.size())
    refuse("the data of the tensor '" + detail::shown(key) + "' does not lie within the file",
           "the file was cut off");
  const auto bytes = detail::bytes_of_shape(made.shape, known->size);
  if (!bytes || *bytes != static_cast<std::uint64_t>(range[1] - range[0]))
    refuse("the shape of the tensor '" + detail::shown(key) + "' does not fit the size of its data");
  const auto* begin = reinterpret_cast<const std::byte*>(data.data());
  made.bytes.assign(begin + range[0], begin + range[1]);
  return made;
}

}  // namespace kevo
