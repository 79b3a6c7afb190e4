#pragma once
// JSON as text, written from front to back without a tree in between: evaluations are hundreds of small
// numbers, and a journal writes one per candidate.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kevo {

/// A finite number in the shortest decimal form that reads back as the same double, the sign of zero
/// included.
void append_number(std::string& text, double x);

/// The same for any number: what is not finite is "nan", "inf" or "-inf", in quotes.
void append_exact_number(std::string& text, double x);

/// A JSON document that grows. Commas are its business, the order of calls the caller's: a key before every
/// value of an object. Not thread-safe.
class json_text {
 public:
  void begin_object() { open('{'); }
  void end_object() { text_ += '}'; }
  void begin_array() { open('['); }
  void end_array() { text_ += ']'; }
  void key(std::string_view name);

  void null();
  void value(bool x);
  void value(double x);  ///< must be finite
  void value(std::int64_t x);
  void value(std::string_view x);
  void value(const char*) = delete;  ///< would be a bool
  void exact_number(double x);       ///< see append_exact_number

  const std::string& text() const& { return text_; }
  std::string text() && { return std::move(text_); }

 private:
  void open(char bracket);
  void separate();
  void quote(std::string_view x);
  std::string text_;
};

}  // namespace kevo
