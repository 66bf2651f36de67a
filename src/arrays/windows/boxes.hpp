#pragma once

#include <feedline/dataset/dataset.hpp>

#include "arrays/box_list.hpp"
#include "arrays/index_runs.hpp"
#include "arrays/windows/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedline::detail {

/// The boxes of arrays that samples of windows consist of. Constant; any number of threads.
class window_boxes {
 public:
  using positions = std::vector<std::int64_t>;

  /// @param plan Outlives it.
  explicit window_boxes(const window_plan& plan);

  /// A sample's position along each window.
  [[nodiscard]] positions positions_of(sample_index sample, const sample_context& context) const;

  /// Adds the boxes of a part of a sample, and writes the elements that are not in the array.
  /// @param out Null: nothing is written.
  void add(const window_part& part, const positions& at, std::byte* out, box_list& boxes) const;

  /// Adds the boxes of a part of a sample.
  /// @param out Address or offset of the part.
  /// @return Whether each element of the part is one of the array's.
  bool add_at(const window_part& part, const positions& at, std::uintptr_t out,
              box_list& boxes) const;

 private:
  /// @return Whether each element of the window is one of the array's.
  bool find_runs(const window_part& part, std::size_t d, const positions& at,
                 std::vector<index_run>& runs) const;

  const window_plan& plan_;
  std::uint64_t draws_of_region_ = plan_.draws;
};

}  // namespace feedline::detail
