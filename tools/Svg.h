// Svg.h - a drawing of rectangles and words, written as SVG. Nothing but the C++ library: attnc and attn-run draw.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_SVG_H
#define ATTN_TOOLS_SVG_H

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

namespace attn {

class Svg {
public:
  /// `type` is the rectangle's class, by which `style` (CSS) and readers know it; `words` is shown under the pointer.
  void rect(const char *type, double x, double y, double width, double height, std::string_view words = {},
            std::string_view fill = {}) {
    body += "<rect class=\"" + std::string(type) + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
            number(width) + "\" height=\"" + number(height) + "\"";
    if (!fill.empty())
      body += " fill=\"" + std::string(fill) + "\"";
    body += words.empty() ? "/>\n" : "><title>" + escaped(words) + "</title></rect>\n";
    reach(x + width, y + height);
  }

  /// `type`: title, label; it ends at x where `type` begins with "end ".
  void text(const char *type, double x, double y, std::string_view words) {
    body += "<text class=\"" + std::string(type) + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\">" +
            escaped(words) + "</text>\n";
    bool ends = std::string_view(type).starts_with("end ");
    reach(ends ? x : x + widthOf(words), y);
  }

  /// About how wide words are, in the size of labels.
  static double widthOf(std::string_view words) { return 7.0 * double(words.size()); }

  std::string finish(std::string_view style) const {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(right + margin) + " " +
           number(bottom + margin) + "\" width=\"" + number(right + margin) + "\" height=\"" + number(bottom + margin) +
           "\">\n<style>text { font: 12px sans-serif; fill: #222 } .title { font-weight: bold } .end { text-anchor: "
           "end } " +
           std::string(style) + "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
           body + "</svg>\n";
  }

private:
  static constexpr double margin = 16;

  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
  }

  static std::string escaped(std::string_view words) {
    std::string out;
    for (char c : words) {
      if (c == '&')
        out += "&amp;";
      else if (c == '<')
        out += "&lt;";
      else if (c == '>')
        out += "&gt;";
      else
        out += c;
    }
    return out;
  }

  void reach(double x, double y) {
    right = std::max(right, x);
    bottom = std::max(bottom, y);
  }

  std::string body;
  double right = 0, bottom = 0;
};

} // namespace attn

#endif // ATTN_TOOLS_SVG_H
