/// Mixup and cutmix: the same bits from every placement and device, however slots are cut.

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "pipeline/mixing/mixed_images.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "transform/field_conversions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

const sampler order = shuffle{.seed = 5};
constexpr mixing_draws all_draws[] = {mixing_draws::batch, mixing_draws::pair,
                                      mixing_draws::sample};

/// The mixing that these options request of the device.
pair_mixing mixing_of(const loader_options& options) {
  return detail::convert_fields(mixed_images::make()->fields(), options.transforms, options.mixing)
      .mixing.value();
}

std::vector<mixed_batch> expected_of(loader_options options, std::uint64_t epochs = 2) {
  options.readers = 0;
  return deliver_mixed(data_path::in_place, mixed_images::make(), order, options, epochs);
}

}  // namespace

TEST_CASE(
    "mixing: each sample is mixed with its neighbour, by the batch's, the pair's or its draws",
    "[loader][host]") {
  const std::uint64_t batch_size = GENERATE(1U, 2U, 7U, 8U, 45U, 100U);
  const auto draws = GENERATE(from_range(std::begin(all_draws), std::end(all_draws)));
  CAPTURE(batch_size, to_string(draws));
  const loader_options options = mixed_images::mixed(batch_size, 0, draws);
  const auto seen = expected_of(options);
  REQUIRE(seen.size() == 2 * ((mixed_images::samples + batch_size - 1) / batch_size));
  std::uint64_t samples = 0;
  for (const mixed_batch& batch : seen) {
    CHECK(wrong_elements(batch, mixing_of(options), 77) == 0);
    samples += batch.ids.size();
  }
  CHECK(samples == 2 * mixed_images::samples);
}

TEST_CASE("mixing: a sample counts once in an epoch if partners share a draw, else up to twice",
          "[loader][host]") {
  const auto draws = GENERATE(from_range(std::begin(all_draws), std::end(all_draws)));
  const bool cuts = GENERATE(false, true);
  CAPTURE(to_string(draws), cuts);
  loader_options options = mixed_images::mixed(8, 0, draws);
  options.partial_batch = partial_batch::drop;
  options.mixing->mixup_alpha = cuts ? 0 : 0.2;
  options.mixing->cutmix_alpha = cuts ? 0.2 : 0;
  std::uint64_t once = 0;
  std::uint64_t pairs = 0;
  for (const mixed_batch& batch : expected_of(options)) {
    for (std::size_t place = 0; place < batch.ids.size(); place += 2) {
      // Both weights of the pair's first label, unless the labels are one.
      const std::size_t label = mixed_images::label(batch.ids[place]);
      if (label == mixed_images::label(batch.ids[place + 1])) continue;
      const float counts = batch.labels[place * mixed_images::classes + label] +
                           batch.labels[(place + 1) * mixed_images::classes + label];
      if (counts > 0.999F && counts < 1.001F) ++once;
      ++pairs;
    }
  }
  REQUIRE(pairs > 30);
  CHECK((draws == mixing_draws::sample ? once < pairs / 2 : once == pairs));
}

TEST_CASE("mixing: batches have one weight each, and different ones", "[loader][host]") {
  loader_options options = mixed_images::mixed(8, 0);
  options.mixing->mixup_alpha = 1;
  options.mixing->cutmix_alpha = 0;
  options.mixing->probability = 1;
  std::vector<float> weights;
  for (const mixed_batch& batch : expected_of(options)) {
    std::vector<float> of_batch;
    for (std::size_t place = 0; place < batch.ids.size() / 2 * 2; ++place) {
      const std::size_t label = mixed_images::label(batch.ids[place]);
      if (label != mixed_images::label(batch.ids[place ^ 1U]))
        of_batch.push_back(batch.labels[place * mixed_images::classes + label]);
    }
    REQUIRE_FALSE(of_batch.empty());
    CHECK(of_batch == std::vector(of_batch.size(), of_batch[0]));
    weights.push_back(of_batch[0]);
  }
  std::sort(weights.begin(), weights.end());
  CHECK(std::unique(weights.begin(), weights.end()) == weights.end());
  CHECK(weights.size() == 12);
}

TEST_CASE("mixing: every placement and device delivers the same bits, however slots are cut",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 1, 4);
  const std::uint64_t batch_size = GENERATE(7U, 8U);
  const auto draws = GENERATE(mixing_draws::batch, mixing_draws::pair);
  CAPTURE(to_string(through), readers, batch_size, to_string(draws));
  const auto expected = expected_of(mixed_images::mixed(batch_size, readers, draws));
  for (const std::uint64_t batches_per_slot : {0U, 1U, 3U}) {
    for (const std::size_t request_bytes : {std::size_t{1}, 3 * mixed_images::row_bytes}) {
      loader_options options = mixed_images::mixed(batch_size, readers, draws);
      options.expert.batches_per_slot = batches_per_slot;
      options.expert.request_bytes = request_bytes;
      CAPTURE(batches_per_slot, request_bytes);
      CHECK((deliver_mixed(through, mixed_images::make(), order, options) == expected));
    }
  }
}

TEST_CASE("mixing: partners of a batch that comes in pieces come in one piece",
          "[transfer][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const std::uint64_t batch_size = GENERATE(13U, 14U, 45U, 100U);
  const std::size_t samples_a_piece = GENERATE(1U, 2U, 3U, 6U, 12U);
  const auto draws = GENERATE(from_range(std::begin(all_draws), std::end(all_draws)));
  CAPTURE(to_string(through), batch_size, samples_a_piece, to_string(draws));
  loader_options options = mixed_images::mixed(batch_size, 2, draws);
  options.expert.piece_bytes = samples_a_piece * mixed_images::row_bytes;
  CHECK((deliver_mixed(through, mixed_images::make(), order, options) == expected_of(options)));
}

TEST_CASE("mixing: a last batch that is dropped or filled is mixed like the others",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const auto last = GENERATE(partial_batch::drop, partial_batch::fill);
  loader_options options = mixed_images::mixed(8, 2);
  options.partial_batch = last;
  const auto expected = expected_of(options);
  REQUIRE(expected.back().ids.size() == 8);
  for (const mixed_batch& batch : expected)
    CHECK(wrong_elements(batch, mixing_of(options), 77) == 0);
  CHECK((deliver_mixed(through, mixed_images::make(), order, options) == expected));
}

TEST_CASE("mixing: it depends on seed and epoch, and 16-bit floats are mixed the same everywhere",
          "[loader][host]") {
  loader_options options = mixed_images::mixed(45, 2);
  const auto first = expected_of(options);
  options.seed = 78;
  CHECK(expected_of(options)[0].ids == first[0].ids);
  CHECK(expected_of(options)[0].images != first[0].images);
  CHECK(expected_of(options)[0].labels != first[0].labels);
  const auto to = GENERATE(element_type::f16, element_type::bf16);
  const data_path through = GENERATE(from_range(all_data_paths()));
  for (field_transform& each : options.transforms) each.to = to;
  const auto bytes_of = [&](data_path along) {
    const path_setup by{along};
    loader loader = load_mixed(by, mixed_images::make(), order, options);
    auto range = loader.epoch(0, by.stream);
    const auto batch = range.next();
    std::vector<std::byte> bytes;
    if (by.stream) by.on.device->drain(by.stream);
    for (const char* const name : {"image", "label"}) {
      const auto found = (*batch)[name].bytes();
      bytes.insert(bytes.end(), found.begin(), found.end());
    }
    return bytes;
  };
  CHECK((bytes_of(through) == bytes_of(data_path::in_place)));
}

TEST_CASE("mixing: images that are floats in the dataset need no transform", "[loader][host]") {
  std::vector<float> planes(std::size_t{20} * 24);
  std::vector<std::uint64_t> ids(20);
  for (std::size_t i = 0; i < planes.size(); ++i) planes[i] = static_cast<float>(i * 37 % 251);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i;
  const auto data = make_memory_dataset({own("image", planes, {4, 6}), own("id", ids)});
  loader_options options{.batch_size = 6, .readers = 1};
  options.mixing = mixing{.image = "image", .mixup_alpha = 1, .cutmix_alpha = 1};
  const auto images_of = [&](data_path along) {
    const path_setup by{along};
    loader loader = load_mixed(by, data, sequential{}, options);
    CHECK(loader.plan().assembled == (along != data_path::in_place));
    std::vector<float> seen;
    for (batch& batch : loader.epoch(0, by.stream)) {
      const auto view = batch["image"];
      if (by.stream) by.on.device->drain(by.stream);
      const auto values = view.values<float>();
      seen.insert(seen.end(), values.begin(), values.end());
    }
    return seen;
  };
  const std::vector<float> expected = images_of(data_path::in_place);
  CHECK(expected != planes);
  CHECK(expected.size() == planes.size());
  const data_path through = GENERATE(from_range(all_data_paths()));
  CHECK((images_of(through) == expected));
  // The dataset's values differ from the mixed ones.
  std::vector<float> row(24);
  const sample_index third{3};
  std::vector<std::uint64_t> id(1);
  const std::vector<std::span<std::byte>> out{std::as_writable_bytes(std::span{row}),
                                              std::as_writable_bytes(std::span{id})};
  data->read(std::span{&third, 1}, out);
  CHECK(std::equal(row.begin(), row.end(), planes.begin() + 3 * 24));
}

TEST_CASE("mixing: a function of the user's gets batches that are mixed", "[transfer][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  CAPTURE(to_string(through));
  loader_options options = mixed_images::mixed(14, 2);
  const auto expected = expected_of(options);
  options.expert.piece_bytes = GENERATE(0U, 500U);
  const path_setup by{through};
  options.expert.batch_transform =
      batch_transform{.fields = {{"image", element_type::f32, {6, 5, 3}},
                                 {"label", element_type::f32, {10}},
                                 {"id", element_type::u64, {}}},
                      .run = [&by](const batch_function_call& call) {
                        const auto copy = [in = std::vector(call.in.begin(), call.in.end()),
                                           out = std::vector(call.out.begin(), call.out.end())] {
                          for (std::size_t i = 0; i < in.size(); ++i)
                            std::copy(in[i].bytes().begin(), in[i].bytes().end(), out[i].begin());
                        };
                        if (by.stream) {
                          by.on.device->launch(call.stream, copy);
                        } else {
                          copy();
                        }
                      }};
  loader loader = load_mixed(by, mixed_images::make(), order, options);
  CHECK(loader.plan().assembled);
  std::vector<mixed_batch> seen;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) take_batches(loader, by, epoch, seen);
  CHECK((seen == expected));
}

TEST_CASE("mixing: ranks with even batches mix as one process does", "[loader][host]") {
  const data_path through = GENERATE(data_path::in_place, data_path::stream, data_path::gather);
  const auto draws = GENERATE(from_range(std::begin(all_draws), std::end(all_draws)));
  loader_options options = mixed_images::mixed(12, 1, draws);
  options.partial_batch = partial_batch::drop;
  const auto whole = expected_of(options, 1);
  const int world = GENERATE(2, 3, 6);
  CAPTURE(to_string(through), world, to_string(draws));
  options.batch_size = 12 / static_cast<std::uint64_t>(world);
  std::vector<mixed_batch> joined(whole.size());
  for (int rank = 0; rank < world; ++rank) {
    options.shard = {.rank = rank, .world = world};
    const auto part = deliver_mixed(through, mixed_images::make(), order, options, 1);
    REQUIRE(part.size() == whole.size());
    for (std::size_t i = 0; i < part.size(); ++i) {
      mixed_batch& to = joined[i];
      to.index = part[i].index;
      to.ids.insert(to.ids.end(), part[i].ids.begin(), part[i].ids.end());
      to.images.insert(to.images.end(), part[i].images.begin(), part[i].images.end());
      to.labels.insert(to.labels.end(), part[i].labels.begin(), part[i].labels.end());
    }
  }
  CHECK((joined == whole));
}

TEST_CASE("mixing: a run that resumes in an epoch mixes what the first one would have",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const std::uint64_t done = GENERATE(1U, 4U);
  CAPTURE(to_string(through), done);
  const loader_options options = mixed_images::mixed(7, 2);
  const auto expected = expected_of(options, 1);
  const path_setup by{through};
  std::vector<mixed_batch> seen;
  loader_state state;
  {
    loader first = load_mixed(by, mixed_images::make(), order, options);
    auto range = first.epoch(0, by.stream);
    for (std::uint64_t i = 0; i < done; ++i) REQUIRE(range.next());
    state = first.state();
  }
  loader second = load_mixed(by, mixed_images::make(), order, options);
  second.seek(state);
  take_batches(second, by, 0, seen);
  CHECK(
      (seen == std::vector(expected.begin() + static_cast<std::ptrdiff_t>(done), expected.end())));
}

TEST_CASE("mixing: a state of a run that mixes otherwise is refused, and ranks' digests differ",
          "[loader][host]") {
  loader_options options = mixed_images::mixed(8, 0);
  const auto make = [&] {
    return loader{mixed_images::make(), order, make_host_device(), options};
  };
  const loader_state state = make().state();
  const std::uint64_t digest = make().order_digest();
  CHECK(make().order_digest() == digest);
  CHECK_NOTHROW(make().seek(loader_state::from_json(to_json(state))));
  options.mixing->mixup_alpha = 0.5;
  CHECK(make().order_digest() != digest);
  CHECK(message_of<usage_error>([&] { make().seek(state); }) ==
        "loader::seek: the state is of another run: transforms are image: float32, layout hwc; "
        "label: float32, one_hot 10; mixing of image and label: mixup 0.4, cutmix 1, probability "
        "0.9, draws for each batch in the state, and image: float32, layout hwc; label: float32, "
        "one_hot 10; mixing of image and label: mixup 0.5, cutmix 1, probability 0.9, draws for "
        "each batch in this loader; set loader_options::transforms and mixing to the state's");
  options.mixing->mixup_alpha = 0.4;
  CHECK_NOTHROW(make().seek(state));
  options.mixing->draws = mixing_draws::sample;  // the value in states of versions without a choice
  CHECK(make().order_digest() != digest);
  CHECK_THROWS_AS(make().seek(state), usage_error);
  options.mixing.reset();
  CHECK(make().order_digest() != digest);
  CHECK_THROWS_AS(make().seek(state), usage_error);
}

TEST_CASE("mixing: options that do not fit the fields are refused before anything is allocated",
          "[loader][host]") {
  const path_setup by{data_path::stream};
  loader_options options = mixed_images::mixed(8, 2);
  options.transforms.pop_back();
  CHECK(message_of<usage_error>([&] {
          const loader loader{mixed_images::make(), order, by.device, options};
        })
            .find("loader_options::mixing.label is 'label' and the field is label: int32[] in "
                  "batches: ") == 0);
  options.mixing->label = "";
  options.mixing->probability = 2;
  CHECK(message_of<usage_error>([&] {
          const loader loader{mixed_images::make(), order, by.device, options};
        }) == "loader_options::mixing.probability is 2: say 0 to 1");
  CHECK(by.on.device->allocations() == 0);
}

TEST_CASE("mixing: samples of blocks that the device decodes are mixed the same",
          "[transfer][host]") {
  const std::uint64_t rows = GENERATE(3U, 16U);
  const std::uint64_t batch_size = GENERATE(7U, 8U);
  CAPTURE(rows, batch_size);
  loader_options options = mixed_images::mixed(batch_size, 2);
  const dataset_ptr data = make_encoded(mixed_images::make(), rows);
  const sampler windows = shuffle{.seed = 9, .within = chunks(2)};
  const auto expected = deliver_mixed(data_path::in_place, data, windows, options);
  options.decode_on = decode_on::device;
  options.placement = placement::stream;
  const path_setup by{data_path::stream};
  loader loader{data, windows, by.device, options};
  REQUIRE(loader.plan().decode_on == decode_on::device);
  std::vector<mixed_batch> seen;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) take_batches(loader, by, epoch, seen);
  CHECK((seen == expected));
}
