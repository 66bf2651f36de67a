// Over 250 lines: one fold over the operations for each thing that an operation has.

#pragma once

#include <feedline/transform/field_transform.hpp>
#include <feedline/transform/pixel_operations.hpp>

#include "detail/host_device.hpp"
#include "transform/operations/check.hpp"
#include "transform/operations/draws.hpp"
#include "transform/operations/pixel.hpp"
#include "transform/operations/wide_steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace feedline::detail {

/// An operation's share of all parameters, or of all that is drawn for a sample.
template <class Operation, class Value>
struct values_for {
  Value value = {};
};

/// The draws of a sample for an operation; empty if the operation only has steps.
template <class Operation>
struct drawn_for_one {};
template <class Operation>
requires requires {
  typename Operation::drawn;
}
struct drawn_for_one<Operation> : values_for<Operation, typename Operation::drawn> {};

/// Operations on the pixels of a field, in the order of this list, on the pixels of the window
/// after its resize and flip. The reference and the kernels go through it at compile time.
///
/// An operation is a struct with these members:
///
///     option                  the member of `field_transform`, a std::optional of its options
///     name                    that member's name, for messages
///     first_draw, draws       numbers of its draws, which no other choice has
///     parameters              plain data for devices
///     check(options, field)   throws usage_error
///     text(options)           its part of `to_string`; texts are kept across versions
///     plan(options)           the parameters; nothing if it changes no pixel. It may also take the
///                             whole transform
///
/// and with those of one of these kinds, or both:
///
///     drawn                   plain data, drawn for each sample; an empty struct if it draws none
///     draw(parameters, size of the batch's image, random bits)
///     apply(parameters, drawn, place, color&, channels&)
///
///     needs(parameters)       what its steps need to see
///     add_steps(parameters, size of the batch's image, random bits, sample_steps& or wide_steps&)
///
/// It may have `channels_after(options, channels)`, the number of channels that it leaves.
///
/// `apply` sees one pixel, of up to three channels; images of more come in groups of three. It sees
/// no other pixel and moves none, and a transform that does not use it still pays for it in
/// registers. Steps may do both, and may need sums or counts of the image (`sample_steps`). They
/// are for bytes of one channel or three, come before all that is applied, and have a kernel of
/// their own; those of wide steps another one.
template <class... Operations>
class operation_list {
 public:
  struct parameters : values_for<Operations, typename Operations::parameters>... {
    std::uint32_t enabled = 0;  ///< bit i: operation i is applied
  };
  struct drawn : drawn_for_one<Operations>... {};

  static_assert(sizeof(parameters) <= pixel_operations::max_bytes, "raise max_bytes");
  static_assert(std::is_trivially_copyable_v<parameters> && std::is_trivially_copyable_v<drawn>);

  /// Name of the first operation that is set; empty: none.
  static std::string name_of_first(const field_transform& transform) {
    std::string name;
    ((name.empty() && transform.*Operations::option ? void(name = Operations::name) : void()), ...);
    return name;
  }

  /// Channels after the operations.
  static std::uint64_t channels_after(const field_transform& transform, std::uint64_t channels) {
    ((channels = channels_after_one<Operations>(transform, channels)), ...);
    return channels;
  }

  /// @param field The field, with an image's channels. @throws usage_error
  static void check(const field_transform& transform, checked_field field) {
    const auto check_one = [&]<class Operation>(const Operation&) {
      const auto& options = transform.*Operation::option;
      if (options) Operation::check(*options, field);
      const std::uint64_t after = channels_after_one<Operation>(transform, field.channels);
      if (after != field.channels && std::max(after, field.channels) > 3)
        throw std::logic_error{std::string{"feedline: the operation "} + Operation::name +
                               " changes the channels of images with more than three: its check "
                               "must refuse them"};
      field.channels = after;
    };
    (check_one(Operations{}), ...);
  }

  /// ", jitter brightness 0.4 …", or nothing.
  static std::string text(const field_transform& transform) {
    std::string text;
    const auto add_one = [&]<class Operation>(const Operation&) {
      const auto& options = transform.*Operation::option;
      if (options) text += ", " + Operation::text(*options);
    };
    (add_one(Operations{}), ...);
    return text;
  }

  /// @param transform Checked. @param channels Those of the dataset's image.
  static pixel_operations plan(const field_transform& transform, std::uint64_t channels) {
    pixel_operations planned;
    const std::uint64_t before = channels;
    const auto plan_one = [&]<class Operation>(const Operation&) {
      const auto& options = transform.*Operation::option;
      if (!options) return;
      const auto planned_one = [&] {
        if constexpr (requires { Operation::plan(*options, transform); })
          return Operation::plan(*options, transform);
        else
          return Operation::plan(*options);
      };
      if (const auto by = planned_one()) {
        enable<Operation>(planned, *by);
      } else if (channels_after_one<Operation>(transform, channels) != channels) {
        throw std::logic_error{std::string{"feedline: the operation "} + Operation::name +
                               " changes the number of channels, but plans nothing"};
      }
      channels = channels_after_one<Operation>(transform, channels);
    };
    (plan_one(Operations{}), ...);
    if (channels != before) planned.channels = static_cast<std::uint32_t>(channels);
    return planned;
  }

  /// Adds an operation to those that are planned.
  template <class Operation>
  static void enable(pixel_operations& planned, const typename Operation::parameters& by) {
    parameters all = planned.any ? of(planned) : parameters{};
    static_cast<values_for<Operation, typename Operation::parameters>&>(all).value = by;
    all.enabled |= 1U << index_of<Operation>();
    ::new (static_cast<void*>(planned.parameters)) parameters{all};
    planned.any = true;
    if constexpr (is_applied<Operation>)
      if (!std::is_empty_v<typename Operation::drawn>) planned.random = true;
    if constexpr (has_steps<Operation>) {
      const steps_need need = Operation::needs(by);
      planned.random = planned.random || need != steps_need::none;
      planned.steps = planned.steps || need != steps_need::none;
      planned.needs_image =
          planned.needs_image || need == steps_need::image || need == steps_need::images;
      planned.wide =
          planned.wide || need == steps_need::neighbourhood || need == steps_need::images;
    }
  }

  /// The planned parameters; all operations are disabled if there are none.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static const parameters& of(
      const pixel_operations& planned) noexcept {
    return *reinterpret_cast<const parameters*>(planned.parameters);
  }

  /// An operation's parameters.
  template <class Operation>
  [[nodiscard]] FEEDLINE_HOST_DEVICE static const auto& parameters_for(
      const parameters& by) noexcept {
    return static_cast<const values_for<Operation, typename Operation::parameters>&>(by).value;
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE static drawn draw(const parameters& by, pixel_extents image,
                                                       std::uint32_t random_bits) noexcept {
    drawn to{};
    const auto draw_one = [&]<class Operation>(const Operation&) {
      if constexpr (is_applied<Operation>)
        if (is_enabled<Operation>(by))
          drawn_for<Operation>(to) =
              Operation::draw(parameters_for<Operation>(by), image, random_bits);
    };
    (draw_one(Operations{}), ...);
    return to;
  }

  /// @param steps Replaced by the sample's: `wide_steps`, or `sample_steps`, which have none.
  template <class Steps>
  FEEDLINE_HOST_DEVICE static void draw_steps(const parameters& by, pixel_extents image,
                                              std::uint32_t random_bits, Steps& steps) noexcept {
    steps.clear();
    const auto add_one = [&]<class Operation>(const Operation&) {
      if constexpr (adds_to<Operation, Steps>)
        if (is_enabled<Operation>(by))
          Operation::add_steps(parameters_for<Operation>(by), image, random_bits, steps);
    };
    (add_one(Operations{}), ...);
  }

  /// @param channels Number of the color's channels, 1 to 3; changed if an operation changes it.
  FEEDLINE_HOST_DEVICE static void apply(const parameters& by, const drawn& of,
                                         const pixel_place& at, color& pixel,
                                         std::uint32_t& channels) noexcept {
    const auto apply_one = [&]<class Operation>(const Operation&) {
      if constexpr (is_applied<Operation>)
        if (is_enabled<Operation>(by))
          Operation::apply(parameters_for<Operation>(by), drawn_for<Operation>(of), at, pixel,
                           channels);
    };
    (apply_one(Operations{}), ...);
  }

 private:
  template <class Operation>
  static constexpr bool is_applied = requires {
    &Operation::apply;
  };
  template <class Operation>
  static constexpr bool has_steps = requires {
    &Operation::add_steps;
  };
  template <class Operation, class Steps>
  static constexpr bool adds_to = requires(const typename Operation::parameters& by, Steps& steps) {
    Operation::add_steps(by, pixel_extents{}, 0U, steps);
  };

  template <class Operation>
  [[nodiscard]] FEEDLINE_HOST_DEVICE static constexpr std::uint32_t index_of() noexcept {
    std::uint32_t index = 0;
    (void)((std::is_same_v<Operation, Operations> || (++index, false)) || ...);
    return index;
  }
  template <class Operation>
  [[nodiscard]] FEEDLINE_HOST_DEVICE static bool is_enabled(const parameters& by) noexcept {
    return (by.enabled & 1U << index_of<Operation>()) != 0;
  }

  template <class Operation>
  using drawn_share = values_for<Operation, typename Operation::drawn>;
  template <class Operation>
  [[nodiscard]] FEEDLINE_HOST_DEVICE static auto& drawn_for(drawn& of) noexcept {
    return static_cast<drawn_share<Operation>&>(of).value;
  }
  template <class Operation>
  [[nodiscard]] FEEDLINE_HOST_DEVICE static const auto& drawn_for(const drawn& of) noexcept {
    return static_cast<const drawn_share<Operation>&>(of).value;
  }

  template <class Operation>
  static std::uint64_t channels_after_one(const field_transform& transform,
                                          std::uint64_t channels) {
    if constexpr (requires { &Operation::channels_after; }) {
      const auto& options = transform.*Operation::option;
      if (options) return Operation::channels_after(*options, channels);
    }
    return channels;
  }

  /// Whether no draw has two uses: by two operations, or by an operation and a `choice`.
  static constexpr bool has_distinct_draws() {
    struct range {
      std::uint32_t first;
      std::uint32_t count;
    };
    const std::array ranges{range{0, static_cast<std::uint32_t>(choice::first_window) + 40},
                            range{static_cast<std::uint32_t>(choice::first_mixing), 6},
                            range{Operations::first_draw, Operations::draws}...};
    for (std::size_t i = 0; i < ranges.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (ranges[i].first < ranges[j].first + ranges[j].count &&
            ranges[j].first < ranges[i].first + ranges[i].count)
          return false;
    return true;
  }
  static_assert(has_distinct_draws(), "two choices have a draw in common: change first_draw");
};

}  // namespace feedline::detail
