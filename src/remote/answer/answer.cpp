#include "remote/answer/answer.hpp"

#include "detail/printable.hpp"

#include <algorithm>
#include <charconv>

namespace feedline::detail {
namespace {

constexpr std::string_view checksum_prefix = "x-amz-checksum-";
constexpr std::size_t max_kept = 1024;  // characters of a header's value

std::string_view trimmed(std::string_view text) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view one, std::string_view other) noexcept {
  return std::ranges::equal(one, other, {}, lower, lower);
}

/// A number of decimal digits, and nothing else.
std::optional<std::uint64_t> number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || text.front() == '+') return {};
  return value;
}

/// "bytes 0-99/1000", "bytes 0-99/*", "bytes */1000"
std::optional<http_answer::content_range> range_of(std::string_view text) noexcept {
  if (!same_name(text.substr(0, 5), "bytes")) return {};
  text = trimmed(text.substr(5));
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view span = trimmed(text.substr(0, slash));
  const std::string_view total = trimmed(text.substr(slash + 1));
  http_answer::content_range range;
  range.total = number(total);
  if (!range.total && total != "*") return {};
  if (span == "*") {
    range.is_unsatisfied = true;
    return range;
  }
  const std::size_t dash = span.find('-');
  if (dash == std::string_view::npos) return {};
  const auto first = number(trimmed(span.substr(0, dash)));
  const auto last = number(trimmed(span.substr(dash + 1)));
  if (!first || !last || *last < *first || *last == ~std::uint64_t{0}) return {};
  range.begin = *first;
  range.end = *last + 1;
  if (range.total && range.end > *range.total) return {};
  return range;
}

}  // namespace

void http_answer::add(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with("HTTP/")) {
    *this = {};
    const std::size_t space = line.find(' ');
    const std::string_view rest = space == std::string_view::npos ? "" : line.substr(space + 1);
    status = static_cast<int>(number(rest.substr(0, 3)).value_or(0));
    if (rest.size() > 4) reason = std::string{rest.substr(4, 80)};
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1)).substr(0, max_kept);
  if (same_name(name, "content-length")) {
    const auto told = number(value);
    // Two lengths that differ are how answers are smuggled.
    if (!told || (length && *length != *told)) garbled = "Content-Length";
    length = told;
  } else if (same_name(name, "content-range")) {
    range = range_of(value);
    if (!range) garbled = "Content-Range";
  } else if (same_name(name, "etag")) {
    etag = std::string{value};
  } else if (same_name(name, "last-modified")) {
    last_modified = std::string{value};
  } else if (same_name(name, "content-encoding")) {
    if (!same_name(value, "identity")) encoding = std::string{value};
  } else if (same_name(name, "location")) {
    location = std::string{value};
  } else if (same_name(name, "x-amz-bucket-region")) {
    region = std::string{value};
  } else if (name.size() > checksum_prefix.size() &&
             same_name(name.substr(0, checksum_prefix.size()), checksum_prefix)) {
    std::string which{name.substr(checksum_prefix.size())};
    std::ranges::transform(which, which.begin(), lower);
    checksum.add(which, value);
  } else if (same_name(name, "retry-after")) {
    // A date is not understood: then the pause is that of any other retry.
    if (const auto seconds = number(value))
      retry_after = std::chrono::seconds{std::min<std::uint64_t>(*seconds, 86'400)};
  }
}

std::string http_answer::words() const {
  return printable(std::to_string(status) + (reason.empty() ? "" : " " + reason));
}

}  // namespace feedline::detail
