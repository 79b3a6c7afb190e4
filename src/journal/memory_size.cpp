#include "src/journal/memory_size.hpp"

namespace kevo::detail {

std::size_t memory_size_of(const program& source) {
  std::size_t bytes = sizeof source + source.language.size();
  for (const auto& file : source.files) bytes += sizeof file + file.path.size() + file.text.size();
  return bytes;
}

std::size_t memory_size_of(const evaluation& result) {
  constexpr std::size_t node = 96;  // of a map
  std::size_t bytes = sizeof result + result.feedback.size();
  for (const auto& w : result.workloads) {
    bytes += sizeof w + w.axes.size() * node + w.samples.size() * sizeof(timing_pair);
  }
  for (const auto& reason : result.reasons) bytes += sizeof(std::string) + reason.size();
  for (const auto& [key, value] : result.context) bytes += node + key.size() + value.size();
  const auto figures =
      result.measures.size() + result.other_speedups.size() + result.other_speedup_intervals.size();
  return bytes + figures * node;
}

std::size_t memory_size_of(const model_call& call) {
  return sizeof call + call.messages.size() + call.response.size() + call.prompt_token_ids.size() +
         call.token_ids.size() + call.log_probabilities.size() + call.sampling.size();
}

}  // namespace kevo::detail
