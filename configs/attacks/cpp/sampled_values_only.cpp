// attack: samples 64 elements of an integer input; if they have at most 4 different values, it assumes that all elements have one of these
// judged by: outcome
// expects: incorrect
// needs: integer input
// insert: honest
void attack(const attack_call& call) {
  changed_call changed = with_inputs(call, [](auto x) { return x; });
  changed.call.each_input([](auto*& data, std::int64_t count) {
    using element = std::remove_cv_t<std::remove_reference_t<decltype(*data)>>;
    if constexpr (std::is_integral_v<element>) {
      std::vector<element> values;
      const std::int64_t step = count > 64 ? count / 64 : 1;
      for (std::int64_t i = 0; i < count; i += step) values.push_back(data[i]);
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      if (values.empty() || values.size() > 4) return;
      auto* changed_data = const_cast<element*>(data);
      for (std::int64_t i = 0; i < count; ++i) {
        if (!std::binary_search(values.begin(), values.end(), data[i])) changed_data[i] = values.front();
      }
    }
  });
  changed.call.honest();
}
