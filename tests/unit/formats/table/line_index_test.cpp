#include "formats/table/line_index.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/files/memory_file.hpp"

#include <random>
#include <span>
#include <string>

using namespace feedline;
using detail::line_index;

namespace {

line_index index_of(const std::string& text, std::optional<char> quote) {
  return detail::index_lines({test::memory_file(std::as_bytes(std::span{text}))}, quote).front();
}

std::string record(const std::string& text, const line_index& index, std::size_t i) {
  const detail::byte_range at = index.record(i);
  return text.substr(at.begin, at.end - at.begin);
}

}  // namespace

TEST_CASE("lines: records, blank lines and quoted ends are told apart", "[dataset][host]") {
  const std::string text = "\n\r\na\n\n\"b\n\"\"c\n\",d\r\n\r\ne";
  const line_index lines = index_of(text, std::nullopt);
  CHECK(lines.ends.size() == 5);
  const line_index records = index_of(text, '"');
  REQUIRE(records.ends.size() == 3);
  CHECK(record(text, records, 0) == "\n\r\na\n");
  CHECK(record(text, records, 1) == "\n\"b\n\"\"c\n\",d\r\n");
  CHECK(record(text, records, 2) == "\r\ne");
  CHECK(records.line_of(0) == 3);
  CHECK(records.line_of(1) == 5);
  CHECK(records.line_of(2) == 9);
}

TEST_CASE("lines: pieces of a file give the same records, wherever they part quotes",
          "[dataset][host]") {
  std::mt19937 random{1};
  std::string text;
  std::vector<std::string> wanted;
  while (text.size() < (std::size_t{9} << 20)) {
    std::string record = "\"";
    record.append(random() % 3000, 'x');
    for (unsigned i = random() % 4; i != 0; --i) record += "\n\"\"\r\n";
    record += "\",1\r\n";
    text += record;
    wanted.push_back(record);
  }
  const line_index index = index_of(text, '"');
  REQUIRE(index.ends.size() == wanted.size());
  bool all_same = true;
  for (std::size_t i = 0; i < wanted.size(); ++i) all_same &= record(text, index, i) == wanted[i];
  CHECK(all_same);
}
