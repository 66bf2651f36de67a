/// Fuzz target of CSV: any bytes are a dataset or an error; records end at the line ends that are
/// not quoted, as a search byte by byte finds them; and cells that are quoted and joined are found
/// again.
///
/// The input: a byte of options, then the file.

#include <feedline/error.hpp>

#include "formats/csv/cells.hpp"
#include "formats/csv/table.hpp"
#include "fuzz/read_sample.hpp"
#include "support/files/memory_file.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

using namespace feedline;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "csv_fuzz: does not hold: %s\n", what);
  std::abort();
}

/// Ends of records, and of blank lines.
std::vector<std::uint64_t> ends_of(const std::string& text, std::uint64_t begin) {
  std::vector<std::uint64_t> ends;
  bool is_quoted = false;
  for (std::uint64_t i = begin; i < text.size(); ++i) {
    if (text[i] == '"') is_quoted = !is_quoted;
    if (text[i] == '\n' && !is_quoted) ends.push_back(i + 1);
  }
  const std::uint64_t last = ends.empty() ? begin : ends.back();
  if (last < text.size()) ends.push_back(text.size());
  return ends;
}

void check_index(const detail::byte_file_ptr& file, const std::string& text) {
  const detail::line_index index = detail::index_lines({file}, '"').front();
  std::vector<std::uint64_t> found = index.ends;
  found.insert(found.end(), index.blank.begin(), index.blank.end());
  std::sort(found.begin(), found.end());
  require(found == ends_of(text, index.begin), "records end where lines end that are not quoted");
}

void check_cells(const std::string& text) {
  std::vector<std::string> cells(1);
  for (const char each : text)
    if (each == '\x01')
      cells.emplace_back();
    else
      cells.back() += each;
  std::string record;
  for (const std::string& cell : cells) {
    record += record.empty() ? "\"" : ",\"";
    for (const char each : cell) record.append(each == '"' ? 2 : 1, each);
    record += '"';
  }
  detail::csv_cells found;
  found.split(record, {});
  require(found.all().size() == cells.size(), "as many cells as were joined");
  for (std::size_t i = 0; i < cells.size(); ++i)
    require(found.all()[i] == cells[i], "the cells that were joined");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned flags = data[0];
  const std::string text{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto file = test::memory_file(std::as_bytes(std::span{text}));
  csv_options options;
  if ((flags & 1U) != 0) options.quote = '\0';
  if ((flags & 2U) != 0) options.separator = '\t';
  if ((flags & 4U) != 0) options.header = (flags & 8U) != 0;
  if ((flags & 16U) != 0) options.table.columns["a"].labels = text_labels{};
  if ((flags & 32U) != 0) options.merge["m"] = {"1*", "b"};
  check_cells(text);
  try {
    check_index(file, text);
    const auto opened = detail::make_table_dataset(
        "open_csv", detail::open_csv_table({file}, options), options.table);
    test::read_sample(*opened, opened->size() - 1);
  } catch (const error&) {  // any other ends the fuzzer
  }
  return 0;
}
