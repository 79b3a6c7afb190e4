#include "src/base/json/error_json.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace kevo {
namespace {

boost::json::value text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return boost::json::value(text);
}

}  // namespace

std::string to_json(const error& wrong) {
  boost::json::object inner;
  inner["code"] = to_string(wrong.code());
  inner["file"] = text_or_null(wrong.place().file);
  inner["line"] =
      wrong.place().line > 0 ? boost::json::value(wrong.place().line) : boost::json::value(nullptr);
  inner["key"] = text_or_null(wrong.place().key);
  inner["message"] = wrong.message();
  inner["hint"] = text_or_null(wrong.hint());
  return boost::json::serialize(boost::json::object{{"error", std::move(inner)}});
}

}  // namespace kevo
