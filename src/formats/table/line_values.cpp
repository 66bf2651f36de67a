#include "formats/table/line_values.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "detail/printable.hpp"
#include "detail/sample_range.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {

line_values::line_values(std::vector<indexed_file> files, text_blocks blocks)
    : files_{std::move(files)}, blocks_{blocks} {
  std::uint64_t records = 0;
  for (const indexed_file& each : files_) {
    const std::size_t lines = each.index.ends.size();
    ends_.push_back(records += lines - std::min<std::size_t>(lines, each.has_header ? 1 : 0));
  }
  if (records == 0)
    throw dataset_error{{.path = files_.front().file->name(), .field = {}}, "holds no record"};
}

line_values::place line_values::find(std::uint64_t sample) const noexcept {
  const std::size_t number = part_at(ends_, sample);
  const indexed_file& in = files_[number];
  const std::size_t record = static_cast<std::size_t>(
      sample - (number == 0 ? 0 : ends_[number - 1]) + (in.has_header ? 1 : 0));
  return {in, record, in.index.record(record)};
}

std::uint64_t line_values::stored_bytes(std::uint64_t sample) const {
  const place at = find(sample);
  return at.bytes.end - at.bytes.begin;
}

std::span<const std::byte> line_values::read(std::uint64_t sample, const room& memory) const {
  const place at = find(sample);
  const auto out = memory(static_cast<std::size_t>(at.bytes.end - at.bytes.begin));
  try {
    at.in.file->copy(at.bytes.begin, out);
    at.in.file->require_unchanged();
  } catch (const dataset_error& fault) {
    throw dataset_error{{at.in.file->name(), {}, sample, at.bytes.begin}, fault.message()};
  }
  return out;
}

void line_values::refuse(const dataset_error& fault, std::uint64_t sample) const {
  const place at = find(sample);
  at.in.file->require_unchanged();
  throw dataset_error{
      {at.in.file->name(), fault.field(), sample, at.bytes.begin},
      "line " + std::to_string(at.in.index.line_of(at.record)) + ": " + fault.message()};
}

std::string line_values::words_of(std::uint64_t sample) const {
  const place at = find(sample);
  return "line " + std::to_string(at.in.index.line_of(at.record)) + " of " +
         printable(at.in.file->name());
}

chunking line_values::chunks() const {
  if (blocks_.count == 0) return {};
  const std::uint64_t samples = divide_up(size(), blocks_.count);
  if (samples == 1) return {};
  return {.samples = samples, .bytes = blocks_.bytes, .kept = blocks_.kept};
}

bool line_values::wants_prefetch() const noexcept {
  return std::ranges::any_of(files_, [](const auto& each) { return each.file->is_cold(); });
}

void line_values::prefetch(std::span<const sample_index> samples) const noexcept {
  for (const sample_index sample : samples) {
    if (sample.value >= size()) continue;
    const place at = find(sample.value);
    at.in.file->will_need(at.bytes.begin, at.bytes.end - at.bytes.begin);
  }
}

}  // namespace feedline::detail
