// A fitness function of your own can be any code that judges a program. Here a program is the tile size of a
// matrix transposition, and the fitness function times the transposition in this process. A wrong program is
// reported as an outcome, not as an exception.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <kevo/archive/grid.hpp>
#include <kevo/kevo.hpp>

constexpr std::size_t n = 1024;

static double seconds_of_transpose(std::size_t tile, const std::vector<float>& in, std::vector<float>& out) {
  double best = 1e9;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto began = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < n; i += tile) {
      for (std::size_t k = 0; k < n; k += tile) {
        for (std::size_t r = i; r < std::min(n, i + tile); ++r) {
          for (std::size_t c = k; c < std::min(n, k + tile); ++c) out[c * n + r] = in[r * n + c];
        }
      }
    }
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  return best;
}

struct transpose_time {
  std::vector<float> in = std::vector<float>(n * n, 1), out = std::vector<float>(n * n);

  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    kevo::evaluation result{.outcome = kevo::outcome::incorrect, .stage = request.wanted};
    const int tile = std::atoi(request.program->files.front().text.c_str());
    if (tile < 1) {
      result.feedback = "a tile has at least one element";
      return result;
    }
    result.outcome = kevo::outcome::valid;
    // The two versions are timed directly one after the other, so that other work slows both.
    const double untiled_s = seconds_of_transpose(n, in, out);
    result.speedup = result.score = untiled_s / seconds_of_transpose(static_cast<std::size_t>(tile), in, out);
    result.measures["tile"] = tile;
    return result;
  }
  std::string describe() const { return "float32 transpose, 1024 x 1024, one thread"; }
};
static_assert(kevo::fitness<transpose_time>);

struct resize {
  std::string name() const { return "resize"; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    const int tile = std::stoi(std::string(request.parents.front()->program->text()));
    const int other = random.chance(0.5) ? tile / 2 : tile + static_cast<int>(random.integer(-8, 8));
    return kevo::proposal{kevo::single_file_program("tile", "size", std::to_string(other)), "resized"};
  }
};

int main() {
  kevo::search_parts parts;
  parts.select = kevo::power_law{};
  parts.operators = {resize{}};
  parts.portfolio = kevo::uniform_portfolio{};
  parts.archive =
      kevo::grid({{.measure = "tile", .bins = 11, .low = 1, .high = 2048, .scale = kevo::axis_scale::log}});
  parts.stop = kevo::stop::evaluations{40};

  kevo::search search(std::move(parts), {.seed = 1});
  search.add_seed(kevo::single_file_program("tile", "size", std::to_string(n)), 0);
  kevo::run_to_end(search, transpose_time{}, [] { return 0.0; });

  for (std::size_t i = 0; i < search.archive().size(); ++i) {
    const kevo::elite kept = search.archive().at(i);
    std::printf("tile %4s: %.2fx\n", std::string(search.snapshot(kept.id).program->text()).c_str(),
                kept.score);
  }
  return search.best().score > 1 && search.archive().size() > 2 ? 0 : 1;
}
