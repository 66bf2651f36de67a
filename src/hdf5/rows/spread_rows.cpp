#include "hdf5/rows/spread_rows.hpp"

#include "detail/arithmetic.hpp"
#include "detail/byte_order.hpp"
#include "rows/copy_spread.hpp"
#include "rows/read_spread.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {

hdf5_spread_rows::hdf5_spread_rows(random_file_ptr file, std::string name,
                                   const hdf5_storage_layout& place, std::size_t elements,
                                   std::uint64_t rows)
    : file_{std::move(file)},
      name_{std::move(name)},
      offset_{place.offset},
      element_bytes_{place.element_bytes},
      stride_{place.stored_bytes},
      elements_{elements},
      rows_{rows},
      swapped_bytes_{place.swapped_bytes} {
  const auto row = checked_multiply<std::uint64_t>(elements_, stride_);
  const auto all = row ? checked_multiply<std::uint64_t>(*row, rows_) : std::nullopt;
  // Counted from the first record, of which the member may begin further on.
  if (!all || place.stored_offset > offset_ || offset_ - place.stored_offset > file_->size() ||
      *all > file_->size() - (offset_ - place.stored_offset))
    throw hdf5_error{{.path = file_->path(), .field = name_, .sample = {}, .offset = offset_},
                     std::to_string(rows_) + " rows of " + std::to_string(elements_) +
                         " records of " + std::to_string(stride_) +
                         " bytes would end beyond the file's end at byte " +
                         std::to_string(file_->size()) + "; it was cut, or its header is wrong"};
  row_stride_ = *row;
}

void hdf5_spread_rows::read(std::span<const sample_index> samples, std::byte* out) const {
  const std::size_t row_bytes = elements_ * element_bytes_;
  const auto file = file_->mapped();
  // By calls, some of a row's elements at a time: no row is too long.
  const std::size_t most = std::min(rows_per_read(stride_, element_bytes_), elements_);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::uint64_t offset = offset_of(samples[i]);
    std::byte* const row = out + i * row_bytes;
    if (!file.empty()) {
      copy_spread(file.data() + offset, stride_, elements_, element_bytes_, row);
      continue;
    }
    try {
      for (std::size_t first = 0; first < elements_; first += most)
        read_spread(
            *file_, offset + first * stride_, stride_, element_bytes_,
            {row + first * element_bytes_, std::min(most, elements_ - first) * element_bytes_});
    } catch (const dataset_error& failure) {
      dataset_location where = failure.where();
      where.field = name_;
      where.sample = samples[i].value;
      throw hdf5_error{std::move(where), failure.message()};
    }
  }
  reverse_elements({out, samples.size() * row_bytes}, swapped_bytes_);
}

void hdf5_spread_rows::prefetch(std::span<const sample_index> samples) const noexcept {
  for (const sample_index sample : samples)
    if (sample.value < rows_)
      file_->will_need(offset_of(sample), (elements_ - 1) * stride_ + element_bytes_);
}

}  // namespace feedline::detail
