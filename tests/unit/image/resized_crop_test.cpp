/// Windows of images as they are stored: `image_options::resized_crop`.

#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "image/random_crop.hpp"
#include "image/resize/resampler.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"
#include "unit/image/decoded_images.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::image_box;
using detail::image_extents;
using detail::random_crop;

namespace {

const image_options cut{.height = 12, .width = 10, .resized_crop = crop_ranges{}};

sample_context in_epoch(std::uint64_t epoch, std::uint64_t sample = 0, std::uint64_t seed = 0) {
  return {.seed = seed, .epoch = epoch, .sample = {sample}, .position = position{sample}};
}

std::vector<std::uint8_t> decoded(const byte_vector& file, const image_options& options,
                                  const sample_context& context) {
  const decoder_ptr decoder = make_image_decoder(options);
  const field spec = decoder->describe(file);
  std::vector<std::uint8_t> out(sample_bytes(spec));
  decoder->decode(file, spec, std::as_writable_bytes(std::span{out}), context);
  return out;
}

/// torchvision's way: the window is cut out of all pixels, and then resized.
std::vector<std::uint8_t> cut_and_resized(const pixels& from, const image_box& window,
                                          image_extents wanted, interpolation filter) {
  detail::pixel_image part;
  part.resize(window.extents);
  for (std::uint32_t y = 0; y < window.extents.height; ++y)
    for (std::uint32_t x = 0; x < window.extents.width; ++x)
      for (std::uint32_t c = 0; c < 3; ++c)
        part.data()[(std::size_t{y} * window.extents.width + x) * 3 + c] =
            from.at(window.top + y, window.left + x, from.channels == 1 ? 0 : c);
  std::vector<std::uint8_t> out(wanted.pixels() * 3);
  detail::resampler{filter}.resize(part, {wanted, 0, 0, wanted}, image_layout::hwc,
                                   std::as_writable_bytes(std::span{out}));
  return out;
}

class crop_tree {
 public:
  crop_tree() {
    for (const char* const name : {"a", "b"})
      std::filesystem::create_directory(folder_.path() / name);
    for (std::uint32_t i = 0; i < images; ++i) folder_.write(name_of(i), image_file(i));
  }
  static std::string name_of(std::uint32_t number) {
    return (number < images / 2 ? "a/" : "b/") + std::to_string(100 + number) + ".jpg";
  }
  void write(std::uint32_t number, std::span<const std::byte> bytes) const {
    folder_.write(name_of(number), bytes);
  }
  dataset_ptr open(const image_options& options = cut) const {
    return open_image_folder(folder_.path(), {.image = options}).dataset;
  }

 private:
  temporary_directory folder_;
};

}  // namespace

TEST_CASE("resized crop: pixels are those of a window that is cut out, then resized",
          "[dataset][host]") {
  const image_extents wanted{40, 32};
  const image_options options{.height = wanted.height,
                              .width = wanted.width,
                              .resized_crop = crop_ranges{.scale = {0.001, 1}},
                              .reduced_decoding = false};
  const random_crop crop{*options.resized_crop};
  const std::uint32_t channels = GENERATE(1U, 3U, 4U);
  const auto style =
      GENERATE(jpeg_style{}, jpeg_style{.luma_across = 2, .luma_down = 1},
               jpeg_style{.halves_chroma = false}, jpeg_style{.luma_across = 1, .luma_down = 2},
               jpeg_style{.is_progressive = true}, jpeg_style{.luma_across = 4, .luma_down = 1},
               jpeg_style{.restart_interval = 3});
  if (channels != 3 && style.luma_across != 0) return;
  for (const auto& [height, width] : {std::pair{97U, 130U}, std::pair{16U, 250U}}) {
    const byte_vector file = jpeg_bytes(paint(height, width, channels), style);
    pixels all = decode_jpeg(file);
    if (channels == 4) {  // ink: the decoder's own colors
      all.channels = 3;
      all.values = decoded(file, {.height = height, .width = width}, {});
    }
    for (std::uint64_t epoch = 0; epoch < 60; ++epoch) {
      const image_box window = crop.draw({height, width}, in_epoch(epoch));
      CAPTURE(channels, height, width, window.top, window.left, window.extents.height,
              window.extents.width);
      CHECK((decoded(file, options, in_epoch(epoch)) ==
             cut_and_resized(all, window, wanted, options.interpolation)));
    }
  }
}

TEST_CASE("resized crop: a PNG's pixels are those of its window", "[dataset][host]") {
  const auto filter =
      GENERATE(interpolation::bilinear, interpolation::bicubic, interpolation::nearest);
  const image_options options{
      .height = 24, .width = 31, .resized_crop = crop_ranges{}, .interpolation = filter};
  const pixels all = paint(60, 75);
  const random_crop crop{crop_ranges{}};
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch)
    CHECK((decoded(png_bytes(all), options, in_epoch(epoch)) ==
           cut_and_resized(all, crop.draw({60, 75}, in_epoch(epoch)), {24, 31},
                           options.interpolation)));
}

TEST_CASE("resized crop: damage outside of the window is found", "[dataset][host]") {
  const image_options options{.height = 8, .width = 8, .resized_crop = crop_ranges{{0.01, 0.02}}};
  const auto style = GENERATE(jpeg_style{}, jpeg_style{.is_progressive = true});
  byte_vector file = jpeg_bytes(paint(200, 220), style);
  const auto half = file.begin() + static_cast<std::ptrdiff_t>(file.size() / 2);
  byte_vector corrupted = file;
  corrupted[file.size() * 9 / 10] = std::byte{0xFF};  // a marker in the midst of the data
  corrupted[file.size() * 9 / 10 + 1] = std::byte{0xC4};
  file.erase(half, file.end());
  for (std::uint64_t epoch = 0; epoch < 30; ++epoch) {
    CHECK_THROWS_AS(decoded(file, options, in_epoch(epoch)), dataset_error);
    CHECK_THROWS_AS(decoded(corrupted, options, in_epoch(epoch)), dataset_error);
  }
}

TEST_CASE("resized crop: a window much larger than wanted may be decoded at less than full size",
          "[dataset][host]") {
  const byte_vector file = jpeg_bytes(paint(701, 905), {.quality = 95});
  std::array<int, 9> times{};
  for (std::uint64_t epoch = 0; epoch < 60; ++epoch) {
    const double share = std::array{0.004, 0.03, 0.1, 0.7}[epoch % 4];
    const image_options options{.height = 40,
                                .width = 40,
                                .resized_crop = crop_ranges{.scale = {share, 1.4 * share}},
                                .reduced_decoding = true};
    const random_crop crop{*options.resized_crop};
    const image_box window = crop.draw({701, 905}, in_epoch(epoch));
    for (const unsigned eighths : {1U, 2U, 4U, 8U}) {
      const auto at = [&](std::uint32_t edge, std::uint32_t side) {  // the nearest pixel's edge
        const double exact = edge * eighths / 8.0;
        return static_cast<std::uint32_t>(edge == side ? std::ceil(exact)
                                                       : std::floor(exact + 0.5));
      };
      image_box part{at(window.top, 701), at(window.left, 905), {}};
      part.extents = {at(window.top + window.extents.height, 701) - part.top,
                      at(window.left + window.extents.width, 905) - part.left};
      if (eighths < 8 && std::min(part.extents.height, part.extents.width) < 40) continue;
      ++times[eighths];
      CAPTURE(epoch, eighths, window.top, window.left);
      CHECK((decoded(file, options, in_epoch(epoch)) ==
             cut_and_resized(decode_jpeg(file, eighths), part, {40, 40}, options.interpolation)));
      break;
    }
  }
  for (const std::size_t eighths : {1U, 2U, 4U, 8U}) CHECK(times[eighths] > 0);
}

TEST_CASE("resized crop: options that contradict it are refused", "[dataset][host]") {
  const auto message = [](const image_options& options) {
    return message_of<usage_error>([&] { (void)make_image_decoder(options); });
  };
  CHECK(message({.shorter_side = 256, .resized_crop = crop_ranges{}}) ==
        "image_options::resized_crop and shorter_side are set: each says which part of an image "
        "becomes a sample; set one");
  CHECK(message({.resized_crop = crop_ranges{.scale = {0, 1}}}) ==
        "image_options::resized_crop.scale is 0.000000 to 1.000000, but it is a range of shares of "
        "the image's area, above 0 and up to 1");
  CHECK(message({.resized_crop = crop_ranges{.ratio = {2, 1}}}) ==
        "image_options::resized_crop.ratio is 2.000000 to 1.000000, but it is a range of width "
        "over height, within 0.001 to 1000");
  const double none = std::nan("");
  CHECK(contains(message({.resized_crop = crop_ranges{.scale = {none, 1}}}), "scale is nan"));
  CHECK(contains(message({.resized_crop = crop_ranges{.ratio = {1, none}}}), "to nan"));
}

TEST_CASE("resized crop: samples vary by epoch, so nothing keeps them", "[dataset][host]") {
  const crop_tree tree;
  const dataset_ptr data = tree.open();
  CHECK(data->varies_by_epoch());
  CHECK(!tree.open(small)->varies_by_epoch());
  CHECK(contains(message_of<usage_error>([&] { (void)load_into_memory(data); }),
                 "differ from epoch to epoch"));
  for (const placement where : {placement::resident, placement::cached, placement::gather}) {
    const scripted on;
    const auto words = message_of<usage_error>([&] {
      (void)loader{data, sequential{}, on.device, {.batch_size = 4, .placement = where}};
    });
    CHECK(contains(words, "choose placement::stream"));
  }
}

TEST_CASE("resized crop: a device is given each image's window, and decodes what readers decode",
          "[dataset][host]") {
  const crop_tree tree;
  const dataset_ptr data = tree.open();
  const random_crop crop{crop_ranges{}};
  for (std::uint32_t i = 0; i < images; ++i) {
    if (is_for_readers(i)) continue;
    const auto first = given(data, i, in_epoch(0, i));
    const image_box window = crop.draw({20 + i, 25 + i % 7}, in_epoch(0, i));
    CHECK(first.window == source_window{static_cast<std::uint16_t>(window.top),
                                        static_cast<std::uint16_t>(window.left),
                                        static_cast<std::uint16_t>(window.extents.height),
                                        static_cast<std::uint16_t>(window.extents.width)});
    CHECK(given(data, i, in_epoch(1, i)).window != first.window);
  }
  const int readers = GENERATE(0, 1, 4);
  const loader_options options{.batch_size = 7, .readers = readers, .seed = 9};
  check_same(data, shuffle{.seed = 4}, options, 3);
  check_same(data, drawn(), options, 2);
  check_same(subset(data, {{30}, {2}, {3}, {2}, {11}, {39}, {0}}), shuffle{.seed = 4}, options);
  CHECK(deliver(data, decode_on::device, sequential{}, options, 3).error == std::nullopt);
}

TEST_CASE("resized crop: windows are of the epoch, the sample and the seed alone",
          "[loader][host]") {
  const crop_tree tree;
  const dataset_ptr data = tree.open();
  const loader_options options{.batch_size = 8, .readers = 1, .seed = 9};
  const run one = deliver(data, decode_on::cpu, sequential{}, options, 2);
  for (const int readers : {0, 4}) {
    loader_options others = options;
    others.readers = readers;
    CHECK(deliver(data, decode_on::cpu, sequential{}, others, 2).fields == one.fields);
    CHECK(deliver(data, decode_on::device, sequential{}, others, 2).fields == one.fields);
  }
  loader_options seeded = options;
  seeded.seed = 10;
  CHECK(deliver(data, decode_on::cpu, sequential{}, seeded, 2).fields != one.fields);
  const std::size_t an_epoch = one.fields.size() / 2;
  CHECK(one.fields[0] != one.fields[an_epoch]);
  CHECK(one.fields[1] == one.fields[an_epoch + 1]);  // labels
}

TEST_CASE("resized crop: ranks, and a run that resumes, get the windows of a whole run",
          "[loader][host]") {
  const crop_tree tree;
  const dataset_ptr data = tree.open();
  const decode_on who = GENERATE(decode_on::cpu, decode_on::device);
  const loader_options options{.batch_size = 4, .readers = 2, .seed = 9};
  const sampler order = shuffle{.seed = 6};
  const run all = deliver(data, who, order, options, 2);
  REQUIRE(all.error == std::nullopt);
  for (const int rank : {0, 1}) {
    loader_options part = options;
    part.batch_size = 2;
    part.shard = {.rank = rank, .world = 2};
    const run seen = deliver(data, who, order, part, 2);
    REQUIRE(seen.fields.size() == all.fields.size());
    for (std::size_t i = 0; i < seen.fields.size(); ++i) {
      const auto half = static_cast<std::ptrdiff_t>(all.fields[i].size() / 2);
      const auto begin = all.fields[i].begin() + rank * half;
      CHECK(seen.fields[i] == std::vector<std::byte>(begin, begin + half));
    }
  }
  const scripted on;
  loader left = make(on, data, who, order, options);
  run seen;
  consume(left, on, 0, 3, seen);
  loader other = make(on, data, who, order, options);
  other.seek(left.state());
  for (std::uint64_t epoch = other.state().epoch; epoch < 2; ++epoch)
    consume(other, on, epoch, UINT64_MAX, seen);
  CHECK(seen.fields == all.fields);
}

TEST_CASE("resized crop: an unreadable image is replaced by one with its own window",
          "[loader][host]") {
  const crop_tree tree;
  const error_policy errors = GENERATE(error_policy{.action = error_action::skip},
                                       error_policy{.action = error_action::substitute});
  const loader_options options{.batch_size = 4, .readers = 1, .seed = 9, .errors = errors};
  const run whole = deliver(tree.open(), decode_on::cpu, sequential{}, options, 2);
  tree.write(13, byte_vector(500));
  const run one = deliver(tree.open(), decode_on::cpu, sequential{}, options, 2);
  REQUIRE(one.error == std::nullopt);
  loader_options others = options;
  others.readers = 4;
  CHECK(deliver(tree.open(), decode_on::cpu, sequential{}, others, 2).fields == one.fields);
  // Images, then labels; sample 13 is the second of batch 3. The substitute is sample 0.
  const std::uint32_t by = errors.action == error_action::skip ? images - 1 : 0;
  constexpr std::ptrdiff_t row = 12 * 10 * 3;
  const std::vector<std::byte>& of = whole.fields[by / 4 * 2];
  const auto begin = of.begin() + by % 4 * row;
  const auto replaced = one.fields[6].begin() + row;
  CHECK(std::equal(begin, begin + row, replaced));
}
