/// Multi-scale: each batch has one of several sizes, drawn from (seed, epoch, batch). The oracle is
/// a loader of the same order with one size.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/dataset/select.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/formats/tar.hpp>
#include <feedline/formats/tfrecord.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/image/joined.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/tfrecord_bytes.hpp"
#include "unit/image/sets/sized_batches.hpp"

#include <algorithm>
#include <map>

using namespace feedline;
using namespace feedline::test;

namespace {

const std::vector<image_size> three{{24, 24}, {32, 40}, {48, 16}};

image_options with(std::vector<image_size> sizes) {
  return {.resized_crop = crop_ranges{}, .sizes = std::move(sizes)};
}

image_options fixed(image_size size) {
  return {.height = size.height, .width = size.width, .resized_crop = crop_ranges{}};
}

dataset_ptr opened(const photo_tree& tree, const image_options& options) {
  return open_image_folder(tree.root(), {.image = options}).dataset;
}

loader_options transformed() {
  return {.batch_size = 8,
          .transforms = {{.field = "image",
                          .scale = 1 / 255.0,
                          .mean = {0.4, 0.5, 0.6},
                          .layout = image_layout::hwc,
                          .to_layout = image_layout::chw,
                          .flip = 0.5}}};
}

/// Batches of several sizes, each of which a loader of one size gives, too.
void check(const photo_tree& tree, on kind, loader_options options, std::size_t height_extent) {
  options.seed = 11;
  const shuffle order{.seed = 5};
  const auto batches = delivered(opened(tree, with(three)), kind, order, options);
  REQUIRE(batches.size() == 10);
  std::map<std::uint32_t, std::vector<seen_batch>> expected;
  for (const image_size& size : three)
    expected[size.height] = delivered(opened(tree, fixed(size)), kind, order, options);
  std::size_t kinds = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const image_size size = batches[i].size(height_extent);
    REQUIRE(std::ranges::count(three, size) == 1);
    CHECK(batches[i] == expected[size.height][i]);
    kinds += i != 0 && size != batches[i - 1].size(height_extent) ? 1 : 0;
  }
  CHECK(kinds > 2);
}

}  // namespace

TEST_CASE("multi-scale: a batch is what a loader of its size gives", "[loader][host]") {
  const photo_tree tree;
  const int readers = GENERATE(0, 1, 3);
  for (const on kind : {on::host, on::scripted}) {
    check(tree, kind, {.batch_size = 8, .readers = readers}, 1);
    loader_options options = transformed();
    options.readers = readers;
    check(tree, kind, options, 2);
    options.expert.batches_per_slot = 3;
    check(tree, kind, options, 2);
    check(tree, kind, {.batch_size = 8, .readers = readers, .expert = {.batches_per_slot = 3}}, 1);
    // Batches in several pieces, and in several requests.
    check(tree, kind, {.batch_size = 8, .readers = readers, .expert = {.piece_bytes = 16'000}}, 1);
    options.expert = {.piece_bytes = 16'000, .request_bytes = 6'000};
    check(tree, kind, options, 2);
  }
}

TEST_CASE("multi-scale: sizes depend on seed, epoch and batch alone, and are as frequent",
          "[loader][host]") {
  const auto sizes = make_image_decoder(with(three))->sizes();
  REQUIRE(sizes);
  CHECK(sizes->largest() == image_size{48, 40});
  CHECK_FALSE(sizes->depends_on_samples());
  std::map<std::uint32_t, int> counts;
  int same_in_other_epoch = 0;
  int same_with_other_seed = 0;
  for (std::uint64_t batch = 0; batch < 30'000; ++batch) {
    const image_size size = sizes->of({.seed = 3, .epoch = 7, .number = batch});
    ++counts[size.height];
    same_in_other_epoch += size == sizes->of({.seed = 3, .epoch = 8, .number = batch}) ? 1 : 0;
    same_with_other_seed += size == sizes->of({.seed = 4, .epoch = 7, .number = batch}) ? 1 : 0;
  }
  for (const auto& [height, count] : counts) CHECK(std::abs(count - 10'000) < 400);
  CHECK(std::abs(same_in_other_epoch - 10'000) < 400);
  CHECK(std::abs(same_with_other_seed - 10'000) < 400);
}

TEST_CASE("multi-scale: batches after resuming are the same, and ranks have the same sizes",
          "[loader][host]") {
  const photo_tree tree{48};
  const auto data = opened(tree, with(three));
  const shuffle order{.seed = 2};
  loader_options options = transformed();
  options.seed = 9;
  const auto all = delivered(data, on::host, order, options);
  loader first{data, order, make_host_device(), options};
  std::uint64_t taken = 0;
  loader_state state;
  for (const batch& each : first.epoch(0)) {
    (void)each;
    state = first.state();
    if (++taken == 3) break;
  }
  const auto rest = delivered(data, on::host, order, options, 2, &state);
  REQUIRE(state.batch == 3);
  CHECK((rest == std::vector<seen_batch>{all.begin() + 3, all.end()}));

  std::vector<std::vector<seen_batch>> ranks;
  for (const int rank : {0, 1}) {
    options.shard = {.rank = rank, .world = 2};
    ranks.push_back(delivered(data, on::scripted, order, options));
  }
  REQUIRE(ranks[0].size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(ranks[0][i].size(2) == ranks[1][i].size(2));
    CHECK(ranks[0][i].samples != ranks[1][i].samples);
  }
}

TEST_CASE("multi-scale: a replacement sample has the size of its batch", "[loader][host]") {
  const photo_tree tree;
  tree.add(7, byte_vector(100));
  const auto data = opened(tree, with(three));
  for (const on kind : {on::host, on::scripted})
    for (const bool transforms : {false, true}) {
      loader_options options = transforms ? transformed() : loader_options{.batch_size = 8};
      options.errors = {.action = error_action::substitute, .substitute = 3};
      for (const image_size& size : three) {
        const auto batches = delivered(data, kind, shuffle{}, options);
        const auto same = delivered(opened(tree, fixed(size)), kind, shuffle{}, options);
        REQUIRE(batches.size() == same.size());
        for (std::size_t i = 0; i < batches.size(); ++i)
          if (batches[i].size(transforms ? 2 : 1) == size) CHECK(batches[i] == same[i]);
      }
      options.errors = {.action = error_action::skip};
      const auto skipped = delivered(data, kind, shuffle{}, options);
      CHECK(skipped.back().samples.size() == 7);
    }
}

TEST_CASE("multi-scale: sizes go through compositions", "[loader][host]") {
  const photo_tree tree;
  const auto data = opened(tree, with(three));
  const loader_options options{.batch_size = 4};
  const auto alone = delivered(data, on::host, sequential{}, options, 1);
  const auto check_first = [&](const dataset_ptr& composed, std::size_t field) {
    const auto batches = delivered(composed, on::host, sequential{}, options, 1);
    CHECK(batches.at(2).fields.at(field) == alone[2].fields[0]);
  };
  check_first(select(data, {{"label", {}}, {"image", "x"}}), 1);
  check_first(zip({select(data, {{"label", {}}}), select(data, {{"image", {}}})}), 1);
  check_first(subset(data, sample_index{0}, 30), 0);
  check_first(concatenate({data, data}), 0);
  // A select that must read all fields of what it selects from.
  check_first(select(subset(data, sample_index{0}, 20), {{"image", {}}}), 0);
  CHECK(contains(
      message_of<usage_error>([&] {
        (void)zip({data, select(opened(tree, with({{24, 24}, {32, 32}})), {{"image", "other"}})});
      }),
      "a batch has one size"));
  CHECK(contains(message_of<usage_error>([&] {
                   (void)map(data, {{"x", element_type::u8}}, [](auto, auto, auto) {});
                 }),
                 "differs from batch to batch"));
}

TEST_CASE("multi-scale: images of shards and records have the sizes of those of folders",
          "[loader][host]") {
  const photo_tree tree{20};
  const auto decoder = make_image_decoder(with(three));
  const loader_options options{.batch_size = 4};
  const auto alone = delivered(opened(tree, with(three)), on::host, sequential{}, options, 1);
  tar_bytes shard;
  byte_vector records;
  for (std::uint64_t i = 0; i < tree.count(); ++i) {
    const byte_vector file = png_bytes(photo(i));
    shard.add(std::to_string(100 + i) + ".png", file);
    shard.add(std::to_string(100 + i) + ".cls", "7");
    records = joined(
        {records, tfrecord::framed(tfrecord::example({{"image", tfrecord::bytes_feature({file})},
                                                      {"label", tfrecord::int64_feature({7})}}))});
  }
  const temporary_directory folder;
  const auto tar = open_tar({folder.write("a.tar", shard.ended()).string()},
                            {{"label", {"cls"}, decode_decimal()}, {"image", {"png"}, decoder}});
  const auto examples = open_tfrecord({folder.write("a.tfrecord", records).string()},
                                      {.fields = {"label", "image"}, .image = decoder});
  for (const auto& data : {tar, examples}) {
    REQUIRE(data->fields()[1].by_batch);
    const auto batches = delivered(data, on::scripted, sequential{}, options, 1);
    REQUIRE(batches.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(batches[i].fields[1] == alone[i].fields[0]);
  }
  // Padding needs the sizes of all files, which shards do not have.
  const auto padded = open_tar({folder.path() / "a.tar"},
                               {{"image", {"png"}, make_image_decoder({.fit = image_fit::pad})}});
  CHECK(contains(message_of<usage_error>([&] {
                   loader{padded, sequential{}, make_host_device(), options};
                 }),
                 "does not know the sizes of batches"));
}

TEST_CASE("multi-scale: statistics count the bytes of the batches that there were",
          "[loader][host]") {
  const photo_tree tree;
  loader loading{opened(tree, with(three)), shuffle{}, make_host_device(), {.batch_size = 8}};
  std::uint64_t bytes = 0;
  for (const batch& each : loading.epoch(0))
    for (std::size_t i = 0; i < each.field_count(); ++i) bytes += each.field_at(i).bytes().size();
  CHECK(loading.statistics().consumer.bytes == bytes);
  CHECK(loading.statistics().reader.bytes == bytes);
  CHECK(loading.statistics().pixels == 0);  // nothing is padded
}

TEST_CASE("multi-scale: a user's function sees the size of each batch", "[loader][host]") {
  const photo_tree tree;
  std::vector<image_size> seen_sizes;
  loader_options options{.batch_size = 8};
  options.expert.batches_per_slot = 2;
  options.expert.batch_transform = batch_transform{
      .fields = {{"pixels", element_type::u32}}, .run = [&](const batch_function_call& call) {
        const auto shape = call.in[0].shape();
        const auto pixels = static_cast<std::uint32_t>(shape[1] * shape[2]);
        CHECK(call.in[0].bytes().size() == call.samples * pixels * 3);
        for (std::size_t i = 0; i < call.samples; ++i)
          std::memcpy(call.out[0].data() + i * sizeof pixels, &pixels, sizeof pixels);
      }};
  const auto given = delivered(opened(tree, with(three)), on::scripted, shuffle{}, options, 1);
  const auto plain =
      delivered(opened(tree, with(three)), on::host, shuffle{}, {.batch_size = 8}, 1);
  REQUIRE(given.size() == plain.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::uint32_t pixels = 0;
    std::memcpy(&pixels, given[i].fields[0].bytes.data(), sizeof pixels);
    CHECK(pixels == plain[i].size().pixels());
  }
}

TEST_CASE("multi-scale: what does not fit is refused", "[loader][host]") {
  const photo_tree tree;
  const auto data = opened(tree, with(three));
  CHECK(to_string(data->fields()[0]) == "image: uint8[up to 48, up to 40, 3]");
  const scripted there;
  const auto refused = [&](const loader_options& options) {
    return message_of<usage_error>([&] { loader{data, shuffle{}, there.device, options}; });
  };
  const auto transform = [](field_transform one) {
    return loader_options{.batch_size = 4, .transforms = {std::move(one)}};
  };
  using enum image_layout;
  CHECK(contains(refused(transform({.field = "image"})), "layout is not set"));
  CHECK(contains(refused(transform({.field = "image", .layout = chw})), "layout is not the one"));
  CHECK(
      contains(refused(transform(
                   {.field = "image", .layout = hwc, .crop = image_crop{.height = 8, .width = 8}})),
               "let the decoder cut"));
  CHECK(
      contains(refused(transform({.field = "image", .layout = hwc, .resize = image_resize{8, 8}})),
               "let the decoder cut"));
  CHECK(contains(refused({.batch_size = 4,
                          .transforms = {{.field = "image", .layout = hwc}},
                          .mixing = mixing{.image = "image", .mixup_alpha = 0.2}}),
                 "differs from batch to batch"));
  CHECK(contains(refused({.batch_size = 4, .placement = placement::resident}),
                 "differ from epoch to epoch"));
  CHECK(contains(message_of<usage_error>([] {
                   (void)make_image_decoder(with({{0, 4}}));
                 }),
                 "image_options::sizes"));
  CHECK(contains(message_of<usage_error>([] { (void)square_sizes(4, 2); }), "square_sizes"));
  CHECK(square_sizes(320, 640, 32).size() == 11);
}

namespace {

/// A user's dataset of sized images, whose function may be wrong.
class own_sizes final : public dataset {
 public:
  class table final : public batch_sizes {
   public:
    explicit table(image_size third) : third_{third} {}
    image_size largest() const override { return {4, 5}; }
    bool depends_on_samples() const override { return true; }
    image_size of(const sized_batch& batch) const override {
      if (batch.number == 2) return third_;
      return {static_cast<std::uint32_t>(batch.samples.size()), 2};
    }

   private:
    image_size third_;
  };

  explicit own_sizes(image_size third) : sizes_{std::make_shared<table>(third)} {}
  std::uint64_t size() const override { return 14; }
  std::vector<field> fields() const override {
    return {{.name = "x",
             .type = element_type::u8,
             .shape = {2, 4, 5},
             .by_batch = size_by_batch{.layout = image_layout::chw}}};
  }
  bool varies_by_epoch() const override { return true; }
  batch_sizes_ptr sizes() const override { return sizes_; }

 private:
  void do_read(const read_request& request) const override {
    const std::size_t row = sample_bytes(fields()[0], request.context.size());
    for (std::size_t i = 0; i < request.samples.size(); ++i)
      std::ranges::fill(request.out[0].subspan(i * row, row),
                        static_cast<std::byte>(request.samples[i].value));
  }

  batch_sizes_ptr sizes_;
};

}  // namespace

TEST_CASE("sized batches: a user's dataset gives its own sizes, and wrong ones are refused",
          "[loader][host]") {
  const auto batches = delivered(std::make_shared<own_sizes>(image_size{4, 5}), on::scripted,
                                 sequential{}, {.batch_size = 4}, 1);
  REQUIRE(batches.size() == 4);
  CHECK((batches[0].fields[0].shape == std::vector<std::uint64_t>{4, 2, 4, 2}));
  CHECK((batches[2].fields[0].shape == std::vector<std::uint64_t>{4, 2, 4, 5}));
  CHECK((batches[3].fields[0].shape == std::vector<std::uint64_t>{2, 2, 2, 2}));
  CHECK(batches[3].fields[0].bytes[7] == std::byte{12});
  CHECK(batches[3].fields[0].bytes[8] == std::byte{13});
  for (const image_size wrong : {image_size{5, 5}, image_size{0, 3}, image_size{4, 6}})
    CHECK(contains(message_of<stage_error>([&] {
                     (void)delivered(std::make_shared<own_sizes>(wrong), on::scripted, sequential{},
                                     {.batch_size = 4, .readers = 1}, 1);
                   }),
                   "batch_sizes::of gives batch 2"));
}
