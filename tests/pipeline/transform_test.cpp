/// Transforms: the same elements from every placement and device, chosen by (seed, epoch, sample)
/// alone.

#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/devices/data_paths.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 101;

/// Images of 6 × 5 × 3 in which each byte tells its position, labels 0 to 9, and the sample's
/// number.
dataset_ptr images() {
  std::vector<std::uint8_t> pixels(sample_count * 90);
  std::vector<std::int32_t> labels(sample_count);
  std::vector<std::uint64_t> ids(sample_count);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>((i * 0x9e3779b97f4a7c15U) >> 56);
  for (std::uint64_t i = 0; i < sample_count; ++i) {
    labels[i] = static_cast<std::int32_t>(i * 7 % 10);
    ids[i] = i;
  }
  return make_memory_dataset({own("image", std::move(pixels), {6, 5, 3}),
                              own("label", std::move(labels)), own("id", std::move(ids))});
}

std::vector<field_transform> training_transforms(element_type to = element_type::f32) {
  return {{.field = "image",
           .to = to,
           .scale = 1 / 255.0,
           .mean = {0.485, 0.456, 0.406},
           .stddev = {0.229, 0.224, 0.225},
           .layout = image_layout::hwc,
           .to_layout = image_layout::chw,
           .flip = 0.5,
           .crop = image_crop{.height = 4, .width = 5, .padding = 2}},
          {.field = "label", .to = to, .one_hot = 10}};
}

/// Fields' bytes by (epoch, sample).
using table = std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::byte>>;

loader_options options_of(int readers) {
  loader_options options{.batch_size = 8, .readers = readers};
  options.transforms = training_transforms();
  options.seed = 77;
  return options;
}

/// Options on a way; `transformed` adds a transform of identity data, which this is not.
loader_options by_placement(data_path through, const dataset& data, loader_options options) {
  return on_data_path(through == data_path::transformed ? data_path::stream : through, data,
                      std::move(options));
}

table deliver(data_path through, const loader_options& options, std::uint64_t epochs = 2,
              const sampler& order = shuffle{.seed = 5}) {
  const path_setup by{through};
  const auto data = images();
  loader loader{stored_for(through, data, order), order, by.device,
                by_placement(through, *data, options)};
  table seen;
  std::mutex mutex;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (batch& batch : loader.epoch(epoch, by.stream)) {
      const auto look = [&seen, &mutex, epoch, image = batch["image"], label = batch["label"],
                         id = batch["id"]] {
        const std::scoped_lock lock{mutex};
        for (std::uint64_t i = 0; i < id.samples(); ++i) {
          std::vector<std::byte>& bytes = seen[{epoch, id.data<std::uint64_t>()[i]}];
          for (const tensor_view& view : {image, label}) {
            const std::size_t row = view.bytes().size() / view.samples();
            const auto found = view.bytes().subspan(i * row, row);
            bytes.insert(bytes.end(), found.begin(), found.end());
          }
        }
      };
      if (by.stream) {
        by.on.device->launch(by.stream, look);
      } else {
        look();
      }
    }
  }
  if (by.stream) by.on.device->drain(by.stream);
  return seen;
}

}  // namespace

TEST_CASE("transforms: every placement and device delivers the same bits, epoch after epoch",
          "[loader][host]") {
  static const table expected = deliver(data_path::in_place, options_of(0));
  REQUIRE(expected.size() == 2 * sample_count);
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 1, 4);
  const std::uint64_t batches_per_slot = GENERATE(0U, 1U, 3U);
  const std::size_t request_bytes = GENERATE(1U, 5U * 102U, 40U * 102U);
  CAPTURE(to_string(through), readers, batches_per_slot, request_bytes);
  loader_options options = options_of(readers);
  options.expert.batches_per_slot = batches_per_slot;
  options.expert.staging_slots = 2 + batches_per_slot;
  options.expert.request_bytes = request_bytes;
  CHECK((deliver(through, options) == expected));
}

TEST_CASE("transforms: halves are the same everywhere too", "[loader][host]") {
  const auto to = GENERATE(element_type::f16, element_type::bf16);
  const data_path through = GENERATE(from_range(all_data_paths()));
  loader_options options = options_of(2);
  options.transforms = training_transforms(to);
  loader_options reference = options;
  reference.readers = 0;
  CAPTURE(to_string(through));
  CHECK((deliver(through, options) == deliver(data_path::in_place, reference)));
}

TEST_CASE("transforms: images are resized from windows of their own, the same everywhere",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  CAPTURE(to_string(through));
  loader_options options = options_of(2);
  options.transforms[0].crop = {};
  options.transforms[0].resized_crop = random_resized_crop{.height = 7, .width = 3};
  if (GENERATE(false, true)) {
    options.transforms[0].jitter =
        color_jitter{.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1};
    options.transforms[0].erasing = random_erasing{};
  }
  loader_options reference = options;
  reference.readers = 0;
  const table expected = deliver(data_path::in_place, reference);
  CHECK((deliver(through, options) == expected));
  CHECK(expected.at({0, 3}) != expected.at({1, 3}));
}

TEST_CASE("transforms: integers are cast to integers everywhere, masks flipped and cropped",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  CAPTURE(to_string(through));
  loader_options options = options_of(2);
  options.transforms = training_transforms();
  options.transforms[0].to = element_type::i16;
  options.transforms[0].scale = 1.0;
  options.transforms[0].mean = options.transforms[0].stddev = {};
  options.transforms[1] = {.field = "label", .to = element_type::i64};
  loader_options reference = options;
  reference.readers = 0;
  CHECK((deliver(through, options) == deliver(data_path::in_place, reference)));

  const path_setup by{through};
  const auto data = images();
  loader loader{stored_for(through, data, sequential{}), sequential{}, by.device,
                by_placement(through, *data, options)};
  auto range = loader.epoch(0, by.stream);
  const auto first = range.next();
  REQUIRE(first);
  CHECK((*first)["image"].type() == element_type::i16);
  if (by.stream) by.on.device->drain(by.stream);
  const auto labels = (*first)["label"].values<std::int64_t>();
  for (std::size_t i = 0; i < labels.size(); ++i)
    CHECK(labels[i] == static_cast<std::int64_t>(i * 7 % 10));
}

TEST_CASE("transforms: choices depend on seed, epoch and sample, and on no order",
          "[loader][host]") {
  const data_path through =
      GENERATE(data_path::in_place, data_path::transformed, data_path::resident, data_path::gather);
  CAPTURE(to_string(through));
  const table shuffled = deliver(through, options_of(2));
  CHECK((deliver(through, options_of(2), 2, sequential{}) == shuffled));
  loader_options reseeded = options_of(2);
  reseeded.seed = 78;
  const table other = deliver(through, reseeded);

  // 5 × 5 positions and two sides: nearly every image differs, and none of the labels.
  const auto differing = [](const table& a, std::uint64_t in, const table& b, std::uint64_t of) {
    std::uint64_t count = 0;
    for (std::uint64_t sample = 0; sample < sample_count; ++sample)
      count += a.at({in, sample}) != b.at({of, sample}) ? 1 : 0;
    return count;
  };
  CHECK(differing(shuffled, 0, shuffled, 1) > sample_count * 3 / 4);
  CHECK(differing(shuffled, 0, other, 0) > sample_count * 3 / 4);
}

TEST_CASE("transforms: without random ones every epoch is the same", "[loader][host]") {
  const data_path through =
      GENERATE(data_path::in_place, data_path::transformed, data_path::cached_half);
  CAPTURE(to_string(through));
  loader_options options = options_of(2);
  options.transforms = {{.field = "image",
                         .layout = image_layout::hwc,
                         .crop = image_crop{.height = 2, .width = 2, .random = false}}};
  const table seen = deliver(through, options);
  for (std::uint64_t sample = 0; sample < sample_count; ++sample)
    REQUIRE(seen.at({0, sample}) == seen.at({1, sample}));
}

TEST_CASE("transforms: a batch's views have the new types and shapes, and so has the plan",
          "[batch][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  CAPTURE(to_string(through));
  const path_setup by{through};
  const auto data = images();
  loader loader{stored_for(through, data, sequential{}), sequential{}, by.device,
                by_placement(through, *data, options_of(1))};
  const std::vector<field> fields{{"image", element_type::f32, {3, 4, 5}},
                                  {"label", element_type::f32, {10}},
                                  {"id", element_type::u64, {}}};
  CHECK(loader.plan().fields == fields);
  CHECK(loader.plan().assembled == (through != data_path::in_place));
  auto range = loader.epoch(0, by.stream);
  const auto first = range.next();
  REQUIRE(first);
  CHECK((*first)["image"].bytes().size() == 8 * 3 * 4 * 5 * sizeof(float));
  CHECK((*first)["image"].data<float>() != nullptr);
  CHECK_THROWS_AS((void)(*first)["image"].data<std::uint8_t>(), usage_error);
  CHECK((*first)["label"].bytes().size() == 8 * 10 * sizeof(float));
  CHECK((*first)["id"].bytes().size() == 8 * sizeof(std::uint64_t));
}

TEST_CASE("transforms: one that does not fit the dataset is refused before anything is allocated",
          "[loader][host]") {
  const path_setup by{data_path::stream};
  loader_options options = options_of(0);
  options.transforms.push_back({.field = "picture"});
  CHECK(message_of<usage_error>([&] {
          const loader loader{images(), sequential{}, by.device, options};
        }) ==
        "transform of field 'picture': there is no such field; the dataset has 'image', 'label', "
        "'id'");
  CHECK(by.on.device->allocations() == 0);
}

TEST_CASE("transforms: ten million labels become a thousand classes each within a plan's memory",
          "[loader][host]") {
  class labels final : public dataset {
   public:
    std::uint64_t size() const override { return 10'000'000; }
    std::vector<field> fields() const override { return {{"label", element_type::u8, {}}}; }
    void do_read(const read_request& request) const override {
      for (std::size_t i = 0; i < request.samples.size(); ++i)
        request.out[0][i] = static_cast<std::byte>(request.samples[i].value % 251);
    }
  };
  loader loader{std::make_shared<labels>(),
                sequential{},
                make_host_device(),
                {.batch_size = 500, .transforms = {{.field = "label", .one_hot = 1000}}}};
  CHECK(loader.plan().staging_bytes <= std::size_t{128} << 20);
  std::uint64_t sample = 0;
  auto range = loader.epoch(0);
  for (int i = 0; i < 3; ++i) {
    const auto batch = range.next();
    REQUIRE(batch);
    const auto classes = (*batch)["label"].data<float>();
    bool right = true;
    for (std::uint64_t row = 0; row < batch->size(); ++row, ++sample)
      for (std::uint64_t k = 0; k < 1000; ++k)
        right = right && classes[row * 1000 + k] == (k == sample % 251 ? 1.0F : 0.0F);
    CHECK(right);
  }
}
