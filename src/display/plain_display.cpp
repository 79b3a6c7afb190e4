#include "src/display/plain_display.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "src/base/text/counted.hpp"
#include "src/base/text/format.hpp"
#include "src/base/text/verdict_text.hpp"

namespace kevo {

plain_display::plain_display(run_title title, display_output output, bool unicode, double status_every_s)
    : output_(std::move(output)), every_s_(status_every_s), next_s_(status_every_s) {
  state_.title = std::move(title);
  state_.unicode = unicode;
}

void plain_display::say(const std::string& line) {
  output_(format::printable(line) + '\n');
}

void plain_display::consume(const event& what) {
  const std::uint64_t before = state_.improved;
  const candidate_id reigned = state_.champion ? state_.champion->candidate : no_candidate;
  const auto* crowned = std::get_if<champion_crowned>(&what.payload);
  const auto* stopped = std::get_if<search_stopped>(&what.payload);
  const bool resumed = std::holds_alternative<search_resumed>(what.payload);
  state_.consume(what);
  const std::string at = fmt::format("[{:>7}] ", format::duration(what.time_s));
  const auto describe = [&](const improvement& i) {
    std::string text = fmt::format("#{} {}", i.candidate, format::figure(i.speedup, i.score, state_.unicode));
    const auto range = format::interval(i.speedup_interval.low, i.speedup_interval.high, state_.unicode);
    if (!range.empty()) text += " [" + range + "]";
    const auto caution = format::caution(i.speedup_interval.low, i.speedup_interval.high);
    if (i.speedup > 0 && !caution.empty() && i.verdict.confirmed()) text += " (" + caution + ")";
    return text;
  };
  if (crowned != nullptr && state_.champion) {
    const auto& c = *state_.champion;
    std::string text = at + "champion " + describe(c) + ' ' + std::string(to_string(c.verdict.word()));
    if (const auto why = why_undecided(); !why.empty()) text += " (" + why + ")";
    text += " by " + format::one_line(state_.operator_name(c.op), !state_.unicode);
    if (!c.summary.empty()) text += ": " + format::one_line(c.summary, !state_.unicode);
    say(text);
  } else if (crowned != nullptr && reigned != no_candidate) {
    say(at + fmt::format("#{} is not champion any more: it was found invalid when it was measured again",
                         reigned));
  } else if (const auto* met = std::get_if<baseline_met>(&what.payload)) {
    say(at + fmt::format("#{} is the program of the baseline {}: it cannot be champion", met->candidate,
                         format::one_line(met->baseline, !state_.unicode)));
  } else if (stopped != nullptr) {
    say(at + "stopped: " + format::one_line(stopped->reason, !state_.unicode));
  } else if (resumed) {
    say(at + "resumed");
  } else if (state_.improved > before && !state_.improvements.empty()) {
    const auto& i = state_.improvements.back();
    std::string text = at + "better   " + describe(i) + " by " +
                       format::one_line(state_.operator_name(i.op), !state_.unicode);
    if (!i.summary.empty()) text += ": " + format::one_line(i.summary, !state_.unicode);
    say(text);
  }
}

std::string plain_display::why_undecided() const {
  if (!state_.champion) return {};
  const improvement& c = *state_.champion;
  const auto disturbed =
      state_.champion_result ? format::disturbance_in(state_.champion_result->context) : std::string();
  return format::one_line(format::why_undecided(c.verdict, c.speedup, c.speedup_interval, disturbed),
                          !state_.unicode);
}

void plain_display::refresh(const run_status& now) {
  auto rest = now;
  rest.archive = nullptr;  // lines say how many are kept, which the progress knows
  state_.refresh(rest);
  if (!started_) {
    started_ = true;
    next_s_ = now.elapsed_s + every_s_;
  }
  say_wait(now);
  if (now.elapsed_s < next_s_) return;
  next_s_ = now.elapsed_s + every_s_;
  say_status();
}

// The run time stands still during a wait, so that no status falls due.
void plain_display::say_wait(const run_status& now) {
  if (!is_waiting(now)) {
    // Where every evaluation waits a little, one line after the other would say the same.
    next_wait_s_ = now.elapsed_s < quiet_until_s_ ? every_s_ : 0;
    return;
  }
  if (now.waits_s < next_wait_s_) return;
  next_wait_s_ = now.waits_s + every_s_;
  quiet_until_s_ = now.elapsed_s + every_s_;
  say(fmt::format("[{:>7}] waits for {}, {}", format::duration(now.elapsed_s),
                  format::one_line(to_string(*now.waits_for), !state_.unicode), wait_length(now.waits_s)));
}

void plain_display::say_status() {
  const auto& s = state_;
  std::string best = s.champion ? format::figure(s.champion->speedup, s.champion->score, s.unicode) : "";
  if (s.champion) {
    const auto& ends = s.champion->speedup_interval;
    if (const auto range = format::interval(ends.low, ends.high, s.unicode); !range.empty())
      best += " [" + range + "]";
  }
  const auto leader = s.best();
  std::string seen;  // of a run without a champion
  if (leader) {
    seen = format::figure(leader->speedup, leader->score, s.unicode);
    seen += s.baseline_duplicates.contains(leader->candidate) ? " the program of the baseline"
            : leader->measured_again ? ' ' + std::string(to_string(leader->verdict.word()))
                                     : " unconfirmed";
  }
  std::string text = fmt::format("[{:>7}] {}", format::duration(s.status.elapsed_s),
                                 format::counted(s.evaluations, "evaluation"));
  if (s.confirmations > 0) text += ", " + format::counted(s.confirmations, "confirmation");
  if (s.rate() > 0) text += fmt::format(" ({} /s now)", format::number(s.rate()));
  std::uint64_t judged = 0;
  for (const auto n : s.outcomes) judged += n;
  text += fmt::format(", {} of {} valid", format::count(s.outcomes[0]), format::counted(judged, "candidate"));
  if (const auto filtered = s.status.progress.ledger.filtered; filtered > 0)
    text += fmt::format(", {} filtered out", format::counted(filtered, "proposal"));
  text += !best.empty() ? ", best " + best + ' ' + std::string(to_string(s.champion->verdict.word()))
          : leader      ? ", best " + seen
                        : ", nothing valid yet";
  text += fmt::format(", archive {}", format::count(s.status.progress.archive_size));
  if (s.status.progress.archive_cells > 0) text += "/" + format::count(s.status.progress.archive_cells);
  if (s.status.budget_used) text += ", budget " + format::percent(*s.status.budget_used);
  if (const auto left = s.remaining_s()) text += ", about " + format::duration(*left) + " left";
  say(text);
}

void plain_display::message(std::string_view text) {
  say(format::one_line(text, !state_.unicode));
}

void plain_display::close() {
  if (closed_) return;
  closed_ = true;
  if (!started_) return;
  say_status();
  if (const auto other = state_.better_undecided())
    say(format::better_undecided(other->candidate, other->speedup, other->speedup_interval, state_.unicode));
}

}  // namespace kevo
