#pragma once
// Numbers, texts and lists as bytes, for messages between processes of one machine. Fixed widths, the
// machine's byte order, lengths in front; the reader checks every length before it allocates.

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <kevo/error.hpp>

namespace kevo::cuda {

/// Appends values to a string.
class byte_writer {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) byte_writer& put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  /// The length as 64 bits, then the bytes.
  byte_writer& put(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  template <class T, class Put>
  byte_writer& put_all(const std::vector<T>& values, const Put& one) {
    put(static_cast<std::uint64_t>(values.size()));
    for (const auto& value : values) one(*this, value);
    return *this;
  }
  template <class T>
  byte_writer& put_all(const std::vector<T>& values) {
    return put_all(values, [](byte_writer& w, const T& value) { w.put(value); });
  }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Takes them out again, in the same order. Borrows the bytes.
/// Every member throws kevo::error (internal) where the bytes end too early.
class byte_reader {
 public:
  explicit byte_reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  template <class T>
  requires std::same_as<T, bool> T get() {
    const auto value = get<std::uint8_t>();
    if (value > 1) fail("a truth value that is neither 0 nor 1");
    return value == 1;
  }
  /// An enumerator up to `last`. The enumerators are numbered without gaps.
  template <class T>
  requires std::is_enum_v<T> T get(T last) {
    const auto value = get<std::underlying_type_t<T>>();
    if (value < 0 || value > static_cast<std::underlying_type_t<T>>(last)) fail("an unknown enumerator");
    return static_cast<T>(value);
  }
  std::string get_text() { return std::string(take(get<std::uint64_t>())); }
  /// @param least the fewest bytes that one element takes, which bounds how many there can be
  template <class T, class Get>
  std::vector<T> get_all(std::size_t least, const Get& one) {
    const auto count = get<std::uint64_t>();
    if (count > rest_.size() / least) fail("a list that is longer than the message");
    std::vector<T> values;
    values.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) values.push_back(one(*this));
    return values;
  }
  template <class T>
  std::vector<T> get_all() {
    return get_all<T>(sizeof(T), [](byte_reader& r) { return r.get<T>(); });
  }
  bool at_end() const { return rest_.empty(); }
  /// Throws if bytes are left over.
  void finish() const {
    if (!at_end()) fail("bytes after its end");
  }
  [[noreturn]] static void fail(const std::string& what) {
    throw error(error_code::internal, "a message between processes is damaged: " + what);
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) fail("it ends too early");
    const auto result = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(static_cast<std::size_t>(count));
    return result;
  }
  std::string_view rest_;
};

}  // namespace kevo::cuda
