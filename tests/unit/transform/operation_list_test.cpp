#include "transform/operations/operation_list.hpp"

#include <feedline/error.hpp>

#include "device/transform_row.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "transform/field_conversions.hpp"
#include "transform/operations/operations.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

/// Calls of the operations below, in order.
std::vector<std::string> record;

/// Adds a number that it draws; stands where the jitter is in options.
struct add {
  static constexpr auto option = &field_transform::jitter;
  static constexpr const char* name = "jitter";
  static constexpr std::uint32_t first_draw = 200;
  static constexpr std::uint32_t draws = 1;
  struct parameters {
    float by = 0.0F;
  };
  struct drawn {
    std::uint32_t bits;
  };
  static void check(const color_jitter&, const checked_field& field) {
    record.push_back("check add of " + std::to_string(field.channels));
  }
  static std::string text(const color_jitter& options) { return "add " + text_of(options.hue); }
  static std::optional<parameters> plan(const color_jitter& options) {
    if (options.hue == 0) return std::nullopt;
    return parameters{static_cast<float>(options.hue)};
  }
  static drawn draw(const parameters&, pixel_extents, std::uint32_t random_bits) noexcept {
    record.emplace_back("draw add");
    return {detail::draw(random_bits, choice{first_draw})};
  }
  static void apply(const parameters& by, const drawn&, const pixel_place&, color& pixel,
                    std::uint32_t& channels) noexcept {
    record.push_back("add to " + std::to_string(channels));
    for (std::uint32_t c = 0; c < channels; ++c) pixel.of[c] += by.by;
  }
};

/// Leaves the sum of all channels in one. It draws nothing.
struct join {
  static constexpr auto option = &field_transform::erasing;
  static constexpr const char* name = "erasing";
  static constexpr std::uint32_t first_draw = 201;
  static constexpr std::uint32_t draws = 0;
  struct parameters {};
  struct drawn {};
  static void check(const random_erasing&, const checked_field& field) {
    record.push_back("check join of " + std::to_string(field.channels));
  }
  static std::string text(const random_erasing&) { return "join"; }
  static std::uint64_t channels_after(const random_erasing&, std::uint64_t) { return 1; }
  static std::optional<parameters> plan(const random_erasing&) { return parameters{}; }
  static drawn draw(const parameters&, pixel_extents, std::uint32_t) noexcept { return {}; }
  static void apply(const parameters&, const drawn&, const pixel_place&, color& pixel,
                    std::uint32_t& channels) noexcept {
    record.push_back("join " + std::to_string(channels));
    for (std::uint32_t c = 1; c < channels; ++c) pixel.of[0] += pixel.of[c];
    channels = 1;
  }
};

/// Adds steps: a brightness, and a look at the image if its option asks for a second channel.
struct double_steps {
  static constexpr auto option = &field_transform::grayscale;
  static constexpr const char* name = "grayscale";
  static constexpr std::uint32_t first_draw = 202;
  static constexpr std::uint32_t draws = 0;
  struct parameters {
    steps_need need = steps_need::pixels;
  };
  static steps_need needs(const parameters& by) noexcept { return by.need; }
  static void add_steps(const parameters&, pixel_extents image, std::uint32_t random_bits,
                        sample_steps& steps) noexcept {
    record.push_back("steps of " + std::to_string(image.width) + " for " +
                     std::to_string(random_bits));
    steps.colors.add(step_kind::brightness, 2.0F);
  }
};

using add_first = operation_list<add, join>;
using join_first = operation_list<join, add>;

field_transform both() {
  field_transform transform{.field = "x"};
  transform.jitter = color_jitter{.hue = 0.5};
  transform.erasing = random_erasing{};
  return transform;
}

/// A pixel of channels 1, 2 and 3 after the operations.
template <class List>
float first_channel(const pixel_operations& planned) {
  const auto& by = List::of(planned);
  color pixel{{1, 2, 3}};
  std::uint32_t channels = 3;
  List::apply(by, List::draw(by, {1, 1}, 7), {0, 0, 0}, pixel, channels);
  CHECK(channels == (planned.channels == 0 ? 3 : planned.channels));
  return pixel.of[0];
}

}  // namespace

TEST_CASE("operation list: operations are checked, drawn, applied and named in its order",
          "[transfer][host]") {
  record.clear();
  const std::vector<field> fields{{"x", element_type::u8, {2, 2, 3}}};
  const field_transform transform = both();
  add_first::check(transform, {fields[0], 3});
  CHECK(first_channel<add_first>(add_first::plan(transform, 3)) == 7.5F);
  CHECK(record == std::vector<std::string>{"check add of 3", "check join of 3", "draw add",
                                           "add to 3", "join 3"});
  CHECK(add_first::text(transform) == ", add 0.5, join");
  CHECK(add_first::name_of_first(transform) == "jitter");

  record.clear();
  join_first::check(transform, {fields[0], 3});
  CHECK(first_channel<join_first>(join_first::plan(transform, 3)) == 6.5F);
  CHECK(record == std::vector<std::string>{"check join of 3", "check add of 1", "draw add",
                                           "join 3", "add to 1"});
  CHECK(join_first::text(transform) == ", join, add 0.5");
  CHECK(join_first::name_of_first(transform) == "erasing");
}

TEST_CASE(
    "operation list: an operation that is not set, or changes nothing, draws nothing and "
    "is not applied",
    "[transfer][host]") {
  field_transform transform{.field = "x"};
  pixel_operations planned = add_first::plan(transform, 3);
  CHECK_FALSE(planned.any);
  CHECK_FALSE(planned.random);
  CHECK(planned.channels == 0);
  CHECK(add_first::text(transform).empty());
  CHECK(add_first::name_of_first(transform).empty());

  transform.jitter = color_jitter{};  // adds 0
  planned = add_first::plan(transform, 3);
  CHECK_FALSE(planned.any);
  CHECK_FALSE(planned.random);

  transform.erasing = random_erasing{};
  planned = add_first::plan(transform, 3);
  CHECK(planned.any);
  CHECK_FALSE(planned.random);  // the only one that is applied draws nothing
  CHECK(planned.channels == 1);
  record.clear();
  CHECK(first_channel<add_first>(planned) == 6.0F);
  CHECK(record == std::vector<std::string>{"join 3"});

  transform.jitter = color_jitter{.hue = 0.25};
  CHECK(add_first::plan(transform, 3).random);
  CHECK(add_first::plan(transform, 1).channels == 0);  // one channel stays one
}

TEST_CASE("operation list: an operation of steps adds them, and says what they need",
          "[transfer][host]") {
  using list = operation_list<double_steps, join>;
  pixel_operations planned;
  list::enable<join>(planned, {});
  CHECK_FALSE(planned.steps);
  CHECK_FALSE(planned.random);
  const auto need = GENERATE(steps_need::none, steps_need::pixels, steps_need::image);
  list::enable<double_steps>(planned, {need});
  CHECK(planned.steps == (need != steps_need::none));
  CHECK(planned.random == (need != steps_need::none));
  CHECK(planned.needs_image == (need == steps_need::image));

  record.clear();
  sample_steps steps{};
  steps.colors.add(step_kind::invert);  // the sample before
  const auto& by = list::of(planned);
  list::draw_steps(by, {1, 2}, 7, steps);
  CHECK(record == std::vector<std::string>{"steps of 2 for 7"});
  color pixel{{1, 2, 3}};
  std::uint32_t channels = 3;
  steps.colors.apply(0, steps.colors.count, pixel, channels);
  CHECK(pixel.of[2] == 6.0F);
  list::apply(by, list::draw(by, {1, 2}, 7), {0, 0, 0}, pixel, channels);
  CHECK(pixel.of[0] == 12.0F);
}

TEST_CASE("operation list: steps come before the erasing, which covers them", "[transfer][host]") {
  field_transform transform{.field = "x", .layout = image_layout::hwc};
  transform.invert = random_invert{.probability = 1};
  transform.erasing = random_erasing{
      .probability = 1, .scale = {0.5, 0.5}, .ratio = {1, 1}, .value = {500}};  // no byte
  const auto converted = convert_fields({{"x", element_type::u8, {8, 8}}}, {transform});
  const std::vector<std::byte> row(64, std::byte{100});
  std::vector<float> out(64);
  transform_row(converted.conversions[0], row.data(), row.size(), 1,
                reinterpret_cast<std::byte*>(out.data()));
  CHECK(std::count(out.begin(), out.end(), 500.0F) == 36);  // 6 x 6, nearest to half of 8 x 8
  CHECK(std::count(out.begin(), out.end(), 155.0F) == 28);
}
