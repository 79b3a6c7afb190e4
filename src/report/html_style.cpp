// The style sheet of the report. Colors of outcomes follow Okabe and Ito's palette, which color-blind readers
// can tell apart; the archive's shades grow in lightness alone.
#include <string>
#include <string_view>

#include "src/report/html_report.hpp"

namespace kevo::html {
namespace {

constexpr std::string_view sheet = R"css(
:root{--paper:#fff;--sheet:#f7f7f5;--ink:#1d1f21;--soft:#5c6166;--faint:#878d94;--line:#e4e4df;--strong-line:#c9c9c2;
--accent:#0b6bcb;--best:#0b6bcb;--seen:#9aa3ab;--ok:#0a7d55;--warn:#a65a00;--del:#fdecea;--del-mark:#f7bfb8;--add:#e6f4ea;--add-mark:#a8dcb5;
--valid:#0a7d55;--build_failed:#d1495b;--launch_failed:#e07b39;--crashed:#a4243b;--timed_out:#d9a400;--incorrect:#8e5ea2;--rejected:#1f6feb;--suspect:#56a3c4;--unchecked:#b9bfc4;--pending:#9aa3ab;
--h0:#e8eef6;--h1:#d0dff0;--h2:#b3cde8;--h3:#91b8df;--h4:#6da1d4;--h5:#4a88c5;--h6:#2e6eb0;--h7:#1b5594;--h8:#0d3b70}
@media (prefers-color-scheme:dark){:root{--paper:#14171a;--sheet:#1b1f23;--ink:#e6e8ea;--soft:#a9b0b7;--faint:#7d858d;--line:#2a2f35;--strong-line:#414850;
--accent:#6cb0ff;--best:#6cb0ff;--seen:#7b848d;--ok:#4cc38a;--warn:#f0a94a;--del:#3a2023;--del-mark:#7a333a;--add:#17301f;--add-mark:#2c6a41;
--valid:#3fb27f;--build_failed:#e8707f;--launch_failed:#ee9a63;--crashed:#d0566b;--timed_out:#e5bd3f;--incorrect:#b58ac6;--rejected:#6ea8ff;--suspect:#7cc0dc;--unchecked:#5d656e;--pending:#7b848d;
--h0:#1d2a3a;--h1:#1f3550;--h2:#214268;--h3:#245182;--h4:#2b639d;--h5:#3b79b8;--h6:#5894d0;--h7:#83b3e4;--h8:#b9d7f5}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1128px;margin:0 auto;padding:40px 24px 96px}
h1{font-size:30px;line-height:1.2;font-weight:650;letter-spacing:-.01em;margin:0 0 22px}
h1 small{font-weight:400;color:var(--faint);font-size:20px;margin-left:6px}
h2{font-size:19px;font-weight:650;margin:0 0 12px;letter-spacing:-.005em}
h3{font-size:13px;font-weight:600;color:var(--soft);margin:24px 0 8px}
p{margin:0 0 12px}
section{margin-top:44px;padding-top:26px;border-top:1px solid var(--line)}
.brand{font-weight:700;color:var(--accent);margin:0 0 6px;font-size:14px}.brand span{font-weight:400;color:var(--faint)}
.lead{color:var(--soft);max-width:105ch}.note{color:var(--faint);font-size:13px;margin:8px 0 0;max-width:120ch}
.faint{color:var(--faint)}.strong{font-weight:600}
.hero{display:flex;align-items:center;gap:16px 36px;flex-wrap:wrap;padding:22px 26px;background:var(--sheet);border-radius:12px;margin-bottom:22px}
.hero p{margin:0}.big{font-size:52px;font-weight:700;line-height:1;letter-spacing:-.025em}.big .range{font-size:24px;font-weight:500;letter-spacing:0;color:var(--soft);white-space:nowrap}.big.none{font-size:28px;color:var(--warn)}
.say{color:var(--soft);line-height:1.5;margin-right:auto!important}.say b{color:var(--ink)}.side{color:var(--faint);font-size:13px;line-height:1.4}.side b{font-size:20px;color:var(--ink);font-weight:600}
.ok{color:var(--ok)}.warn{color:var(--warn)}
.facts{display:flex;flex-wrap:wrap;gap:12px 36px;margin:0}.facts dt{color:var(--faint);font-size:12px}.facts dd{margin:0;font-weight:500}.facts small{color:var(--faint);font-weight:400}
.setback{margin:10px 0 0;color:var(--warn);font-size:13px;overflow-wrap:anywhere}
.command{margin:18px 0 0;color:var(--faint);font-size:13px}
code,pre,.diff{font-family:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace}
code{background:var(--sheet);border-radius:5px;padding:3px 8px;color:var(--ink);font-size:12.5px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:13.5px;width:100%}
th{text-align:left;font-weight:500;color:var(--faint);font-size:12px;padding:0 14px 6px 0;border-bottom:1px solid var(--strong-line);white-space:nowrap}
td{padding:6px 14px 6px 0;border-bottom:1px solid var(--line);white-space:nowrap}
tr:last-child td{border-bottom:0}
th:last-child,td:last-child{padding-right:0}
.n{text-align:right}.zero{color:var(--faint)}td small{color:var(--faint);font-size:12px}
.bar{position:relative;min-width:140px}.bar.wide,.wide{width:34%;min-width:150px}
.bar i{display:inline-block;height:10px;border-radius:2px;background:var(--accent);vertical-align:middle;min-width:1px}.bar span{margin-left:8px;vertical-align:middle}
.bar u{position:absolute;top:5px;bottom:5px;width:2px;background:var(--ink);opacity:.65}
.stack{display:flex;height:10px;border-radius:2px;overflow:hidden;background:var(--line);gap:1px}.stack i{display:block;min-width:1px}
.dot{display:inline-block;width:9px;height:9px;border-radius:50%;margin-right:8px}
i.o-valid{background:var(--valid)}i.o-build_failed{background:var(--build_failed)}i.o-launch_failed{background:var(--launch_failed)}i.o-crashed{background:var(--crashed)}i.o-timed_out{background:var(--timed_out)}i.o-incorrect{background:var(--incorrect)}i.o-rejected{background:var(--rejected)}i.o-suspect{background:var(--suspect)}i.o-unchecked{background:var(--unchecked)}
.tabs>input{position:absolute;opacity:0}.tabs>label{display:inline-block;font-size:13px;color:var(--faint);padding:3px 12px;border:1px solid var(--line);cursor:pointer;margin-bottom:10px}
.tabs>label[for=curve-n]{border-radius:6px 0 0 6px}.tabs>label[for=curve-t]{border-radius:0 6px 6px 0;border-left:0}
.tabs>input:checked+label{background:var(--sheet);color:var(--ink);font-weight:600}.tabs>input:focus-visible+label{outline:2px solid var(--accent)}
.tab{display:none}#curve-n:checked~.first,#curve-t:checked~.second{display:block}
svg text{font-family:inherit;fill:var(--ink)}svg .tick{font-size:12px;fill:var(--faint)}svg .label{font-size:12px;fill:var(--soft)}
.plot{width:100%;height:auto;display:block}.plot .grid{stroke:var(--line)}.plot .base{stroke:var(--strong-line);stroke-dasharray:3 3}.plot .axis,.plot .tickmark{stroke:var(--strong-line)}
.plot .mark{stroke:var(--warn);stroke-dasharray:2 3}.dots circle{fill:var(--faint);opacity:.38}
.plot .seen{fill:none;stroke:var(--seen);stroke-width:1.3;stroke-dasharray:4 3}.plot .best{fill:none;stroke:var(--best);stroke-width:2.4;stroke-linejoin:round}
.plot .band{fill:var(--best);opacity:.16}.crown line{stroke:var(--best);stroke-width:1.4}.crown circle{fill:var(--paper);stroke:var(--best);stroke-width:2.2}
.plot .final{paint-order:stroke;stroke:var(--paper);stroke-width:5px;font-size:15px;font-weight:650;fill:var(--best)}
.key{font-size:13px;color:var(--soft);margin:6px 0 0}.swatch{display:inline-block;width:18px;height:0;margin:0 8px 0 22px;vertical-align:middle;border-top:2.4px solid var(--best)}.swatch:first-child{margin-left:0}
.s-seen{border-top:1.4px dashed var(--seen)}.s-dot{width:6px;height:6px;border:0;border-radius:50%;background:var(--faint);opacity:.6}
.map .empty{fill:var(--sheet)}.map .cells{stroke:var(--line);fill:none}.map g text{font-size:12px}.map .champion{stroke:var(--warn);stroke-width:2.5}
.h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}.h5{fill:var(--h5)}.h6{fill:var(--h6)}.h7{fill:var(--h7)}.h8{fill:var(--h8)}
.map g.h0 text,.map g.h1 text,.map g.h2 text,.map g.h3 text{fill:#12304f}.map g.h4 text,.map g.h5 text,.map g.h6 text,.map g.h7 text,.map g.h8 text{fill:#fff}
@media (prefers-color-scheme:dark){.map g.h0 text,.map g.h1 text,.map g.h2 text,.map g.h3 text,.map g.h4 text{fill:#dbe8f6}.map g.h5 text{fill:#fff}.map g.h6 text,.map g.h7 text,.map g.h8 text{fill:#0c2036}}
.lineage{display:block}.lineage .edge{fill:none;stroke:var(--strong-line);stroke-width:1.3}.lineage .edge.main{stroke:var(--accent);stroke-width:2}.lineage .edge.gap{stroke-dasharray:3 3}.node.ghost .box{stroke-dasharray:4 3;fill:none}
.node .box{fill:var(--sheet);stroke:var(--line)}.node.main .box{stroke:var(--accent)}.node.top .box{stroke-width:2.4}
.node .id{font-weight:650;font-size:13px}.node .op{font-size:13px;fill:var(--soft)}.node .figure{font-size:13px;font-weight:650}.node .what{font-size:11.5px;fill:var(--faint)}.node .check{fill:var(--ok)}
.o-valid .tone{fill:var(--valid)}.o-build_failed .tone{fill:var(--build_failed)}.o-launch_failed .tone{fill:var(--launch_failed)}.o-crashed .tone{fill:var(--crashed)}.o-timed_out .tone{fill:var(--timed_out)}.o-incorrect .tone{fill:var(--incorrect)}.o-rejected .tone{fill:var(--rejected)}.o-suspect .tone{fill:var(--suspect)}.o-unchecked .tone{fill:var(--unchecked)}.o-pending .tone{fill:var(--pending)}
.diff{font-size:12px;line-height:1.5;table-layout:fixed;min-width:760px;border:1px solid var(--line);border-radius:6px}
.diff td{padding:0 8px;border:0;white-space:pre-wrap;overflow-wrap:anywhere;vertical-align:top;tab-size:4}
.diff .ln{color:var(--faint);text-align:right;user-select:none;padding:0 6px;background:var(--sheet);white-space:nowrap;overflow-wrap:normal}.diff .c-ln{width:44px}
.diff td.del{background:var(--del)}.diff td.add{background:var(--add)}.diff td.none{background:var(--sheet)}
.diff b{font-weight:600;border-radius:3px}.diff .del b{background:var(--del-mark)}.diff .add b{background:var(--add-mark)}
.diff .fold td{background:var(--sheet);color:var(--faint);text-align:center;padding:3px;font-family:system-ui,sans-serif;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
details{margin-top:14px}summary{cursor:pointer;color:var(--soft);font-size:13.5px}
pre.source{background:var(--sheet);border-radius:8px;padding:16px 18px;overflow-x:auto;font-size:12px;line-height:1.5;tab-size:4;margin:10px 0 0}
.split{display:grid;grid-template-columns:1fr 1fr;gap:20px 56px}.split dl,section>dl{display:grid;grid-template-columns:max-content 1fr;gap:5px 20px;margin:0;font-size:13.5px}
.split dt{color:var(--faint)}.split dd{margin:0;overflow-wrap:anywhere}
.split>div{min-width:0}.command code,.facts dd{overflow-wrap:anywhere}
.scroll{background:linear-gradient(to right,var(--paper) 30%,transparent) 0 0/40px 100% no-repeat local,linear-gradient(to left,var(--paper) 30%,transparent) 100% 0/40px 100% no-repeat local,linear-gradient(to right,var(--strong-line),transparent) 0 0/10px 100% no-repeat,linear-gradient(to left,var(--strong-line),transparent) 100% 0/10px 100% no-repeat}
@media (max-width:760px){.split{grid-template-columns:minmax(0,1fr)}.hero{padding:18px 16px}td.faint{white-space:normal;min-width:160px}.big{font-size:40px}main{padding:24px 14px 64px}
.plot .tick,.plot .label{font-size:25px}.plot .label.y{display:none}.plot .final{font-size:34px}.plot .best,.plot .seen{stroke-width:4}
.diff,.diff tbody{display:block;min-width:0}.diff colgroup{display:none}.diff tr{display:grid;grid-template-columns:44px minmax(0,1fr)}.diff .fold{display:block}.diff .fold td{display:block}
.diff tr:not(.fold) td:nth-child(n+3):not(.add),.diff td.none,.diff td.ln:has(+.none){display:none}}
@media print{main{max-width:none}section{break-inside:avoid-page}.tab.second{display:none}}
)css";

}  // namespace

std::string begin_page(const std::string& title, const std::string& style) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'\">"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta "
         "name=\"color-scheme\" content=\"light dark\"><title>" +
         title + "</title><style>" + style_sheet() + style + "</style></head><body><main>";
}

std::string style_sheet() {
  return std::string(sheet);
}

}  // namespace kevo::html
