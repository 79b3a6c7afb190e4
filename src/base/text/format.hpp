#pragma once
// Numbers and foreign text for people: the live display, `kevo show` and the report write them alike.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kevo::format {

/// Four significant digits without an exponent where that is readable: 1.034, 13.62, 123.5, 1235, 1.2e+07.
/// "-" for NaN and infinity.
std::string number(double value);

/// A ratio with its sign of multiplication: "13.62x" ("13.62×" if `unicode`); "-" if it is not positive.
std::string speedup(double value, bool unicode);

/// With its interval: "13.62x [13.41 - 13.80]"; without one if that has no width.
std::string speedup(double value, double low, double high, bool unicode);

/// A score with up to six significant digits: "1001.7"; "-" for NaN and infinity.
std::string score(double value);

/// What a fitness function said of a candidate: its speedup ("13.62x"), or where it gave none its score
/// ("score 1001.7", "score 0"); "score -" if neither is known (the speedup is not positive and the score is
/// not a finite number).
std::string figure(double speedup, double score, bool unicode);

/// A score where a row or an axis says what it is: as a speedup if scores are speedups, else bare: 0 is the
/// score 0.
std::string bare_figure(double score, bool is_speedup, bool unicode);

/// "13.41 – 13.80" ("13.41 - 13.80" in ASCII); empty if it has no width: nothing was
/// said of the spread.
std::string interval(double low, double high, bool unicode);

/// What the interval of a speedup does not allow to conclude: a sentence without a full stop if the interval
/// contains 1 or if its upper end is at least twice its lower end; else, and if it has no width, empty.
std::string caution(double low, double high);

/// A time given in nanoseconds, with a fitting unit: "712.3 µs" ("us" in ASCII); "-" if it is not positive.
std::string time(double nanoseconds, bool unicode);

/// A duration of a run given in seconds: "0:07", "1:23", "1:02:03", "3 d 04:05". Negative counts as 0.
std::string duration(double seconds);

/// "61 %", "4.2 %", "0.31 %" of a fraction 0..1; "-" for NaN.
std::string percent(double fraction);

/// An integer with its thousands apart: "1234", "12,345".
std::string count(std::uint64_t value);

/// A byte count as an archive's axis shows it: "64 B", "1.5 KB", "2 MB".
std::string bytes(double value);

/// Text of unknown origin on one line, safe for a terminal: control characters and line breaks become blanks,
/// what is not UTF-8 becomes "?", direction marks go. With `ascii`, every other non-ASCII character becomes
/// "?".
std::string one_line(std::string_view text, bool ascii = false);

/// Text of unknown origin of several lines, safe for a terminal: line breaks and tabs stay, every other
/// control character, direction mark and byte that is not UTF-8 is shown as "\\x1b" or "\\u{202e}", so that
/// nothing is obeyed and nothing hides.
std::string printable(std::string_view text);

/// Terminal columns of a code point: 0 (combining, format), 1 or 2 (wide East Asian, emoji). Independent of
/// the locale.
int width_of(char32_t c);

/// Terminal columns of a one-line text.
std::size_t width_of(std::string_view text);

}  // namespace kevo::format
