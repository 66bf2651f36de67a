#pragma once

#include "arrays/box_list.hpp"
#include "arrays/windows/plan.hpp"
#include "dataset/window_blocks.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace feedline::detail {

/// The samples of a dataset of windows.
class window_samples {
 public:
  window_samples() = default;
  window_samples(const window_samples&) = delete;
  window_samples& operator=(const window_samples&) = delete;
  virtual ~window_samples() = default;

  [[nodiscard]] virtual const window_plan& plan() const noexcept = 0;
  /// Adds the boxes of a part of a sample; their `out` is the offset in the field's row.
  /// @return False if the row has elements beyond the array, which are the part's pad.
  virtual bool add_boxes(const window_part& part, sample_index sample,
                         const sample_context& context, box_list& boxes) const = 0;
  /// Reads a field of a sample.
  virtual void read_field(std::size_t field, sample_index sample, const sample_context& context,
                          std::span<std::byte> out) const = 0;
};

/// The samples for devices that decode chunks. Null if they decode no field's: all of its arrays
/// must be in chunks that devices decode, and have at most `window_box::max_rank` dimensions.
[[nodiscard]] std::shared_ptr<const encoded_blocks> make_window_blocks(
    std::shared_ptr<const window_samples> samples);

}  // namespace feedline::detail
