#pragma once
// The report of a run as one self-contained HTML page: no script, nothing loaded from anywhere.

#include <string>

#include "src/report/report_content.hpp"

namespace kevo {

/// The whole page. Linear in the number of candidates; at most about 2000 dots are drawn.
std::string html_report(const report_content& content);

namespace html {
// The parts of the page, each a <section> or empty if there is nothing to show.
std::string style_sheet();
/// A page up to <main>; nothing in it may run or be loaded, whatever it contains. @param title already
/// escaped
/// @param style further rules
std::string begin_page(const std::string& title, const std::string& style = {});
std::string curve(const report_content& content);
std::string archive(const report_content& content);
std::string lineage(const report_content& content);
std::string comparison(const report_content& content);
std::string tables(const report_content& content);      ///< operators and outcomes
std::string workloads(const report_content& content);   ///< of the best
std::string conditions(const report_content& content);  ///< how it was measured, what it cost, the config
}  // namespace html

}  // namespace kevo
