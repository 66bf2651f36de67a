#include "rows/file_rows.hpp"

#include "detail/arithmetic.hpp"
#include "detail/byte_order.hpp"
#include "rows/gather.hpp"
#include "rows/hint_ranges.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace feedline::detail {
namespace {

/// The end of the last row, or nothing if it does not fit in 64 bits.
std::optional<std::uint64_t> end_of(const row_place& place, std::uint64_t rows) noexcept {
  if (rows == 0) return place.offset;
  const auto parts = checked_multiply<std::uint64_t>(rows, place.parts);
  const auto last = parts ? checked_multiply(*parts - 1, place.stride) : std::nullopt;
  std::uint64_t end = 0;
  if (!last || __builtin_add_overflow(*last, place.offset, &end) ||
      __builtin_add_overflow(end, std::uint64_t{place.row_bytes / place.parts}, &end))
    return std::nullopt;
  return end;
}

/// @throws dataset_error if not all rows lie within the file.
row_blocks one_block(const byte_file& file, const std::string& field, const row_place& place,
                     std::uint64_t rows) {
  const auto end = end_of(place, rows);
  if (end && *end <= file.size())
    return {.begins = std::make_shared<const std::vector<std::uint64_t>>(1, 0),
            .rows_per_block = std::max<std::uint64_t>(rows, 1)};
  const std::string parts =
      place.parts == 1 ? ", " : " in " + std::to_string(place.parts) + " parts, ";
  throw dataset_error{
      {.path = file.name(), .field = field, .sample = {}, .offset = place.offset},
      std::to_string(rows) + " rows of " + std::to_string(place.row_bytes) + " bytes" + parts +
          std::to_string(place.stride) + " apart, would end at " +
          (end ? "byte " + std::to_string(*end) : std::string{"a byte beyond 64 bits"}) +
          ", but the file has " + std::to_string(file.size()) +
          "; it was cut, or its header is wrong"};
}

/// How many consecutive rows are best read by one call: any number if they are dense; about 256 KiB
/// if the bytes between them are on pages that would be read in any case; else 1.
/// @param stride From one row to the next, at least 1.
std::size_t rows_per_read(std::uint64_t stride, std::size_t row_bytes) noexcept {
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::uint64_t max_bytes = std::uint64_t{256} << 10;
  if (stride == row_bytes) return std::numeric_limits<std::size_t>::max();
  if (stride < row_bytes || stride > page_bytes) return 1;
  return static_cast<std::size_t>(max_bytes / stride);
}

/// Reads rows that lie at equal distances by one call, one after the other into `out`.
/// @param offset Offset of the first part. @param out Whole rows, at least one.
void read_spread(const byte_file& file, std::uint64_t offset, std::uint64_t stride,
                 std::size_t row_bytes, std::span<std::byte> out) {
  const std::size_t rows = out.size() / row_bytes;
  if (rows == 1 || stride == row_bytes) return file.read(offset, out);
  thread_local std::vector<std::byte> between;  // buffer of this thread's last call, kept to avoid
                                                // allocation
  between.resize((rows - 1) * static_cast<std::size_t>(stride) + row_bytes);
  file.read(offset, between);
  copy_spread(between.data(), static_cast<std::size_t>(stride), rows, row_bytes, out.data());
}

}  // namespace

file_rows::file_rows(byte_file_ptr file, std::string field, row_place place, std::uint64_t rows,
                     row_blocks blocks)
    : field_rows{{.rows = rows, .row_bytes = place.row_bytes, .file = std::move(file)}},
      field_{std::move(field)},
      place_{place},
      blocks_{blocks.begins ? std::move(blocks) : one_block(this->file(), field_, place, rows)},
      in_blocks_{rows, blocks_.rows_per_block},
      parts_per_read_{rows_per_read(place_.stride, part_bytes())} {
  reverse_elements(blocks_.fill, place_.swapped_bytes);  // because the bytes read are reversed
                                                         // later
}

std::uint64_t file_rows::offset_of(sample_index sample) const noexcept {
  const std::uint64_t block = in_blocks_.block_of(sample.value);
  const std::uint64_t begin = (*blocks_.begins)[block];
  if (begin == row_blocks::nowhere) return begin;
  return begin + place_.offset +
         in_blocks_.place_in(block, sample.value) * place_.parts * place_.stride;
}

void file_rows::read(std::span<const sample_index> samples, std::byte* out) const {
  const auto bytes = file().mapped();
  if (bytes.empty() || place_.parts != 1) {
    bytes.empty() ? read_runs(samples, out) : copy_parts(bytes.data(), samples, out);
    return reverse_elements({out, samples.size() * place_.row_bytes}, place_.swapped_bytes);
  }
  const auto& begins = *blocks_.begins;
  if (begins.size() != 1 || begins[0] == row_blocks::nowhere)
    return gather(bytes.data(), samples, out);
  gather_rows({.first = bytes.data() + begins[0] + place_.offset,
               .row_bytes = place_.row_bytes,
               .stride = static_cast<std::size_t>(place_.stride)},
              samples, out, place_.swapped_bytes);
}

void file_rows::gather(const std::byte* file, std::span<const sample_index> samples,
                       std::byte* out) const {
  std::array<const std::byte*, 128> rows;
  std::array<std::size_t, rows.size()> places;
  while (!samples.empty()) {
    const auto run = samples.first(std::min(rows.size(), samples.size()));
    const std::span<std::byte> into{out, run.size() * place_.row_bytes};
    std::size_t count = 0;
    for (std::size_t i = 0; i < run.size(); ++i) {
      const std::uint64_t offset = offset_of(run[i]);
      if (offset == row_blocks::nowhere) {
        repeat_element(blocks_.fill, into.subspan(i * place_.row_bytes, place_.row_bytes));
      } else {
        rows[count] = file + offset;
        places[count++] = i;
      }
    }
    gather_scattered(std::span{rows}.first(count), std::span{places}.first(count), place_.row_bytes,
                     out);
    reverse_elements(into, place_.swapped_bytes);
    out += into.size();
    samples = samples.subspan(run.size());
  }
}

/// How many of the samples, from the first on, follow one another in a block and are read at once.
std::size_t file_rows::consecutive(std::span<const sample_index> samples) const noexcept {
  const std::uint64_t block = in_blocks_.block_of(samples[0].value);
  const std::uint64_t left =
      in_blocks_.rows_per_block() - in_blocks_.place_in(block, samples[0].value);
  const std::uint64_t most = std::max<std::uint64_t>(parts_per_read_ / place_.parts, 1);
  const auto end = static_cast<std::size_t>(std::min<std::uint64_t>({left, most, samples.size()}));
  std::size_t count = 1;
  while (count < end && samples[count].value == samples[0].value + count) ++count;
  return count;
}

/// Rows that lie in several parts, copied from the mapping.
void file_rows::copy_parts(const std::byte* mapped, std::span<const sample_index> samples,
                           std::byte* out) const {
  for (const sample_index sample : samples) {
    const std::span<std::byte> into{out, place_.row_bytes};
    if (const std::uint64_t offset = offset_of(sample); offset == row_blocks::nowhere)
      repeat_element(blocks_.fill, into);
    else
      copy_spread(mapped + offset, place_.stride, place_.parts, part_bytes(), out);
    out += into.size();
  }
}

/// Reads rows by calls: all in one read, unless they lie in several parts.
void file_rows::read_runs(std::span<const sample_index> samples, std::byte* out) const {
  thread_local std::vector<byte_read> runs;  // this thread's last runs, kept to avoid allocation
  runs.clear();
  for (auto rest = samples; !rest.empty();) {
    const std::size_t count = consecutive(rest);
    const std::span<std::byte> into{out + (samples.size() - rest.size()) * place_.row_bytes,
                                    count * place_.row_bytes};
    if (const std::uint64_t offset = offset_of(rest[0]); offset == row_blocks::nowhere)
      repeat_element(blocks_.fill, into);
    else if (place_.stride == part_bytes())
      runs.push_back({offset, into});
    else if (place_.parts == 1)
      for (std::size_t i = 0; i < count; ++i)
        runs.push_back(
            {offset + i * place_.stride, into.subspan(i * place_.row_bytes, place_.row_bytes)});
    else
      read_run(rest[0], offset, into);
    rest = rest.subspan(count);
  }
  try {
    file().read(runs);
  } catch (const dataset_error& failure) {
    dataset_location where = failure.where();
    where.field = field_;
    const auto lost = std::ranges::find_if(runs, [&](const byte_read& run) {
      return runs.size() == 1 || (where.offset && *where.offset < run.end());
    });
    if (lost != runs.end()) {
      // The lost bytes may begin in a gap before the run, which was read with it.
      const std::uint64_t at = std::max(where.offset.value_or(0), lost->offset) - lost->offset;
      const auto before = static_cast<std::uint64_t>(lost->out.data() - out) + at;
      where.sample = samples[static_cast<std::size_t>(before) / place_.row_bytes].value;
    }
    throw dataset_error{std::move(where), failure.message()};
  }
}

/// Reads rows that follow one another: some of their parts at a time, so that no row is too long.
void file_rows::read_run(sample_index first, std::uint64_t offset, std::span<std::byte> out) const {
  const std::size_t parts = out.size() / part_bytes();
  std::size_t count = 0;
  for (std::size_t done = 0; done < parts; done += count) {
    count = std::min(parts_per_read_, parts - done);
    const std::uint64_t begin = offset + done * place_.stride;
    try {
      read_spread(file(), begin, place_.stride, part_bytes(),
                  out.subspan(done * part_bytes(), count * part_bytes()));
    } catch (const dataset_error& failure) {
      dataset_location where = failure.where();
      where.field = field_;
      // The lost bytes may begin between two parts.
      const std::uint64_t beyond = where.offset.value_or(begin) - begin;
      const std::uint64_t before =
          count == 1 ? 0 : (beyond + place_.stride - part_bytes()) / place_.stride;
      where.sample = first.value + (done + before) / place_.parts;
      throw dataset_error{std::move(where), failure.message()};
    }
  }
}

void file_rows::prefetch(std::span<const sample_index> samples) const noexcept {
  const std::uint64_t bytes = (place_.parts - 1) * place_.stride + part_bytes();
  hint_ranges(file(), samples, [&](sample_index sample) -> byte_range {
    if (sample.value >= size()) return {};
    const std::uint64_t offset = offset_of(sample);
    if (offset == row_blocks::nowhere) return {};
    return {offset, offset + bytes};
  });
}

}  // namespace feedline::detail
