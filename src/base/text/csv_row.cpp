#include "src/base/text/csv_row.hpp"

#include <cmath>

#include <fmt/format.h>

#include "src/base/text/format.hpp"
#include "src/base/text/utf8.hpp"

namespace kevo {

csv_row& csv_row::text(std::string_view given) {
  separate();
  const std::string value = format::printable(as_utf8(given));
  if (!value.empty() && std::string_view("=+-@\t\n").find(value.front()) != std::string_view::npos) {
    quote("'" + value);
  } else if (value.find_first_of(",\"\r\n") == std::string::npos) {
    line_ += value;
  } else {
    quote(value);
  }
  return *this;
}

csv_row& csv_row::number(double value) {
  if (!std::isfinite(value)) return nothing();
  separate();
  line_ += fmt::format("{}", value);
  return *this;
}

csv_row& csv_row::count(std::size_t value) {
  separate();
  line_ += std::to_string(value);
  return *this;
}

csv_row& csv_row::nothing() {
  separate();
  return *this;
}

void csv_row::end(std::ostream& out) {
  out << as_utf8(line_) << "\r\n";
  line_.clear();
  first_ = true;
}

void csv_row::quote(std::string_view value) {
  line_ += '"';
  for (const char c : value) {
    if (c == '"') line_ += '"';
    line_ += c;
  }
  line_ += '"';
}

void csv_row::separate() {
  if (!first_) line_ += ',';
  first_ = false;
}

}  // namespace kevo
