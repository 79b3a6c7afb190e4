#include "src/lab/ablation_file.hpp"

#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/json/exact_parse.hpp"

namespace kevo {

ablation_file::ablation_file(const std::string& folder)
    : file_(folder, "evaluations.jsonl", [this](std::string_view line) {
        const boost::json::value parsed = parse_json_exactly(line, true);
        // As text within the line, so that it is read back bit for bit by the reader of evaluations.
        kept_.insert_or_assign(boost::json::value_to<std::string>(parsed.at("key")),
                               std::make_shared<const evaluation>(evaluation_from_json(
                                   boost::json::value_to<std::string>(parsed.at("evaluation")))));
      }) {}

std::shared_ptr<const evaluation> ablation_file::find(const std::string& key) const {
  const auto found = kept_.find(key);
  return found == kept_.end() ? nullptr : found->second;
}

void ablation_file::append(kept_evaluation one) {
  file_.append(
      boost::json::serialize(boost::json::object{{"key", one.key},
                                                 {"finished_at", one.finished_at},
                                                 {"variant", one.variant},
                                                 {"repeat", one.repeat},
                                                 {"evaluation", to_json(one.result, {.exact = true})}}));
  kept_.insert_or_assign(std::move(one.key), std::make_shared<const evaluation>(std::move(one.result)));
}

}  // namespace kevo
