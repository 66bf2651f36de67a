#include "staging/slot_layout.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"

#include <limits>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// Far above any machine's memory, and low enough that no sum of sizes can overflow.
constexpr std::size_t max_slot_bytes = std::size_t{1} << 62;

usage_error too_large(std::uint64_t batch_size, std::uint64_t batches) {
  return usage_error{"batch_size " + std::to_string(batch_size) + " × batches_per_slot " +
                     std::to_string(batches) + ": a slot's bytes do not fit in 62 bits"};
}

}  // namespace

row_sizes::row_sizes(const std::vector<field>& fields, const std::vector<bool>& absent) {
  for (std::size_t place = 0; place < fields.size(); ++place) {
    const field& each = fields[place];
    const bool has_rows = absent.empty() || !absent[place];
    bytes_.push_back(has_rows ? feedline::sample_bytes(each) : 0);
    pixel_bytes_.push_back(each.by_batch ? feedline::sample_bytes(each, image_size{1, 1}) : 0);
  }
}

slot_layout::slot_layout(std::vector<field> fields, std::uint64_t batch_size,
                         std::uint64_t batches_per_slot, std::vector<bool> left_out,
                         const std::vector<bool>& absent)
    : fields_{std::move(fields)},
      rows_{fields_, absent},
      left_out_{std::move(left_out)},
      batch_size_{batch_size},
      batches_per_slot_{batches_per_slot} {
  for (std::size_t place = 0; place < fields_.size(); ++place) {
    const std::size_t row = rows_.largest()[place];
    sample_bytes_ += row;
    offsets_.push_back(batch_bytes_);
    if (leaves_out(place)) continue;
    last_ = place;
    const auto bytes = checked_multiply<std::size_t>(row, batch_size);
    if (!bytes || *bytes > max_slot_bytes - batch_bytes_ - alignment)
      throw too_large(batch_size, batches_per_slot);
    batch_bytes_ += round_up(*bytes, alignment);
  }
  (void)slot_bytes(batches_per_slot);
}

std::size_t slot_layout::slot_bytes(std::uint64_t batches) const {
  const auto bytes = checked_multiply<std::size_t>(batch_bytes_, batches);
  if (!bytes || *bytes > max_slot_bytes) throw too_large(batch_size_, batches);
  return *bytes;
}

void slot_layout::set_batches_per_slot(std::uint64_t batches) {
  (void)slot_bytes(batches);
  batches_per_slot_ = batches;
}

std::size_t slot_layout::used_bytes(std::uint64_t samples) const noexcept {
  if (samples == 0) return 0;
  const std::uint64_t before = (samples - 1) / batch_size_;      // whole batches before the last
  const std::uint64_t in_last = samples - before * batch_size_;  // samples of the last batch
  return before * batch_bytes_ + offsets_[last_] + in_last * row_bytes()[last_];
}

destination_layout::destination_layout(row_sizes rows, std::uint64_t samples,
                                       const request_layout& runs, bool varies,
                                       std::uint64_t arriving, bool keeps, std::uint64_t more_runs,
                                       std::size_t loads_bytes, const std::vector<bool>& passes)
    : rows_{std::move(rows)}, passes_at_(fields(), 0), varies_{varies}, keeps_{keeps} {
  const std::size_t table = round_up(samples * word, slot_layout::alignment);
  random_bits_at_ = table;
  directory_at_ = random_bits_at_ + (varies ? table : 0);
  chunks_at_ = round_up(directory_at_ + (runs.runs(samples) + more_runs) * entry_words() * word,
                        slot_layout::alignment);
  slot_bytes_ = chunks_at_;
  const auto runs_bytes = [&](std::uint64_t in_batch) {
    return in_batch / runs.run_samples() * chunk_bytes(runs.run_samples()) +
           chunk_bytes(in_batch % runs.run_samples());
  };
  slot_bytes_ += arriving / runs.batch_size() * runs_bytes(runs.batch_size()) +
                 runs_bytes(arriving % runs.batch_size());
  if (arriving != 0) slot_bytes_ += more_runs * (fields() + 1) * alignment;  // each rounds them up
  destination_bytes_ = round_up(slot_bytes_, slot_layout::alignment);
  slot_bytes_ = destination_bytes_ + round_up(loads_bytes, slot_layout::alignment);
  for (std::size_t place = 0; place < passes.size(); ++place) {
    if (!passes[place]) continue;
    passes_at_[place] = destination_bytes_;
    destination_bytes_ += round_up(samples * row_bytes(place), slot_layout::alignment);
  }
  if (slot_bytes_ / alignment > std::numeric_limits<std::uint32_t>::max() ||
      samples >= assembly::arrived) {
    throw usage_error{"a slot of " + std::to_string(samples) + " samples in " +
                      std::to_string(slot_bytes_) +
                      " bytes is too large to be assembled on the device (64 GiB and 2^31 samples "
                      "are the most): lower batch_size or batches_per_slot"};
  }
}

std::size_t destination_layout::chunk_bytes(std::uint64_t rows,
                                            const std::optional<image_size>& size) const noexcept {
  std::size_t bytes = keep_bytes(rows);
  for (std::size_t place = 0; place < fields(); ++place) bytes += field_bytes(place, rows, size);
  return bytes;
}

}  // namespace feedline::detail
