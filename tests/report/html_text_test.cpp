#include "report/html_text.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(HtmlText, IsNoMarkup) {
  EXPECT_EQ(html_text("<b title=\"x\">'&'</b>"), "&lt;b title=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/b&gt;");
  EXPECT_EQ(html_text("bell\x07, caf\u00e9\n"), "bell\\x07, caf\u00e9\n");
  EXPECT_EQ(html_text("a:\n  b: 1\n\nc"), "a:\n  b: 1\n\nc");
  EXPECT_EQ(html_text(""), "");
}

TEST(UrlPath, EncodesWhatUrlsReserve) { EXPECT_EQ(url_path("../a b#/ä"), "../a%20b%23/%C3%A4"); }

}  // namespace
}  // namespace che
