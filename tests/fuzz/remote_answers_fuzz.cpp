/// Fuzz target of the answers of servers. Any lines are headers of which a body is taken only if it
/// is the range that was asked for. Any bytes are a page of a list, or an error. Any text is shown
/// without an address's query.

#include "detail/printable.hpp"
#include "remote/answer/judge_answer.hpp"
#include "remote/request/percent.hpp"
#include "remote/s3_listing.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace feedline::detail;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "remote_answers_fuzz: does not hold: %s\n", what);
  std::abort();
}

void judge_headers(std::string_view text) {
  http_answer answer;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    answer.add(line);
  }
  const object_pin pin{1000, "\"a\"", {}};
  const wanted_bytes part{wanted_bytes::kind::range, 100, 50, pin};
  const answer_verdict verdict = judge_answer(part, answer);
  const bool is_taken = verdict.fault == remote_fault::none;
  require(is_taken == verdict.words.empty(), "a fault has words");
  if (is_taken) {
    require(answer.status == 206 && answer.etag == pin.etag, "the version is the one pinned");
    require(answer.range && answer.range->begin == 100 && answer.range->end == 150,
            "the range is the one asked for");
    require(body_bytes(answer) == 50, "the body is as long");
  }
  const wanted_bytes opening{wanted_bytes::kind::opening, 0, 64, {}};
  if (judge_answer(opening, answer).fault == remote_fault::none) {
    require(body_bytes(answer).value_or(65) <= 64, "an opening's body fits");
    require(body_bytes(answer) <= pin_of(answer).size, "it is within the object");
  }
}

void read_list(std::string_view text) {
  try {
    const s3_page page = read_s3_page(text);
    require(!page.is_truncated || !page.next.empty(), "a truncated page has a token");
    for (const std::string& key : page.objects)
      require(decoded(encoded(key, false)) == key, "keys survive encoding");
  } catch (const std::runtime_error&) {  // any other ends the fuzzer
  }
  (void)store_words(text);
}

void require_no_query(std::string_view shown) {
  for (auto at = shown.find("://"); at != std::string_view::npos; at = shown.find("://")) {
    shown.remove_prefix(at + 3);
    const std::string_view address = shown.substr(0, shown.find_first_of(" '\"<>"));
    const std::size_t query = address.find('?');
    require(query == std::string_view::npos || address.substr(query).starts_with("?..."),
            "an address is shown without its query");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  if (data[0] == '<')
    read_list({reinterpret_cast<const char*>(data), size});
  else
    judge_headers(text);
  require_no_query(printable(text));
  return 0;
}
