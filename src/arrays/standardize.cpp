#include <feedline/arrays/array_views.hpp>
#include <feedline/error.hpp>

#include "arrays/computed_array.hpp"
#include "detail/known_value.hpp"
#include "detail/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// A mean and a deviation of consecutive indices.
struct channel_statistics {
  double mean = 0;
  double stddev = 1;
};

class standardized_array final : public detail::computed_array<double> {
 public:
  /// @param axis The channels' dimension; 0 if there is one channel.
  standardized_array(array_spec spec, array_ptr from, std::vector<channel_statistics> channels,
                     std::size_t axis, const standardize_options& options)
      : computed_array{std::move(spec), from, from->spec().type},
        channels_{std::move(channels)},
        axis_{axis},
        nan_{options.nan},
        replacement_{options.replacement} {}

 private:
  void compute(const array_box& box, std::uint64_t first, std::span<double> values) const override {
    if (channels_.size() == 1) return compute(channels_.front(), values);
    // Elements of one channel follow each other along all later dimensions.
    std::uint64_t run = 1;
    for (std::size_t d = axis_ + 1; d < box.count.size(); ++d) run *= box.count[d];
    for (std::size_t at = 0; at < values.size();) {
      const std::uint64_t number = first + at;
      const auto count =
          std::min<std::size_t>(values.size() - at, static_cast<std::size_t>(run - number % run));
      const std::uint64_t index =
          box.begin[axis_] + number / run % box.count[axis_] * box.step[axis_];
      compute(channels_[static_cast<std::size_t>(index)], values.subspan(at, count));
      at += count;
    }
  }

  void compute(const channel_statistics& by, std::span<double> values) const {
    for (double& value : values) value = (value - by.mean) / by.stddev;
    if (nan_ == nan_rule::keep) return;
    for (double& value : values) {
      if (!std::isnan(value)) continue;
      if (nan_ == nan_rule::refuse)
        throw dataset_error{{.path = spec().path, .field = spec().name},
                            "holds NaN, which standardize_options::nan refuses; let it replace or "
                            "keep NaN, or leave such samples out by an error policy"};
      value = replacement_;
    }
  }

  const std::vector<channel_statistics> channels_;
  const std::size_t axis_;
  const nan_rule nan_;
  const double replacement_;
};

[[noreturn]] void refuse_to_standardize(const array_spec& spec, const std::string& why) {
  throw usage_error{"standardize: array " + to_string(spec) + ": " + why};
}

void check_numbers(const array_spec& spec, const char* name, const std::vector<double>& numbers,
                   std::uint64_t channels, const standardize_options& options) {
  const std::string what = name;
  if (numbers.size() > 1 && !options.axis)
    refuse_to_standardize(spec, what + " has " + std::to_string(numbers.size()) +
                                    " numbers; set the axis whose indices have one each");
  if (numbers.size() > 1 && numbers.size() != channels)
    refuse_to_standardize(spec, what + " has " + std::to_string(numbers.size()) + " numbers, but " +
                                    to_string(*options.axis) + " has " + std::to_string(channels) +
                                    " indices; give one for each, or one for all");
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!std::isfinite(numbers[i]) || (what == "stddev" && numbers[i] <= 0))
      refuse_to_standardize(
          spec, what + '[' + std::to_string(i) + "] is " + detail::text_of(numbers[i]) +
                    (what == "stddev" ? "; give finite numbers above 0; a channel that is the "
                                        "same everywhere can have 1"
                                      : "; give finite numbers"));
}

}  // namespace

array_ptr standardize(array_ptr array, const standardize_options& options) {
  if (!array) throw usage_error{"standardize: there is no array"};
  detail::require_known("standardize_options::nan", options.nan, {"keep", "replace", "refuse"});
  array_spec spec = array->spec();
  if (spec.type == element_type::boolean)
    refuse_to_standardize(spec, "holds booleans, not numbers");
  if (options.type != element_type::f32 && options.type != element_type::f64)
    refuse_to_standardize(
        spec, "type is " + std::string{to_string(options.type)} +
                  ", but values are standardized to float32 or float64; a loader's transforms "
                  "convert further");
  if (spec.packing.changes_values() ||
      spec.packing.missing.size() > (spec.packing.has_default_missing ? 1U : 0U))
    refuse_to_standardize(spec,
                          "its attributes give stored numbers another meaning; unpack it first");
  std::size_t axis = 0;
  std::uint64_t channels = 1;
  if (options.axis) {
    const auto found = find_axis(spec, *options.axis);
    if (!found) refuse_to_standardize(spec, "has no " + to_string(*options.axis));
    axis = *found;
    channels = spec.shape[axis];
  }
  check_numbers(spec, "mean", options.mean, channels, options);
  check_numbers(spec, "stddev", options.stddev, channels, options);
  std::vector<channel_statistics> all(
      std::max({options.mean.size(), options.stddev.size(), std::size_t{1}}));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!options.mean.empty()) all[i].mean = options.mean[options.mean.size() == 1 ? 0 : i];
    if (!options.stddev.empty()) all[i].stddev = options.stddev[options.stddev.size() == 1 ? 0 : i];
  }
  spec.type = options.type;
  spec.packing = {};
  return std::make_shared<const standardized_array>(std::move(spec), std::move(array),
                                                    std::move(all), axis, options);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
