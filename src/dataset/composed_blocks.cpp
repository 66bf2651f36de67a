#include "dataset/composed_blocks.hpp"

#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/sized_fields.hpp"
#include "dataset/window_blocks.hpp"
#include "detail/sample_range.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

using blocks_ptr = std::shared_ptr<const encoded_blocks>;

/// A dataset of one field, whose blocks are its rows.
class plain_blocks final : public encoded_blocks {
 public:
  plain_blocks(dataset_ptr of, std::uint64_t rows)
      : of_{std::move(of)},
        size_{of_->size()},
        rows_{rows},
        spec_{of_->fields().front()},
        row_bytes_{sample_bytes(spec_)} {}

  std::uint64_t rows() const noexcept override { return rows_; }
  std::span<const block_step> steps(std::size_t) const noexcept override { return {}; }
  stored_block stored(std::size_t, std::uint64_t) const noexcept override {
    return {.bytes = rows_ * row_bytes_};
  }
  std::size_t max_stored_bytes(std::size_t) const noexcept override { return rows_ * row_bytes_; }

  stored_block read(std::size_t, std::uint64_t block, std::span<std::byte> out,
                    const sample_context& context) const override {
    std::uint64_t next = block * rows_;
    std::vector<sample_index> samples(std::min(rows_, size_ - next));
    for (sample_index& each : samples) each.value = next++;
    const std::size_t row_bytes = sample_bytes(spec_, context.size);
    const auto rows = out.first(samples.size() * row_bytes);
    read_context of_samples{samples};
    if (rows_ == 1 && context.epoch)
      of_samples = {context.seed,
                    *context.epoch,
                    {&context.sample, 1},
                    context.position.value_or(position{})};
    of_->read({samples, {&rows, 1}, of_samples.with(context.size)});
    const auto rest = out.first(rows_ * row_bytes).subspan(rows.size());  // in the last block
    std::ranges::fill(rest, std::byte{0});
    return {.bytes = rows.size() + rest.size()};
  }

  void decode(std::size_t, std::span<const std::byte> bytes, const stored_block&,
              std::span<std::byte> out) const override {
    copy_block_rows(spec_, bytes, out);
  }

 private:
  dataset_ptr of_;
  std::uint64_t size_;
  std::uint64_t rows_;
  field spec_;
  std::size_t row_bytes_;
};

/// Whether two parts are encoded in the same known way, so that one decoder serves both.
bool is_equal(std::span<const block_step> steps, std::span<const block_step> others) {
  return std::ranges::equal(steps, others) &&
         std::ranges::count(steps, block_filter::other, &block_step::filter) == 0;
}

/// Fields side by side, of which some may be cut out of chunks.
blocks_ptr side_by_side(std::vector<chosen_field> fields) {
  if (fields.front().blocks->rows() == 1)
    if (blocks_ptr windows = make_chosen_windows(fields)) return windows;
  return std::make_shared<const chosen_blocks<encoded_blocks>>(std::move(fields));
}

class blocks_in_line final : public borrowed_blocks<encoded_blocks> {
 public:
  blocks_in_line(std::vector<blocks_ptr> parts, std::vector<std::uint64_t> ends)
      : parts_{std::move(parts)}, ends_{std::move(ends)} {}

  std::size_t max_stored_bytes(std::size_t field) const noexcept override {
    std::size_t bytes = 0;
    for (const blocks_ptr& part : parts_) bytes = std::max(bytes, part->max_stored_bytes(field));
    return bytes;
  }

 private:
  source source_of(std::size_t field) const noexcept override {
    return {parts_.front().get(), field};
  }
  source find(std::size_t field, std::uint64_t block) const noexcept override {
    const std::size_t part = part_at(ends_, block);
    return {parts_[part].get(), field, block - (part == 0 ? 0 : ends_[part - 1])};
  }

  std::vector<blocks_ptr> parts_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace

bool has_steps(const encoded_blocks& blocks, std::size_t fields) {
  for (std::size_t field = 0; field < fields; ++field)
    if (!blocks.steps(field).empty()) return true;
  return false;
}

bool has_step(const encoded_blocks& blocks, std::size_t fields, block_filter filter) {
  for (std::size_t field = 0; field < fields; ++field)
    for (const block_step& step : blocks.steps(field))
      if (step.filter == filter) return true;
  return false;
}

namespace {

/// The blocks of each part. Devices cut windows out of chunks only for a loader of these alone:
/// beside blocks of another kind windows are rows, so that the device decodes the others. So are
/// sparse rows beside blocks of several samples.
std::vector<blocks_ptr> blocks_of(const std::vector<dataset_ptr>& parts) {
  std::vector<blocks_ptr> all;
  std::vector<std::size_t> windows;
  std::vector<std::size_t> sparse;
  bool has_others = false;
  bool has_several = false;
  for (const dataset_ptr& part : parts) {
    const blocks_ptr& blocks = all.emplace_back(part->encoded());
    const std::size_t fields = part->fields().size();
    if (!blocks || !has_steps(*blocks, fields)) continue;
    if (has_step(*blocks, fields, block_filter::window)) {
      windows.push_back(all.size() - 1);
      continue;
    }
    has_others = true;
    has_several = has_several || blocks->rows() != 1;
    if (has_step(*blocks, fields, block_filter::sparse_row)) sparse.push_back(all.size() - 1);
  }
  if (has_others)
    for (const std::size_t part : windows) all[part] = nullptr;
  if (has_several)
    for (const std::size_t part : sparse) all[part] = nullptr;
  return all;
}

}  // namespace

blocks_ptr make_joined_blocks(const std::vector<dataset_ptr>& parts) {
  std::uint64_t rows = 0;
  bool has_plain = false;
  bool varies_plain = false;  // a part without encoded blocks varies by epoch
  std::vector<blocks_ptr> of_parts = blocks_of(parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const dataset_ptr& part = parts[i];
    const blocks_ptr& blocks = of_parts[i];
    if (!blocks) {
      varies_plain = varies_plain || part->varies_by_epoch();
      continue;
    }
    if (!has_steps(*blocks, part->fields().size())) {
      has_plain = true;
      varies_plain = varies_plain || part->varies_by_epoch();
      continue;
    }
    if (rows != 0 && blocks->rows() != rows) return nullptr;
    rows = blocks->rows();
  }
  if (rows == 0 && has_plain) rows = 1;
  if (rows == 0 || (rows != 1 && varies_plain)) return nullptr;
  for (blocks_ptr& blocks : of_parts)
    if (blocks && blocks->rows() != rows) blocks = nullptr;
  std::vector<chosen_field> fields;
  for (std::size_t part = 0; part < parts.size(); ++part)
    for (std::size_t field = 0; field < parts[part]->fields().size(); ++field)
      fields.push_back(of_parts[part]
                           ? chosen_field{of_parts[part], field}
                           : chosen_field{std::make_shared<const plain_blocks>(
                                              with_fields(parts[part], std::span{&field, 1}), rows),
                                          0});
  return side_by_side(std::move(fields));
}

blocks_ptr make_chosen_blocks(blocks_ptr of, std::vector<std::size_t> places) {
  if (!of ||
      std::ranges::all_of(places, [&](std::size_t place) { return of->steps(place).empty(); }))
    return nullptr;
  std::vector<chosen_field> fields;
  for (const std::size_t place : places) fields.push_back({of, place});
  return side_by_side(std::move(fields));
}

blocks_ptr make_chosen_samples(blocks_ptr of, std::function<std::uint64_t(std::uint64_t)> choose) {
  if (!of || of->rows() != 1) return nullptr;
  if (auto windows = std::dynamic_pointer_cast<const window_blocks>(of))
    return make_chosen_window_samples(std::move(windows), std::move(choose));
  return std::make_shared<const chosen_samples<encoded_blocks>>(std::move(of), std::move(choose));
}

blocks_ptr make_blocks_in_line(std::vector<blocks_ptr> parts, std::vector<std::uint64_t> ends,
                               std::size_t fields) {
  for (const blocks_ptr& part : parts) {
    if (!part || part->rows() != 1) return nullptr;
    for (std::size_t field = 0; field < fields; ++field)
      if (!is_equal(part->steps(field), parts.front()->steps(field))) return nullptr;
  }
  return std::make_shared<const blocks_in_line>(std::move(parts), std::move(ends));
}

}  // namespace feedline::detail
