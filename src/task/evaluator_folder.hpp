#pragma once
// Folders as OpenEvolve and ShinkaEvolve keep their examples: an evaluator, a program to start with and,
// mostly, settings. Such a folder may stand wherever a task file may.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/fitness/evaluator.hpp>
#include <kevo/task.hpp>

namespace kevo {

/// What such a folder says. What it does not say has the default of the system that it was made for.
struct evaluator_folder {
  evaluator_system system = evaluator_system::openevolve;
  std::string folder;     ///< absolute
  std::string evaluator;  ///< name of the file in it
  std::string program;    ///< name of the file or folder to start with; empty if there is none
  std::string config;     ///< name of the file of settings; empty if there is none
  std::string message;    ///< what the system's models are told of the task; may be empty
  double timeout_s = 300;
  bool cascade = true;
  std::vector<double> thresholds = {0.5, 0.75, 0.9};
  std::vector<std::string> features = {"complexity", "diversity"};
  std::int64_t bins = 10;  ///< of each feature
  std::int64_t islands = 5;
  std::int64_t migration_interval = 50;
  double migration_rate = 0.1;
  double exploration = 0.2;
  double exploitation = 0.7;
  std::int64_t elites = 100;
  std::int64_t top = 3;          ///< programs in a prompt: the best ...
  std::int64_t diverse = 2;      ///< ... and others
  std::int64_t proposals = 100;  ///< iterations, generations
  std::int64_t seed = 42;
  bool edits = true;  ///< models edit a program; else they write it anew
};

/// Reads a folder: of ShinkaEvolve if it holds `evaluate.py` and no `evaluator.py`, else of OpenEvolve.
/// Settings are taken from config.yaml (OpenEvolve; else from the first config*.yaml), or from the texts in
/// run_evo.py (ShinkaEvolve). Keys without a counterpart are passed over.
/// @param system the one that it must be made for; nothing: either
/// @throws kevo::error (input) if there is no evaluator, or if the settings cannot be read
evaluator_folder read_evaluator_folder(const std::string& path,
                                       std::optional<evaluator_system> system = std::nullopt);

/// The task of such a folder: its name, the message as the description, and the program as the seed.
/// @throws kevo::error (input) as above, or if there is no program to start with
task task_of_evaluator_folder(const std::string& path);

}  // namespace kevo
