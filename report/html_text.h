#pragma once

#include <string>
#include <string_view>

namespace che {

// Text of one HTML element or attribute: nothing in it is markup, and control characters that HTML does not
// have are written as escapes.
std::string html_text(std::string_view text);

// A path as a relative URL writes it, each part of it percent-encoded (RFC 3986).
std::string url_path(std::string_view path);

}  // namespace che
