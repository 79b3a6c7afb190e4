#include "fitness/cuda/device/contents.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include <kevo/error.hpp>

#include "fitness/cuda/device/type_code.hpp"
#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/output_contract.hpp"
#include "fitness/oracle/sum_bound.hpp"

namespace kevo::cuda {
namespace {

void draw(gpu& device, const device_input& input, variety kind, bool mild, std::uint64_t key,
          std::uint64_t lane, address to);

// Patch after patch, each drawn as if it were an input of its own, mildly as on the CPU.
void draw_patches(gpu& device, const device_input& input, std::uint64_t lane, address to, rng& random) {
  const auto bounds = patch_bounds(input.count, random);
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    device_input patch = input;
    patch.count = bounds[i] - bounds[i - 1];
    if (patch.count == 0) continue;
    // Real numbers are never one value many times over: honest sums of a function of it would round one way.
    auto kind = patch_variety(random);
    if (kind == variety::constant && input.kind != "integers") kind = variety::plain;
    if (input.kind == "uniform") kind = patch_of_uniform(kind);
    draw(device, patch, kind, true, random(), lane, to + bounds[i - 1] * element_of(input.type).size);
  }
}

// Single elements in secret places, as the CPU's generator draws them.
void draw_spikes(gpu& device, const device_input& input, bool mild, address to, rng& random) {
  const auto& type = element_of(input.type);
  for (const auto place : spike_places(input.count, random)) {
    const auto bytes = generate_elements(type, 1, {input.kind, input.a, input.b}, variety::spiked,
                                         mild ? variety_strength::mild : variety_strength::full, random);
    device.copy_in(to + place * type.size, bytes.data(), bytes.size());
  }
}

// What host code draws one by one (permutations, offsets) comes from the same generators as on the CPU.
void draw(gpu& device, const device_input& input, variety kind, bool mild, std::uint64_t key,
          std::uint64_t lane, address to) {
  rng random(key ^ (lane * 0x9e3779b97f4a7c15ULL));
  const bool drawn_here = input.kind == "normal" || input.kind == "uniform" || input.kind == "integers";
  if (drawn_here && input.kind != "integers" && element_of(input.type).kind == element_kind::boolean) {
    device_input either = input;  // as on the CPU
    either.kind = "integers";
    either.a = 0;
    either.b = 1;
    return draw(device, either, kind, mild, key, lane, to);
  }
  if (!drawn_here) {
    generator recipe{input.kind, input.a, input.b};
    recipe.law = input.law;
    recipe.parameter = input.parameter;
    const auto bytes = generate_elements(element_of(input.type), input.count, recipe, kind,
                                         mild ? variety_strength::mild : variety_strength::full, random);
    device.copy_in(to, bytes.data(), bytes.size());
    return;
  }
  if (kind == variety::patchy) return draw_patches(device, input, lane, to, random);
  const auto how = numbers_for(input, kind, mild, random);
  device.over("kevo_generate", input.count, to, input.type, input.count, key, lane, how.code, how.a, how.b,
              how.scale, how.shift, how.tail, how.constant, how.upper);
  if (kind == variety::spiked) draw_spikes(device, input, mild, to, random);
}

template <class T>
std::vector<T> words_of(gpu& device, address from, std::size_t count) {
  std::vector<T> values(count);
  device.copy_out(values.data(), from, count * sizeof(T));
  return values;
}

double one_value(gpu& device, int type, address tensor, std::uint64_t index) {
  const auto& t = element_of(type);
  std::byte bytes[8];
  device.copy_out(bytes, tensor + index * t.size, t.size);
  return t.kind == element_kind::real ? load_real(t, bytes) : static_cast<double>(load_integer(t, bytes));
}

}  // namespace

generated_numbers numbers_for(const device_input& input, variety kind, bool mild, rng& random) {
  generated_numbers how;
  how.code = input.kind == "normal" ? 0 : input.kind == "uniform" ? 1 : 2;
  how.a = input.a;
  how.b = input.b;
  how.constant = kind == variety::constant ? 1 : 0;
  how.upper = random.chance(0.5) ? 1 : 0;
  const double side = how.upper != 0 ? 1 : -1;
  if (how.code == 0) {
    if (kind == variety::scaled) how.scale = std::exp2(mild ? random.uniform(-3, 0) : random.uniform(-6, 4));
    if (kind == variety::shifted) how.shift = (mild ? 0.5 : 4) * side;
    if (kind == variety::heavy_tailed) how.tail = mild ? 4 : 8;
  } else {
    if (kind == variety::scaled) how.scale = 1.0 / 16;
    if (kind == variety::shifted) how.scale = how.shift = 0.5;
    if (kind == variety::heavy_tailed) how.tail = 1;
    if (how.code == 2) how.a = std::ceil(how.a), how.b = std::floor(how.b);
  }
  if (kind == variety::spiked) {  // the usual elements; integers: one value
    how.scale = how.code == 1 ? spread_of_usual : jitter_of_usual;
    how.shift = how.code == 0 ? side : random.uniform() * (1 - how.scale);
    how.constant = how.code == 2 ? 1 : 0;
  }
  return how;
}

namespace {

constexpr std::uint64_t most_summing = 1U
                                       << 14U;  // threads; each adds its own sums to the few that there are

bool has_random_signs(const device_workload& w) {
  return std::all_of(w.inputs.begin(), w.inputs.end(), [](const device_input& input) {
    return element_of(input.type).kind != element_kind::real ||
           kevo::has_random_signs({input.kind, input.a, input.b});
  });
}

// Whether the sums of an output cancel, as on the CPU.
bool cancels(gpu& device, const device_output& rule, const device_content& made, std::size_t index,
             address sums) {
  if (rule.rule != 2 || rule.scale < 0 || rule.cancelling >= rule.p) return false;
  device.clear(sums, 64);
  device.over("kevo_sums", std::min(rule.count, most_summing), made.expected[index].at(),
              type_code("float64"), 1, made.scales[static_cast<std::size_t>(rule.scale)].at(), rule.count,
              sums);
  const auto found = words_of<double>(device, sums, 3);
  return sums_cancel({.summands = rule.summands}, found[1], found[2]);
}

}  // namespace

std::string make_content(gpu& device, const reference_run& reference, const device_workload& w, variety kind,
                         std::uint64_t seed, std::span<const std::byte> given, device_content& made) {
  const auto& d = device.api();
  if (given.size() != given_bytes(w))
    throw error(error_code::internal, "the inputs of a content are missing");
  made = {};
  made.kind = kind;
  std::vector<address> buffers;
  const auto hold = [&](std::vector<private_memory>& list, std::size_t bytes) {
    list.emplace_back(d, std::max<std::size_t>(bytes, 16));
    buffers.push_back(list.back().at());
  };
  for (std::size_t i = 0; i < w.inputs.size(); ++i) {
    const auto bytes = w.inputs[i].count * element_of(w.inputs[i].type).size;
    hold(made.inputs, bytes);
    if (w.inputs[i].kind == given_input) {
      device.copy_in(buffers.back(), given.data(), bytes);
      given = given.subspan(bytes);
      continue;
    }
    draw(device, w.inputs[i], kind, w.mild, seed, i + 1, buffers.back());
  }
  for (const auto& output : w.outputs) hold(made.expected, 8 * output.count);
  for (const auto count : w.scales) hold(made.scales, 8 * count);
  std::vector<private_memory> work;
  for (const auto& space : w.reference.workspaces) hold(work, space.bytes);
  // What the reference does not write must not look right.
  for (std::size_t i = 0; i < w.outputs.size(); ++i)
    d.set_bytes(made.expected[i].at(), 0xff, 8 * w.outputs[i].count, device.main());
  for (std::size_t i = 0; i < w.scales.size(); ++i)
    d.set_bytes(made.scales[i].at(), 0xff, 8 * w.scales[i], device.main());

  if (auto complaint = reference(buffers); !complaint.empty()) return complaint;
  private_memory found(d, 64);
  const auto finite = [&](address values, std::uint64_t count, bool allow, bool scale) {
    device.clear(found.at(), 64);
    device.over("kevo_finite", count, values, count, allow ? 1 : 0, found.at());
    const auto words = words_of<std::uint64_t>(device, found.at(), 2);
    return words[0] == 0 && (!scale || words[1] == 0);
  };
  for (std::size_t i = 0; i < w.outputs.size(); ++i) {
    if (element_of(w.outputs[i].type).kind != element_kind::real) continue;
    if (!finite(made.expected[i].at(), w.outputs[i].count, w.outputs[i].allow_negative_infinity, false))
      return "computes NaN or infinity, or leaves elements unwritten (input data " +
             std::string(to_string(kind)) + ")";
  }
  for (std::size_t i = 0; i < w.scales.size(); ++i) {
    if (!finite(made.scales[i].at(), w.scales[i], false, true))
      return "computes a scale that is negative, NaN or infinite (input data " +
             std::string(to_string(kind)) + ")";
  }
  const bool signs = kind == variety::plain && has_random_signs(w);
  for (std::size_t i = 0; i < w.outputs.size(); ++i)
    made.cancels.push_back(signs && cancels(device, w.outputs[i], made, i, found.at()));
  return {};
}

namespace {

constexpr std::uint64_t nothing_found[8] = {0, ~0ULL, 0, 0, 0, ~0ULL, 0, 0};

// What of the contract of a whole output is broken; empty: nothing.
std::string broken_contract(gpu& device, const device_output& rule, address got, address want, address sums) {
  const auto given = [](double limit) { return std::isfinite(limit) ? std::optional(limit) : std::nullopt; };
  const output_contract contract = {given(rule.min_cosine), given(rule.max_relative_l1),
                                    given(rule.max_rmse)};
  if (!contract.any()) return {};
  device.clear(sums, 64);
  device.over("kevo_sums", std::min(rule.count, most_summing), got, rule.type,
              element_of(rule.type).kind == element_kind::real ? 1 : 0, want, rule.count, sums);
  const auto found = words_of<double>(device, sums, 6);
  return broken_part(contract, {found[0], found[1], found[2], found[3], found[4], found[5]}, rule.count);
}

}  // namespace

std::uint64_t suite_misses(gpu& device, const device_output& rule, const device_content& content,
                           std::size_t index, address got, address found) {
  const address want = content.expected[index].at();
  device.copy_in(found, nothing_found, sizeof nothing_found);
  if (element_of(rule.type).kind == element_kind::real) {
    device.over("kevo_compare", rule.count, got, rule.type, want, address{0}, rule.count, 1, rule.suite,
                rule.suite, -1.0, 0, found);
  } else {
    device.over("kevo_compare_integers", rule.count, got, rule.type, want, rule.count, 0, 0.0, 0.0, -1.0, 0,
                found);
  }
  return words_of<std::uint64_t>(device, found, 1).front();
}

bool accepted(gpu& device, const device_output& rule, const device_content& content, std::size_t index,
              address got, address found, output_finding& finding) {
  const bool real = element_of(rule.type).kind == element_kind::real;
  const address want = content.expected[index].at();
  const address scale = rule.scale >= 0 ? content.scales[static_cast<std::size_t>(rule.scale)].at() : 0;
  const double p = content.cancels[index] ? rule.cancelling : rule.p;
  const auto pass = [&](int number) {
    if (real) {
      device.over("kevo_compare", rule.count, got, rule.type, want, scale, rule.count, rule.rule, p, rule.q,
                  rule.cap, number, found);
    } else {
      device.over("kevo_compare_integers", rule.count, got, rule.type, want, rule.count, rule.rule, rule.p,
                  rule.q, rule.cap, number, found);
    }
  };
  device.copy_in(found, nothing_found, sizeof nothing_found);
  pass(0);
  auto words = words_of<std::uint64_t>(device, found, 8);
  finding = {static_cast<std::uint32_t>(index), words[0], rule.count, words[1], 0, 0, 0,
             std::bit_cast<double>(words[4])};
  if (words[0] <= rule.allowed_misses && words[2] == 0 && words[3] == 0) {
    finding.contract = broken_contract(device, rule, got, want, found);
    return finding.contract.empty();
  }
  pass(1);
  words = words_of<std::uint64_t>(device, found, 8);
  finding.worst = std::min(words[5], rule.count - 1);
  finding.got = one_value(device, rule.type, got, finding.worst);
  finding.expected = one_value(device, real ? 0 : 7, want, finding.worst);
  return false;
}

}  // namespace kevo::cuda
