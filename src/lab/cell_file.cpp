#include "src/lab/cell_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>

#include "src/base/json/exact_parse.hpp"
#include "src/base/text/text_file.hpp"

namespace kevo {
namespace {

namespace json = boost::json;

[[noreturn]] void fail(const std::string& what, const std::string& path, const std::string& hint) {
  throw error(error_code::environment, what + ": " + std::strerror(errno), {path}, hint);
}

json::array to_array(const std::array<double, 3>& spent) {
  return {spent[0], spent[1], spent[2]};
}
std::array<double, 3> from_array(const json::value& value) {
  const json::array& list = value.as_array();
  return {list.at(0).to_number<double>(), list.at(1).to_number<double>(), list.at(2).to_number<double>()};
}

std::string line_of(const cell_result& cell) {
  json::array trace;
  for (const auto& point : cell.trace) {
    json::array one = to_array(point.spent);
    one.push_back(point.value);
    trace.push_back(std::move(one));
  }
  return json::serialize(json::object{{"key", to_string(cell.key)},
                                      {"policy", cell.policy},
                                      {"seed", cell.seed},
                                      {"optimum", cell.optimum},
                                      {"spent", to_array(cell.spent)},
                                      {"confirmations", cell.confirmations},
                                      {"duplicates", cell.duplicates},
                                      {"filtered", cell.filtered},
                                      {"tokens", cell.tokens},
                                      {"no_proposals", cell.no_proposals},
                                      {"stopped_by", cell.stopped_by},
                                      {"trace", std::move(trace)}}) +
         '\n';
}

cell_result cell_in(std::string_view line) {
  const json::value parsed = parse_json_exactly(line);
  const json::object& object = parsed.as_object();
  cell_result cell;
  const auto key = parse_content_id(json::value_to<std::string>(object.at("key")));
  if (!key) throw error(error_code::input, "the key is not a content id");
  cell.key = *key;
  cell.policy = json::value_to<std::string>(object.at("policy"));
  cell.seed = object.at("seed").to_number<std::uint64_t>();
  cell.optimum = object.at("optimum").to_number<double>();
  cell.spent = from_array(object.at("spent"));
  cell.confirmations = object.at("confirmations").to_number<std::uint64_t>();
  cell.duplicates = object.at("duplicates").to_number<std::uint64_t>();
  // Lines of older versions do not have these; their keys match no search of this version.
  if (const auto* filtered = object.if_contains("filtered"))
    cell.filtered = filtered->to_number<std::uint64_t>();
  if (const auto* tokens = object.if_contains("tokens")) cell.tokens = tokens->to_number<std::uint64_t>();
  if (const auto* none = object.if_contains("no_proposals"))
    cell.no_proposals = none->to_number<std::uint64_t>();
  cell.stopped_by = json::value_to<std::string>(object.at("stopped_by"));
  for (const auto& point : object.at("trace").as_array())
    cell.trace.push_back({from_array(point), point.as_array().at(3).to_number<double>()});
  return cell;
}

}  // namespace

cell_file::cell_file(const std::string& folder) : path_(folder + "/cells.jsonl") {
  std::error_code wrong;
  // A config may be somebody else's, and name any folder.
  if (!std::filesystem::exists(path_, wrong) && std::filesystem::is_directory(folder, wrong) &&
      !std::filesystem::is_empty(folder, wrong)) {
    throw error(error_code::input,
                "the folder contains files that are not from a lab; the results might overwrite them",
                {folder}, "set lab.output to an empty or new folder");
  }
  std::filesystem::create_directories(folder, wrong);
  if (wrong) {
    throw error(error_code::environment, "cannot make the folder: " + wrong.message(), {folder},
                "set lab.output to a writable folder");
  }
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail("cannot open the results file", path_, "set lab.output to a writable folder");
  try {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
      fail("another lab process is using this folder", path_,
           "wait until it ends, or choose another folder with lab.output");
    const std::string text = read_text_file(path_, std::size_t{4} << 30U);
    std::size_t at = 0;
    int line = 1;
    for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1, ++line) {
      try {
        cell_result cell = cell_in(std::string_view(text).substr(at, end - at));
        cells_.insert_or_assign(cell.key, std::move(cell));
      } catch (const std::exception& broken) {
        throw error(error_code::input, std::string("this line is not a valid result: ") + broken.what(),
                    {path_, line}, "delete the line or the file; the deleted searches are run again");
      }
    }
    // The last line of a lab that was killed while it wrote.
    if (at < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(at)) != 0)
      fail("cannot remove the incomplete last line", path_, "delete it manually");
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

cell_file::~cell_file() {
  ::close(descriptor_);
}

void cell_file::append(cell_result cell) {
  const std::string line = line_of(cell);
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t n = ::write(descriptor_, line.data() + written, line.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write a result", path_, "free some disk space and run the same command again");
    written += static_cast<std::size_t>(n);
  }
  if (::fdatasync(descriptor_) != 0)
    fail("cannot write a result", path_, "free some disk space and run the same command again");
  cells_.insert_or_assign(cell.key, std::move(cell));
}

}  // namespace kevo
