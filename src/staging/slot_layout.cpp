#include "staging/slot_layout.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"

#include <string>
#include <utility>

namespace feedline::detail {

slot_layout::slot_layout(std::vector<field> fields, std::uint64_t batch_size,
                         std::uint64_t batches_per_slot)
    : fields_{std::move(fields)}, batch_size_{batch_size}, batches_per_slot_{batches_per_slot} {
  // Far above any machine's memory, and low enough that no sum below can overflow.
  constexpr std::size_t limit = std::size_t{1} << 62;
  const auto too_large = [&] {
    return usage_error{"batch_size " + std::to_string(batch_size) + " × batches_per_slot " +
                       std::to_string(batches_per_slot) + ": a slot's bytes do not fit in 62 bits"};
  };
  for (const field& field : fields_) {
    const std::size_t row = feedline::sample_bytes(field);
    const auto bytes = checked_multiply<std::size_t>(row, batch_size);
    if (!bytes || *bytes > limit - batch_bytes_ - alignment) throw too_large();
    row_bytes_.push_back(row);
    offsets_.push_back(batch_bytes_);
    sample_bytes_ += row;
    batch_bytes_ += round_up(*bytes, alignment);
  }
  const auto slot = checked_multiply<std::size_t>(batch_bytes_, batches_per_slot);
  if (!slot || *slot > limit) throw too_large();
}

std::size_t slot_layout::used_bytes(std::uint64_t samples) const noexcept {
  if (samples == 0) return 0;
  const std::uint64_t before = (samples - 1) / batch_size_;      // whole batches before the last
  const std::uint64_t in_last = samples - before * batch_size_;  // samples of the last batch
  return before * batch_bytes_ + offsets_.back() + in_last * row_bytes_.back();
}

}  // namespace feedline::detail
