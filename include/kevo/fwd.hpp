#pragma once
// Forward declarations of the types of the core, for headers that need only their names.

#include <cstdint>

namespace kevo {

struct content_id;
struct program;
struct task;
struct workload;
struct evaluation;
enum class outcome : std::uint8_t;
enum class evaluation_stage : std::uint8_t;

struct candidate_snapshot;
struct candidate_store;
struct ledger;
struct spending;
class error;
class rng;

class population;
class population_view;
class search_graph;

struct selection;
struct observation;
class any_selector;
struct variation_request;
class any_variation;
struct operator_turn;
class any_portfolio;
struct evaluation_request;
class any_fitness;
struct archive_entry;
struct archive_result;
struct elite;
class any_archive;
struct progress;
class any_stop_rule;
struct event;
class any_sink;

struct search_parts;
struct search_settings;
class search;
class confirmation;
struct champion;
class settings;
class registry;
class services;

}  // namespace kevo
