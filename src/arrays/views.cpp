#include <feedline/arrays/array_views.hpp>
#include <feedline/error.hpp>

#include "arrays/box_list.hpp"
#include "arrays/coordinates.hpp"
#include "arrays/encoded_array.hpp"
#include "arrays/index_runs.hpp"

#include <algorithm>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

void require_array(const char* who, const array_ptr& array) {
  if (!array) throw usage_error{std::string{who} + ": there is no array"};
}

/// The axis' number. @throws usage_error naming the axes that there are.
std::size_t axis_of(const char* who, const array_spec& spec, const array_axis& axis) {
  if (const auto found = find_axis(spec, axis)) return *found;
  throw usage_error{std::string{who} + ": array " + to_string(spec) + " has no " + to_string(axis) +
                    "; name its dimensions by rename_array, or give a number"};
}

std::vector<detail::box_list::axis> axes_of(const array_box& box) {
  std::vector<detail::box_list::axis> axes;
  for (std::size_t d = 0; d < box.count.size(); ++d)
    axes.push_back({box.begin[d], box.count[d], box.step[d], box.stride[d]});
  return axes;
}

class renamed_array final : public array_source, public detail::encoded_array {
 public:
  renamed_array(array_spec spec, array_ptr of)
      : array_source{std::move(spec)},
        of_{std::move(of)},
        chunked_{dynamic_cast<const detail::encoded_array*>(of_.get())} {}
  std::shared_ptr<const detail::encoded_rows> encoded() const override {
    return chunked_ == nullptr ? nullptr : chunked_->encoded();
  }
  bool is_written(std::uint64_t chunk) const noexcept override {
    return chunked_->is_written(chunk);
  }
  std::span<const std::byte> fill() const noexcept override { return chunked_->fill(); }
  void cut(const array_box& box, std::vector<detail::chunk_part>& parts) const override {
    chunked_->cut(box, parts);
  }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  void prefetch(std::span<const array_box> boxes) const noexcept override { of_->prefetch(boxes); }

 private:
  void do_read(std::span<const array_box> boxes) const override { of_->read(boxes); }

  const array_ptr of_;
  const detail::encoded_array* const chunked_;  ///< the same array; null: it has no chunks
};

class chosen_array final : public array_source {
 public:
  chosen_array(array_spec spec, array_ptr of, std::size_t axis, std::vector<std::uint64_t> indices)
      : array_source{std::move(spec)},
        of_{std::move(of)},
        axis_{axis},
        indices_{std::move(indices)} {}

  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  void prefetch(std::span<const array_box> boxes) const noexcept override try {
    detail::box_list inner;
    add_boxes(boxes, inner);
    of_->prefetch(inner.boxes());
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  void do_read(std::span<const array_box> boxes) const override {
    detail::box_list inner;
    add_boxes(boxes, inner);
    of_->read(inner.boxes());
  }

  void add_boxes(std::span<const array_box> boxes, detail::box_list& inner) const {
    std::vector<detail::index_run> runs;
    for (const array_box& box : boxes) {
      auto axes = axes_of(box);
      const detail::box_list::axis own = axes[axis_];
      runs.clear();
      detail::append_runs(
          own.count,
          [&](std::uint64_t k) { return std::optional{indices_[own.begin + k * own.step]}; }, runs);
      for (const detail::index_run& run : runs) {
        axes[axis_] = {run.begin, run.count, run.step, own.stride * run.out_step};
        inner.add(axes, box.out + own.stride * static_cast<std::ptrdiff_t>(run.out));
      }
    }
  }

  const array_ptr of_;
  const std::size_t axis_;
  const std::vector<std::uint64_t> indices_;
};

class joined_array final : public array_source {
 public:
  joined_array(array_spec spec, std::vector<array_ptr> parts, std::size_t axis)
      : array_source{std::move(spec)}, parts_{std::move(parts)}, axis_{axis} {
    std::uint64_t end = 0;
    for (const array_ptr& part : parts_) ends_.push_back(end += part->spec().shape[axis_]);
  }

  bool wants_prefetch() const noexcept override {
    return std::ranges::any_of(parts_,
                               [](const array_ptr& each) { return each->wants_prefetch(); });
  }
  void prefetch(std::span<const array_box> boxes) const noexcept override try {
    std::vector<detail::box_list> inner(parts_.size());
    add_boxes(boxes, inner);
    for (std::size_t i = 0; i < inner.size(); ++i)
      if (!inner[i].empty()) parts_[i]->prefetch(inner[i].boxes());
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  void do_read(std::span<const array_box> boxes) const override {
    std::vector<detail::box_list> inner(parts_.size());
    add_boxes(boxes, inner);
    for (std::size_t i = 0; i < inner.size(); ++i)
      if (!inner[i].empty()) parts_[i]->read(inner[i].boxes());
  }

  void add_boxes(std::span<const array_box> boxes, std::vector<detail::box_list>& inner) const {
    for (const array_box& box : boxes) {
      auto axes = axes_of(box);
      const detail::box_list::axis own = axes[axis_];
      for (std::uint64_t k = 0; k < own.count;) {
        const std::uint64_t at = own.begin + k * own.step;
        const auto part =
            static_cast<std::size_t>(std::ranges::upper_bound(ends_, at) - ends_.begin());
        const std::uint64_t first = part == 0 ? 0 : ends_[part - 1];
        const std::uint64_t count = std::min((ends_[part] - 1 - at) / own.step + 1, own.count - k);
        axes[axis_] = {at - first, count, own.step, own.stride};
        inner[part].add(axes, box.out + own.stride * static_cast<std::ptrdiff_t>(k));
        k += count;
      }
    }
  }

  const std::vector<array_ptr> parts_;
  const std::size_t axis_;
  std::vector<std::uint64_t> ends_ = {};
};

}  // namespace

array_ptr rename_array(array_ptr array, std::string name, std::vector<std::string> dimensions) {
  require_array("rename_array", array);
  array_spec spec = array->spec();
  if (!name.empty()) spec.name = std::move(name);
  if (!dimensions.empty()) {
    spec.dimensions = std::move(dimensions);
    spec.coordinates.clear();
  }
  return std::make_shared<const renamed_array>(std::move(spec), std::move(array));
}

array_ptr choose_along(array_ptr array, const array_axis& axis,
                       std::vector<std::uint64_t> indices) {
  require_array("choose_along", array);
  array_spec spec = array->spec();
  const std::size_t position = axis_of("choose_along", spec, axis);
  if (indices.empty())
    throw usage_error{"choose_along: no index is chosen along " + to_string(axis) + " of array " +
                      to_string(spec)};
  for (const std::uint64_t index : indices)
    if (index >= spec.shape[position])
      throw usage_error{"choose_along: array " + to_string(spec) + " has no index " +
                        std::to_string(index) + " along " + to_string(axis) + "; its last one is " +
                        std::to_string(spec.shape[position] - 1)};
  spec.shape[position] = indices.size();
  if (!spec.chunk.empty()) spec.chunk[position] = indices.size();
  if (auto& along = spec.coordinates; !along.empty() && along[position])
    along[position] = along[position]->choose(indices);
  return std::make_shared<const chosen_array>(std::move(spec), std::move(array), position,
                                              std::move(indices));
}

array_ptr concatenate_arrays(std::vector<array_ptr> parts, const array_axis& axis) {
  if (parts.empty()) throw usage_error{"concatenate_arrays: there is no array"};
  for (const array_ptr& part : parts) require_array("concatenate_arrays", part);
  array_spec spec = parts.front()->spec();
  const std::size_t position = axis_of("concatenate_arrays", spec, axis);
  spec.chunks_kept = 0;
  std::uint64_t extent = 0;
  std::vector<std::shared_ptr<const detail::axis_coordinates>> joined;
  for (const array_ptr& part : parts) {
    const array_spec& own = part->spec();
    const auto refuse = [&](const std::string& why) {
      throw usage_error{"concatenate_arrays: " + own.path + (own.path.empty() ? "" : ": ") +
                        to_string(own) + " and " + parts.front()->spec().path +
                        (parts.front()->spec().path.empty() ? "" : ": ") +
                        to_string(parts.front()->spec()) + ' ' + why};
    };
    auto shape = own.shape;
    if (position < shape.size()) shape[position] = spec.shape[position];
    if (shape != spec.shape || own.type != spec.type || own.dimensions != spec.dimensions)
      refuse("differ in more than the extent of " + to_string(axis));
    if (own.packing != spec.packing)
      refuse(
          "are packed differently, so equal stored numbers stand for different values; unpack "
          "each first");
    joined.push_back(own.coordinates.empty() ? nullptr : own.coordinates[position]);
    for (std::size_t d = 0; d < own.shape.size(); ++d)
      if (const std::string why = detail::coordinate_difference(spec, d, own, d);
          d != position && !why.empty())
        refuse("have different coordinates along " + to_string(detail::axis_at(own, d)) + ": " +
               why + ". " + detail::coordinate_remedy);
    if (own.chunk != spec.chunk) spec.chunk.clear();
    spec.chunks_kept += own.chunks_kept;
    if (__builtin_add_overflow(extent, own.shape[position], &extent))
      refuse("have more elements along " + to_string(axis) + " than 64 bits count");
  }
  spec.shape[position] = extent;
  if (!spec.coordinates.empty())
    spec.coordinates[position] = detail::axis_coordinates::join(joined);
  return std::make_shared<const joined_array>(std::move(spec), std::move(parts), position);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
