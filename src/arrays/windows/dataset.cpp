#include <feedline/arrays/windows.hpp>
#include <feedline/error.hpp>

#include "arrays/box_list.hpp"
#include "arrays/windows/boxes.hpp"
#include "arrays/windows/cut.hpp"
#include "arrays/windows/plan.hpp"
#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/sample_range.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace feedline::detail {
namespace {

class windows_dataset final : public dataset,
                              public window_samples,
                              public std::enable_shared_from_this<windows_dataset> {
 public:
  explicit windows_dataset(window_plan plan)
      : plan_{std::move(plan)}, varies_{std::ranges::any_of(plan_.windows, [](const window& each) {
          return each.position == window_position::random;
        })} {
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
    return boxes_.add_at(part, boxes_.positions_of(sample, context), part.first_byte, boxes);
  }
  void read_field(std::size_t field, sample_index sample, const sample_context& context,
                  std::span<std::byte> out) const override {
    const auto at = boxes_.positions_of(sample, context);
    box_list boxes;
    for (const window_part& part : plan_.parts) {
      if (part.field != field) continue;
      boxes.clear();
      boxes_.add(part, at, out.data() + part.first_byte, boxes);
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
          boxes_.add(part, boxes_.positions_of(samples[i], context[i]), nullptr, boxes);
      if (!boxes.empty()) part.array->prefetch(boxes.boxes());
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
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
    std::vector<window_boxes::positions> all;
    for (std::size_t i = first; i < first + count; ++i)
      all.push_back(boxes_.positions_of(request.samples[i], request.context[i]));
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
          boxes_.add(part, all[i], out + (first + i) * plan_.field_bytes[part.field], boxes);
      }
      if (!boxes.empty()) array->read(boxes.boxes());
    }
  }

  const window_plan plan_;
  const window_boxes boxes_{plan_};
  const bool varies_;
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
