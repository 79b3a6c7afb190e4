#pragma once
// A run with given programs, written by hand, of which bundles are made.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/task/task_loader.hpp"
#include "tests/journal/random_run.hpp"

namespace kevo_test {

/// What such a run says of its candidates.
struct told_of_all {
  double speedup = 2;
  kevo::interval range = {1.9, 2.1};
  std::string device = "some processor";
};

/// A run whose candidates are the given programs, each valid and twice as fast as the seed.
struct run_of {
  scratch_folder folder;
  kevo::task task;
  kevo::journal record = kevo::journal::create(folder / "run", example_header());

  explicit run_of(const std::vector<kevo::program>& programs,
                  const std::string& of = KEVO_SOURCE_DIR "/configs/tasks/matmul/task.yaml",
                  const told_of_all& told = {})
      : task(kevo::load_task(of)) {
    std::uint64_t sequence = 0;
    for (kevo::candidate_id id = 0; id < programs.size(); ++id) {
      const auto shared = std::make_shared<const kevo::program>(programs[id]);
      record.store().put_program(kevo::id_of(*shared), shared);
      record.consume({++sequence, 1.0, kevo::seeded{id, kevo::id_of(*shared)}});
      kevo::evaluation e;
      e.outcome = kevo::outcome::valid;
      e.speedup = e.score = told.speedup;
      e.speedup_interval = told.range;
      e.device = told.device;
      e.stage = kevo::evaluation_stage::confirmed;
      e.baseline = "seed";
      e.context = {{"compiler", "g++"}, {"flags", "-O2"}};
      e.workloads.push_back(
          {.uuid = "square", .outcome = kevo::outcome::valid, .time_ns = 1e6, .speedup = told.speedup});
      record.consume({++sequence, 2.0,
                      kevo::evaluation_told{id + 1,
                                            id,
                                            kevo::evaluation_stage::confirmed,
                                            std::make_shared<const kevo::evaluation>(e),
                                            {kevo::archive_status::new_cell, 0.5}}});
    }
    record.commit();
  }
};

}  // namespace kevo_test
