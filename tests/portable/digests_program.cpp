// Prints digests of orders and of batches' bytes, a line for each sampler and transform. They are
// the same on every platform: tests compare them with digests.txt, on aarch64 by aarch64.sh. A
// change of an order or of arithmetic is a change for users, and has its line in CHANGELOG.md. Then
// this program's output becomes the new digests.txt.

#include <feedline/feedline.hpp>

#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::uint64_t samples = 500;
constexpr std::size_t side = 20;
constexpr std::uint32_t classes = 7;

/// FNV-1a of all that is added.
class digest {
 public:
  void add(const std::byte* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      value_ = (value_ ^ std::to_integer<std::uint64_t>(bytes[i])) * 0x100'0000'01b3;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf2'9ce4'8422'2325;
};

std::uint64_t next_of(std::uint64_t& state) {
  state += 0x9e37'79b9'7f4a'7c15;
  std::uint64_t word = (state ^ state >> 30) * 0xbf58'476d'1ce4'e5b9;
  word = (word ^ word >> 27) * 0x94d0'49bb'1331'11eb;
  return word ^ word >> 31;
}

feedline::dataset_ptr make_images() {
  std::uint64_t state = 1;
  std::vector<std::uint8_t> pixels(samples * side * side * 3);
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(next_of(state) >> 56);
  std::vector<float> values(samples * 11);
  for (auto& value : values)
    value = static_cast<float>(static_cast<double>(next_of(state) >> 11) * 0x1p-50 - 3.7);
  std::vector<std::uint32_t> labels(samples);
  for (auto& label : labels) label = static_cast<std::uint32_t>(next_of(state) % classes);
  return feedline::make_memory_dataset({feedline::own("image", std::move(pixels), {side, side, 3}),
                                        feedline::own("value", std::move(values), {11}),
                                        feedline::own("label", std::move(labels))});
}

feedline::dataset_ptr noisy(const feedline::dataset_ptr& of) {
  return feedline::map(of, of->fields(), [](auto, auto in, auto out, const auto& context) {
    feedline::sample_random random = context.random();
    for (std::size_t field = 0; field < in.size(); ++field)
      for (std::size_t i = 0; i < in[field].size(); ++i)
        out[field][i] =
            in[field][i] ^ static_cast<std::byte>(field == 0 && random.chance(0.3)
                                                      ? static_cast<unsigned>(random.below(200))
                                                      : 0U);
  });
}

void print(const std::string& name, const feedline::dataset_ptr& data,
           const feedline::sampler& order, feedline::loader_options options = {}) {
  options.batch_size = 32;
  options.epochs = 2;
  feedline::loader loader{data, order, feedline::make_host_device(), options};
  const std::uint64_t order_digest = loader.order_digest();
  digest bytes;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch)
    for (const feedline::batch& batch : loader.epoch(epoch))
      for (const feedline::field& field : data->fields()) {
        const auto view = batch[field.name].bytes();
        bytes.add(view.data(), view.size());
      }
  std::cout << std::hex << std::setfill('0') << std::setw(16) << order_digest << ' '
            << std::setw(16) << bytes.value() << "  " << name << '\n';
}

void print_orders(const feedline::dataset_ptr& data) {
  std::vector<double> weights(samples);
  std::vector<std::int64_t> labels(samples);
  std::vector<std::uint64_t> lengths(samples);
  std::uint64_t state = 2;
  for (std::size_t i = 0; i < samples; ++i) {
    weights[i] = static_cast<double>(next_of(state) >> 11) * 0x1p-53;
    labels[i] = static_cast<std::int64_t>(next_of(state) % classes);
    lengths[i] = 1 + next_of(state) % 300;
  }
  print("sequential", data, feedline::sequential{});
  print("shuffle", data, feedline::shuffle{.seed = 3});
  print("weighted", data, feedline::weighted{weights, {.seed = 4}});
  print("weighted without replacement", data,
        feedline::weighted{weights, {.seed = 4, .epoch_size = 200, .replacement = false}});
  print("class_balanced", data, feedline::class_balanced{labels, {.seed = 5}});
  print("mixture", data, feedline::mixture{{100, 150, 250}, {0.2, 0.5, 0.3}, {.seed = 6}});
  print("scheduled mixture", data,
        feedline::scheduled_mixture{
            {100, 150, 250}, {{0, {0.2, 0.5, 0.3}}, {700, {0.6, 0, 0.4}}}, {.seed = 6}});
  print("bucket_by_length", data, feedline::bucket_by_length{lengths, {.seed = 7}});
  print("rank 1 of 2", data, feedline::shuffle{.seed = 8}, {.shard = {.rank = 1, .world = 2}});
}

void print_transforms(const feedline::dataset_ptr& data) {
  const feedline::field_transform normalized{.field = "image",
                                             .scale = 1 / 255.0,
                                             .mean = {0.485, 0.456, 0.406},
                                             .stddev = {0.229, 0.224, 0.225},
                                             .layout = feedline::image_layout::hwc,
                                             .to_layout = feedline::image_layout::chw,
                                             .flip = 0.5};
  for (const auto to :
       {feedline::element_type::f32, feedline::element_type::f16, feedline::element_type::bf16}) {
    const auto with = [&](const std::string& name, auto change) {
      feedline::field_transform image = normalized;
      image.to = to;
      change(image);
      print(name + " to " + std::string{to_string(to)}, data, feedline::shuffle{.seed = 9},
            {.transforms =
                 {image,
                  {.field = "value", .to = to, .scale = 0.3, .mean = {0.1}, .stddev = {1.7}},
                  {.field = "label", .to = to, .one_hot = classes}},
             .mixing = {},
             .seed = 10});
    };
    with("normalized", [](auto&) {});
    with("cropped", [](auto& image) { image.crop = {.height = 16, .width = 12, .padding = 2}; });
    with("resized", [](auto& image) { image.resize = {.height = 13, .width = 31}; });
    with("resized crop", [](auto& image) {
      image.resized_crop = feedline::random_resized_crop{.height = 14, .width = 17};
    });
    with("jitter and erasing", [](auto& image) {
      image.jitter = {.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1};
      image.erasing = feedline::random_erasing{.probability = 0.5};
    });
    with("steps", [](auto& image) {
      image.affine = feedline::random_affine{.degrees = {-40, 40},
                                             .translate = {0.1, 0.2},
                                             .scale = {0.7, 1.4},
                                             .shear = {-9, 9, -5, 5},
                                             .interpolation = feedline::interpolation::bilinear};
      image.rand_augment = feedline::rand_augment{.num_ops = 3};
      image.autocontrast = feedline::random_autocontrast{};
      image.sharpness = feedline::random_adjust_sharpness{.sharpness_factor = 2};
      image.erasing = feedline::random_erasing{.noise = true};
    });
    with("trivial_augment_wide",
         [](auto& image) { image.trivial_augment_wide = feedline::trivial_augment_wide{}; });
    feedline::field_transform image = normalized;
    image.to = to;
    print("mixing of " + std::string{to_string(to)}, data, feedline::shuffle{.seed = 9},
          {.transforms = {image, {.field = "label", .to = to, .one_hot = classes}},
           .mixing = feedline::mixing{.image = "image",
                                      .label = "label",
                                      .mixup_alpha = 0.2,
                                      .cutmix_alpha = 1.0,
                                      .draws = feedline::mixing_draws::sample},
           .seed = 11});
  }
}

}  // namespace

int main() {
  const auto data = make_images();
  print_orders(data);
  print("map that draws", noisy(data), feedline::shuffle{.seed = 1}, {.seed = 12});
  print_transforms(data);
  return 0;
}
