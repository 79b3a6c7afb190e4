#include "src/run/replay.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/run/relatives.hpp"

namespace kevo {
namespace {

std::string list(const std::vector<candidate_id>& ids) {
  return fmt::format("[{}]", fmt::join(ids, ", "));
}

std::string words(const seeded& e) {
  return fmt::format("seed {} is {}", e.candidate, to_string(e.program));
}
std::string words(const variation_asked& e) {
  return fmt::format("job {}: operator {} varies {} with inspirations {}, scope {}", e.job, e.op,
                     list(e.selection.parents), list(e.selection.inspirations), to_string(e.selection.scope));
}
std::string words(const variation_told& e) {
  const std::string sample = e.further || e.sample > 0 ? fmt::format(" from sample {}", e.sample) : "";
  return fmt::format("job {}: {}program {}{} is candidate {}{}, \"{}\"", e.job, e.further ? "further " : "",
                     e.program ? to_string(*e.program) : "none", sample,
                     e.candidate == no_candidate ? std::string("none") : std::to_string(e.candidate),
                     e.duplicate ? " (known)" : "", e.summary);
}
std::string words(const evaluation_asked& e) {
  return fmt::format("job {}: evaluate candidate {} up to stage {}{}", e.job, e.candidate,
                     static_cast<int>(e.wanted), e.fresh ? ", again" : "");
}
std::string words(const evaluation_told& e) {
  return fmt::format("job {}: candidate {} is {} with score {:a}, archive: {} {:a}", e.job, e.candidate,
                     to_string(e.result->outcome), e.result->score, to_string(e.archived.status),
                     e.archived.value);
}
std::string words(const draft_evaluated& e) {
  return fmt::format("job {}: draft {}", e.job, to_string(e.program));
}
std::string words(const champion_crowned& e) {
  if (e.candidate == no_candidate) return "no candidate is champion any more";
  const std::string undecided =
      e.verdict.confirmed() ? "" : fmt::format(", undecided: {}", to_string(e.verdict.reason));
  return fmt::format("candidate {} is champion at {:a} [{:a}, {:a}]{}", e.candidate, e.speedup,
                     e.speedup_interval.low, e.speedup_interval.high, undecided);
}
std::string words(const baseline_met& e) {
  return fmt::format("candidate {} is the program of the baseline \"{}\"", e.candidate, e.baseline);
}
std::string words(const proposals_filtered& e) {
  std::string dropped;
  for (const auto& one : e.dropped)
    dropped += fmt::format("{}{} ({})", dropped.empty() ? "" : "; ", one.candidate, one.reason);
  return fmt::format("the filter lets {} pass and drops [{}]", list(e.passed), dropped);
}
std::string words(const search_stopped& e) {
  return "stopped: " + e.reason;
}
std::string words(const search_resumed& e) {
  return "resumed: " + e.reason;
}

class repeater {
 public:
  repeater(search& engine, const std::function<std::shared_ptr<const program>(const content_id&)>& programs,
           replay_settings settings)
      : engine_(engine),
        programs_(programs),
        settings_(std::move(settings)),
        emitted_(std::make_shared<std::deque<event>>()) {
    struct collector {
      std::shared_ptr<std::deque<event>> events;
      void consume(const event& e) const { events->push_back(e); }
    };
    engine_.attach(collector{emitted_});
  }

  void repeat(const event& recorded) {
    if (report_.divergence) return;
    if (emitted_->empty()) {
      try {
        std::visit([&](const auto& what) { provoke(what, recorded.time_s); }, recorded.payload);
      } catch (const error& refused) {
        report_.divergence = fmt::format("event {}: recorded \"{}\", but {}", recorded.sequence,
                                         describe(recorded), refused.what());
        return;
      }
    }
    const std::string expected = describe(recorded);
    const std::string found = emitted_->empty() ? "nothing" : describe(emitted_->front());
    if (expected != found) {
      report_.divergence =
          fmt::format("event {}: recorded \"{}\", recomputed \"{}\"", recorded.sequence, expected, found);
      return;
    }
    emitted_->pop_front();
    ++report_.events;
    report_.last_time_s = recorded.time_s;
  }

  replay_report finish() {
    for (auto& [id, left] : jobs_) {
      report_.unfinished.push_back(std::move(left));
      if (const auto found = drafts_.find(id); found != drafts_.end())
        report_.drafts.emplace(id, std::move(found->second));
    }
    if (!report_.divergence) report_.unrecorded.assign(emitted_->begin(), emitted_->end());
    return std::move(report_);
  }

 private:
  void provoke(const seeded& e, double now_s) { engine_.add_seed(*source(e.program), now_s); }
  void provoke(const variation_asked&, double now_s) { ask({.vary = true, .evaluate = false}, now_s); }
  void provoke(const evaluation_asked& e, double now_s) {
    // A confirmation that follows a stop was asked for when nobody waited for the others any more.
    if (engine_.stopped()) {
      for (const auto& [id, left] : jobs_) engine_.withdraw(id);
    }
    // A selector's wish to measure again was recorded when it was made, whether there was room for it or not.
    if (e.fresh && e.wanted != evaluation_stage::confirmed) {
      ask({.vary = true, .evaluate = false}, now_s);
      ask({.vary = false, .evaluate = true}, now_s);
      return;
    }
    ask({.vary = false,
         .evaluate = true,
         .settle = e.wanted != evaluation_stage::confirmed,
         .settle_all = engine_.stopped() && left_at_stop(e.candidate)},
        now_s);
  }
  void provoke(const variation_told& e, double now_s) {
    if (e.further) return engine_.tell_further(e.job, proposal_of(e), now_s);
    engine_.tell(e.job, result_of(e), e.cost, e.transcript, now_s);
    jobs_.erase(e.job);
    drafts_.erase(e.job);
  }
  void provoke(const evaluation_told& e, double now_s) {
    engine_.tell(e.job, *e.result, now_s);
    jobs_.erase(e.job);
  }
  void provoke(const draft_evaluated& e, double now_s) {
    engine_.tell_draft(e.job, *source(e.program), *e.result, now_s);
    if (settings_.repeat) drafts_[e.job].emplace_back(e.program, *e.result);
  }
  void provoke(const champion_crowned&, double) {}
  void provoke(const baseline_met&, double) {}
  void provoke(const proposals_filtered&, double now_s) { engine_.filter_gathered(now_s); }
  void provoke(const search_stopped& e, double now_s) {
    if (e.external || resumed_ || settings_.stops_from_record) {
      engine_.stop(e.reason, now_s);
    } else {
      ask({.evaluate = false}, now_s);  // what is evaluated after the stop has a record of its own
    }
  }
  // The rule that went on after a stop may be another than the config's, so later stops are taken from the
  // record.
  void provoke(const search_resumed& e, double now_s) {
    engine_.resume({}, e.reason, now_s);
    resumed_ = true;
  }

  /// Whether a stop leaves this candidate to a resume. Earlier versions evaluated candidates of all operators
  /// that are not replayable.
  bool left_at_stop(candidate_id who) const {
    const operator_index op = engine_.population().row(who).made_by;
    return op != seed_operator && !engine_.operators()[op].evaluated_after_stop();
  }

  void ask(capacity free, double now_s) {
    job next = engine_.ask(free, now_s);
    if (auto* vary = std::get_if<variation_job>(&next)) {
      const ticket id = vary->id;
      if (settings_.repeat && !engine_.operators()[vary->op].replayable())
        vary->request.services = settled_relatives(engine_, *vary);
      jobs_.insert_or_assign(id, std::move(next));
    } else if (const auto* evaluate = std::get_if<evaluation_job>(&next)) {
      const ticket id = evaluate->id;
      jobs_.insert_or_assign(id, std::move(next));
    }
  }

  variation_result result_of(const variation_told& e) {
    const auto it = jobs_.find(e.job);
    if (it != jobs_.end()) {
      auto& work = std::get<variation_job>(it->second);
      any_variation& op = engine_.operators()[work.op];
      const bool again = op.replayable() ? settings_.recompute_variations : settings_.repeat != nullptr;
      if (again) {
        const auto alone = [](const auto& call) { call(); };
        work.request.services = std::make_shared<const variation_services>(
            with_relatives(engine_.services(work, alone), work.request.services));
      }
      if (again && op.replayable()) return vary_or_fail(op, work.request, work.random);
      if (again) {
        auto repeated = settings_.repeat(op, work, std::move(drafts_[e.job]));
        if (repeated && settings_.trust_repeated) return *std::move(repeated);
      }
    }
    if (e.program) return proposal_of(e);
    return no_proposal{e.summary, e.exhausted};
  }

  proposal proposal_of(const variation_told& e) const { return {*source(*e.program), e.summary, e.sample}; }

  std::shared_ptr<const program> source(const content_id& id) const {
    auto found = programs_(id);
    if (!found)
      throw error(error_code::input, "the journal does not contain the source of program " + to_string(id),
                  {}, "the journal is damaged: start a new run");
    return found;
  }

  search& engine_;
  const std::function<std::shared_ptr<const program>(const content_id&)>& programs_;
  replay_settings settings_;
  std::shared_ptr<std::deque<event>> emitted_;
  std::map<ticket, job> jobs_;
  std::map<ticket, std::vector<recorded_draft>> drafts_;
  bool resumed_ = false;
  replay_report report_;
};

}  // namespace

std::optional<evaluation> take_draft(std::vector<recorded_draft>& drafts, const content_id& id) {
  const auto found =
      std::find_if(drafts.begin(), drafts.end(), [&](const recorded_draft& one) { return one.first == id; });
  if (found == drafts.end()) return std::nullopt;
  evaluation result = std::move(found->second);
  drafts.erase(found);
  return result;
}

variation_result vary_or_fail(any_variation& op, const variation_request& request, rng& random) {
  try {
    return op.vary(request, random);
  } catch (const error&) {
    throw;
  } catch (const std::exception& broken) {  // an operator's own failure costs that turn, not the run
    return no_proposal{std::string("the operator failed: ") + broken.what()};
  } catch (...) {
    return no_proposal{"the operator failed: it threw an exception that is not a std::exception"};
  }
}

std::string describe(const event& what) {
  return std::visit([](const auto& e) { return words(e); }, what.payload);
}

replay_report replay(search& engine, const event_source& recorded,
                     const std::function<std::shared_ptr<const program>(const content_id&)>& programs,
                     const replay_settings& settings) {
  repeater hand(engine, programs, settings);
  recorded([&hand](const event& e) { hand.repeat(e); });
  return hand.finish();
}

}  // namespace kevo
