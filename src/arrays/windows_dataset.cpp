#include <feedline/arrays/windows.hpp>
#include <feedline/error.hpp>

#include "arrays/box_list.hpp"
#include "arrays/copy_box.hpp"
#include "arrays/cut_windows.hpp"
#include "arrays/index_runs.hpp"
#include "arrays/window_plan.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/sample_range.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace feedline::detail {
namespace {

/// Stream of `sample_random` from which positions are drawn: "windows" as a number.
constexpr std::uint64_t positions_stream = 0x77'69'6e'64'6f'77'73;

/// Index of an element mirrored into the array at its first and last element.
std::uint64_t mirrored(std::int64_t index, std::uint64_t extent) noexcept {
  if (extent == 1) return 0;
  const auto period = static_cast<std::int64_t>(2 * (extent - 1));
  std::int64_t at = index % period;
  if (at < 0) at += period;
  return static_cast<std::uint64_t>(std::min(at, period - at));
}

class windows_dataset final : public dataset,
                              public window_samples,
                              public std::enable_shared_from_this<windows_dataset> {
 public:
  explicit windows_dataset(window_plan plan)
      : plan_{std::move(plan)}, varies_{std::ranges::any_of(plan_.windows, [](const window& each) {
          return each.position == window_position::random;
        })} {
    for (const std::uint64_t regions : plan_.regions) draws_of_region_ /= regions;
    for (std::size_t p = 0; p < plan_.parts.size(); ++p)
      if (p == 0 || plan_.parts[p].array != plan_.parts[p - 1].array) array_begins_.push_back(p);
  }

  std::uint64_t size() const override { return plan_.samples; }
  std::vector<field> fields() const override { return plan_.fields; }
  bool varies_by_epoch() const override { return varies_; }
  chunking chunks() const override { return plan_.chunks; }
  std::shared_ptr<const encoded_blocks> encoded() const override {
    return make_window_blocks(shared_from_this());
  }

  const window_plan& plan() const noexcept override { return plan_; }
  bool add_boxes(const window_part& part, sample_index sample, const sample_context& context,
                 box_list& boxes) const override {
    return add_boxes(part, positions_of(sample, context), part.first_byte, boxes);
  }
  void read_field(std::size_t field, sample_index sample, const sample_context& context,
                  std::span<std::byte> out) const override {
    const auto at = positions_of(sample, context);
    box_list boxes;
    for (const window_part& part : plan_.parts) {
      if (part.field != field) continue;
      boxes.clear();
      add_boxes(part, at, out.data() + part.first_byte, boxes);
      if (!boxes.empty()) part.array->read(boxes.boxes());
    }
  }

  bool wants_prefetch() const noexcept override {
    return !varies_ && std::ranges::any_of(plan_.parts, [](const window_part& each) {
      return each.array->wants_prefetch();
    });
  }

  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    const read_context context{samples};
    box_list boxes;
    for (const auto& part : plan_.parts) {
      boxes.clear();
      for (std::size_t i = 0; i < samples.size(); ++i)
        if (samples[i].value < plan_.samples)
          add_boxes(part, positions_of(samples[i], context[i]), nullptr, boxes);
      if (!boxes.empty()) part.array->prefetch(boxes.boxes());
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  using positions = std::vector<std::int64_t>;

  void do_read(const read_request& request) const override {
    require_in_range(request.samples, plan_.samples);
    try {
      read_samples(request, 0, request.samples.size());
    } catch (const hdf5_error& failure) {
      name_sample(request, failure);
    } catch (const dataset_error& failure) {
      name_sample(request, failure);
    }
  }

  /// Reads each sample by itself, to find the first one that cannot be read.
  template <class Error>
  [[noreturn]] void name_sample(const read_request& request, const Error& failure) const {
    const auto named = [](const Error& of, sample_index sample) {
      dataset_location where = of.where();
      where.sample = sample.value;
      return Error{std::move(where), of.message()};
    };
    if (request.samples.size() == 1) throw named(failure, request.samples.front());
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      try {
        read_samples(request, i, 1);
      } catch (const Error& own) {
        throw named(own, request.samples[i]);
      }
    }
    throw failure;
  }

  void read_samples(const read_request& request, std::size_t first, std::size_t count) const {
    if (count == 0) return;
    std::vector<positions> all;
    for (std::size_t i = first; i < first + count; ++i)
      all.push_back(positions_of(request.samples[i], request.context[i]));
    box_list boxes;
    const std::size_t arrays = array_begins_.size();
    // Readers that need the same chunks begin at different arrays, and decode different chunks.
    const std::size_t start =
        (request.samples[first].value * 0x9e37'79b9'7f4a'7c15U >> 32U) % arrays;
    for (std::size_t a = 0; a < arrays; ++a) {
      std::size_t p = array_begins_[(start + a) % arrays];
      const array_ptr& array = plan_.parts[p].array;
      boxes.clear();
      for (; p < plan_.parts.size() && plan_.parts[p].array == array; ++p) {
        const window_part& part = plan_.parts[p];
        std::byte* const out = request.out[part.field].data() + part.first_byte;
        for (std::size_t i = 0; i < count; ++i)
          add_boxes(part, all[i], out + (first + i) * plan_.field_bytes[part.field], boxes);
      }
      if (!boxes.empty()) array->read(boxes.boxes());
    }
  }

  /// A sample's position along each window.
  [[nodiscard]] positions positions_of(sample_index sample, const sample_context& context) const {
    positions all(plan_.windows.size());
    sample_random random = context.random(positions_stream);
    for (std::size_t w = 0; w < all.size(); ++w)
      if (plan_.windows[w].position == window_position::random)
        all[w] = static_cast<std::int64_t>(random.below(plan_.positions[w].count()));
    std::uint64_t number = sample.value / plan_.draws;
    std::uint64_t region = sample.value % plan_.draws / draws_of_region_;
    for (std::size_t w = all.size(); w-- > 0;) {
      const std::uint64_t count = plan_.positions[w].count();
      if (plan_.windows[w].position == window_position::random) {
        // Uniform over all positions if the region is: regions share positions between them.
        const std::uint64_t regions = plan_.regions[w];
        const std::uint64_t drawn = region % regions * count + static_cast<std::uint64_t>(all[w]);
        all[w] = plan_.positions[w][drawn / regions];
        region /= regions;
        continue;
      }
      all[w] = plan_.positions[w][number % count];
      number /= count;
    }
    return all;
  }

  /// Adds the boxes of a part of a sample, and writes the elements that are not in the array.
  /// @param out Null: nothing is written.
  void add_boxes(const window_part& part, const positions& at, std::byte* out,
                 box_list& boxes) const {
    const bool is_whole = add_boxes(part, at, reinterpret_cast<std::uintptr_t>(out), boxes);
    if (!is_whole && out != nullptr) put_pad(part, out);
  }

  /// @param out Address or offset of the part.
  /// @return Whether each element of the part is one of the array's.
  bool add_boxes(const window_part& part, const positions& at, std::uintptr_t out,
                 box_list& boxes) const {
    const std::size_t rank = part.axes.size();
    thread_local std::vector<std::vector<index_run>> runs;  // kept to avoid allocation
    thread_local std::vector<box_list::axis> axes;
    if (runs.size() < rank) runs.resize(rank);
    axes.resize(rank);
    bool is_whole = true;
    bool is_empty = false;
    for (std::size_t d = 0; d < rank; ++d) {
      runs[d].clear();
      is_whole = find_runs(part, d, at, runs[d]) && is_whole;
      is_empty = is_empty || runs[d].empty();
    }
    if (is_empty) return is_whole;
    std::vector<std::size_t> chosen(rank, 0);
    for (;;) {
      std::uintptr_t to = out;
      for (std::size_t d = 0; d < rank; ++d) {
        const index_run& run = runs[d][chosen[d]];
        to += run.out * static_cast<std::uintptr_t>(part.axes[d].stride);
        axes[d] = {run.begin, run.count, run.step, part.axes[d].stride * run.out_step};
      }
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an offset is kept in an address's place.
      boxes.add(axes, reinterpret_cast<std::byte*>(to));
      std::size_t d = rank;
      while (d > 0 && ++chosen[d - 1] == runs[d - 1].size()) chosen[--d] = 0;
      if (d == 0) return is_whole;
    }
  }

  /// @return Whether each element of the window is one of the array's.
  bool find_runs(const window_part& part, std::size_t d, const positions& at,
                 std::vector<index_run>& runs) const {
    const part_axis& axis = part.axes[d];
    if (!axis.window) {
      runs.push_back({0, 1, axis.count, 0, 1});
      return true;
    }
    const std::uint64_t extent = part.array->spec().shape[d];
    const auto end = static_cast<std::int64_t>(extent);
    const auto step = static_cast<std::int64_t>(axis.step);
    const std::int64_t first = at[*axis.window] + axis.offset;
    const std::int64_t last = first + static_cast<std::int64_t>(axis.count - 1) * step;
    if (first >= 0 && last < end) {
      runs.push_back({static_cast<std::uint64_t>(first), axis.step, axis.count, 0, 1});
      return true;
    }
    if (plan_.windows[*axis.window].edges == window_edges::reflect) {
      append_runs(
          axis.count,
          [&](std::uint64_t k) {
            return std::optional{mirrored(first + static_cast<std::int64_t>(k) * step, extent)};
          },
          runs);
      return true;
    }
    const std::int64_t skipped = first < 0 ? (-first + step - 1) / step : 0;
    const std::int64_t begin = first + skipped * step;
    if (begin < end && skipped < static_cast<std::int64_t>(axis.count))
      runs.push_back(
          {static_cast<std::uint64_t>(begin), axis.step,
           static_cast<std::uint64_t>(std::min((end - 1 - begin) / step + 1,
                                               static_cast<std::int64_t>(axis.count) - skipped)),
           static_cast<std::uint64_t>(skipped), 1});
    return false;
  }

  static void put_pad(const window_part& part, std::byte* out) {
    std::vector<std::uint64_t> count;
    std::vector<std::ptrdiff_t> stride;
    for (const part_axis& axis : part.axes) {
      count.push_back(axis.count);
      stride.push_back(axis.stride);
    }
    const std::vector<std::ptrdiff_t> repeated(count.size(), 0);
    copy_box({.count = count,
              .from = part.pad.data(),
              .from_stride = repeated,
              .to = out,
              .to_stride = stride,
              .element_bytes = part.pad.size()});
  }

  const window_plan plan_;
  const bool varies_;
  std::uint64_t draws_of_region_ = plan_.draws;
  std::vector<std::size_t> array_begins_ = {};  ///< first part of each array
};

void warn_of_packing(const window_plan& plan) {
  std::set<const array_source*> told;
  for (const window_part& part : plan.parts) {
    const array_spec& spec = part.array->spec();
    const std::size_t missing = spec.packing.missing.size() - spec.packing.has_default_missing;
    if ((!spec.packing.changes_values() && missing == 0) || !told.insert(part.array.get()).second)
      continue;
    log()->warn(
        "{}{}array '{}' is read as it is stored: its attributes {} are not applied; "
        "feedline::unpack applies them",
        printable(spec.path), spec.path.empty() ? "" : ": ", printable(spec.name),
        spec.packing.changes_values() ? "scale_factor, add_offset or _Unsigned"
                                      : "_FillValue or missing_value");
  }
}

}  // namespace
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr make_windows(std::vector<window> windows, std::vector<window_field> fields,
                         const window_options& options) {
  auto plan = detail::plan_windows(std::move(windows), fields, options);
  detail::warn_of_packing(plan);
  return std::make_shared<const detail::windows_dataset>(std::move(plan));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
