#include "rows/file_rows.hpp"

#include "detail/arithmetic.hpp"
#include "detail/byte_order.hpp"
#include "detail/sample_range.hpp"
#include "rows/gather_rows.hpp"
#include "rows/read_spread.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// What lies between two rows that will be read soon is read with them if it is no more than this:
/// one larger read is faster than two, and rows in between will be wanted later in the epoch.
constexpr std::uint64_t largest_gap_bytes = std::uint64_t{64} << 10;

/// The end of the last row, or nothing if it does not fit in 64 bits.
std::optional<std::uint64_t> end_of(const row_place& place, std::uint64_t rows) noexcept {
  if (rows == 0) return place.offset;
  const auto last = checked_multiply(rows - 1, place.stride);
  std::uint64_t end = 0;
  if (!last || __builtin_add_overflow(*last, place.offset, &end) ||
      __builtin_add_overflow(end, std::uint64_t{place.row_bytes}, &end))
    return std::nullopt;
  return end;
}

/// How many of the samples, from the first on, follow one another in the dataset.
std::size_t consecutive(std::span<const sample_index> samples) noexcept {
  std::size_t count = 1;
  while (count < samples.size() && samples[count].value == samples[0].value + count) ++count;
  return count;
}

}  // namespace

file_rows::file_rows(random_file_ptr file, std::string field, row_place place, std::uint64_t rows)
    : file_{std::move(file)}, field_{std::move(field)}, place_{place}, rows_{rows} {
  const auto end = end_of(place_, rows_);
  if (end && *end <= file_->size()) return;
  throw dataset_error{
      {.path = file_->path(), .field = field_, .sample = {}, .offset = place_.offset},
      std::to_string(rows_) + " rows of " + std::to_string(place_.row_bytes) + " bytes, " +
          std::to_string(place_.stride) + " apart, would end at " +
          (end ? "byte " + std::to_string(*end) : std::string{"a byte beyond 64 bits"}) +
          ", but the file has " + std::to_string(file_->size()) +
          "; it was cut, or its header is wrong"};
}

void file_rows::read(std::span<const sample_index> samples, std::byte* out) const {
  require_in_range(samples, rows_);
  const auto bytes = file_->mapped();
  if (bytes.empty()) return read_by_calls(samples, out);
  gather_swapped_rows({.first = bytes.data() + place_.offset,
                       .row_bytes = place_.row_bytes,
                       .stride = static_cast<std::size_t>(place_.stride)},
                      place_.swapped_bytes, samples, out);
}

void file_rows::read_by_calls(std::span<const sample_index> samples, std::byte* out) const {
  const std::size_t most = rows_per_read(place_.stride, place_.row_bytes);
  while (!samples.empty()) {
    const std::size_t count =
        most == 1 ? 1 : consecutive(samples.first(std::min(most, samples.size())));
    const std::span<std::byte> into{out, count * place_.row_bytes};
    try {
      read_spread(*file_, offset_of(samples[0]), place_.stride, place_.row_bytes, into);
    } catch (const dataset_error& failure) {
      dataset_location where = failure.where();
      where.field = field_;
      const std::uint64_t beyond = where.offset.value_or(offset_of(samples[0])) - place_.offset;
      // What is lost may begin between two rows.
      where.sample = count == 1 ? samples[0].value
                                : (beyond + place_.stride - place_.row_bytes) / place_.stride;
      throw dataset_error{std::move(where), failure.message()};
    }
    reverse_elements(into, place_.swapped_bytes);
    out += into.size();
    samples = samples.subspan(count);
  }
}

void file_rows::prefetch(std::span<const sample_index> samples) const noexcept try {
  thread_local std::vector<std::uint64_t> offsets;  // of this thread's last hint: no allocation
  offsets.clear();
  for (const sample_index sample : samples)
    if (sample.value < rows_) offsets.push_back(offset_of(sample));
  std::sort(offsets.begin(), offsets.end());
  for (std::size_t i = 0; i < offsets.size();) {
    const std::uint64_t begin = offsets[i];
    std::uint64_t end = begin + place_.row_bytes;
    for (++i; i < offsets.size() && offsets[i] <= end + largest_gap_bytes; ++i)
      end = offsets[i] + place_.row_bytes;
    file_->will_need(begin, end - begin);
  }
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

}  // namespace feedline::detail
