/// Folders of images as a device decodes them: the same batches and errors as readers give.

#include <feedline/dataset/select.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>
#include <feedline/image/folder.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/sampler/weighted.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"
#include "unit/image/decoded_images.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Two classes of images.
class image_tree {
 public:
  image_tree() {
    for (const char* const name : {"a", "b"})
      std::filesystem::create_directory(folder_.path() / name);
    for (std::uint32_t i = 0; i < images; ++i) write(i, image_file(i));
  }

  const std::filesystem::path& root() const { return folder_.path(); }
  std::string name_of(std::uint32_t number) const {
    return (number < images / 2 ? "a/" : "b/") + std::to_string(100 + number) + ".jpg";
  }
  void write(std::uint32_t number, std::span<const std::byte> bytes) const {
    folder_.write(name_of(number), bytes);
  }
  dataset_ptr open(const image_options& options = small) const {
    return open_image_folder(root(), {.image = options}).dataset;
  }

 private:
  temporary_directory folder_;
};

}  // namespace

TEST_CASE("image blocks: a folder is of PNGs where the files that are looked at are",
          "[dataset][host]") {
  const auto format_of = [](std::vector<std::size_t> jpegs) {
    const temporary_directory folder;
    std::filesystem::create_directory(folder.path() / "a");
    for (std::size_t i = 0; i < 5; ++i) {
      const bool is_jpeg = std::ranges::count(jpegs, i) != 0;
      folder.write("a/" + std::to_string(i) + ".png",
                   is_jpeg ? jpeg_bytes(paint(8, 9)) : png_bytes(paint(8, 9)));
    }
    const dataset_ptr data = open_image_folder(folder.path(), {.image = small}).dataset;
    return data->encoded()->stored(0, 3).format;
  };
  CHECK(format_of({}) == image_format::png);
  CHECK(format_of({0}) == image_format::jpeg);
  CHECK(format_of({2}) == image_format::jpeg);
  CHECK(format_of({4}) == image_format::jpeg);
  CHECK(format_of({0, 1, 2, 3, 4}) == image_format::jpeg);
}

TEST_CASE("image blocks: a PNG's block says how many bits its pixels have", "[dataset][host]") {
  const auto bits_of = [](std::uint32_t channels, int depth) {
    const byte_vector file = png_bytes(paint(8, 9, channels), {.bit_depth = depth});
    const auto stored = make_image_decoder(small)->for_device(file, {});
    REQUIRE(stored);
    return static_cast<int>(stored->pixel_bits);
  };
  CHECK(bits_of(1, 8) == 8);
  CHECK(bits_of(3, 8) == 24);
  CHECK(bits_of(3, 16) == 48);
  CHECK(bits_of(4, 16) == 64);
}

TEST_CASE("image blocks: files that devices take come as they are, others as rows",
          "[dataset][host]") {
  const image_tree tree;
  const dataset_ptr data = tree.open();
  check_encoded(*data);
  const auto blocks = data->encoded();
  CHECK(blocks->rows() == 1);
  REQUIRE(blocks->steps(0).size() == 1);
  CHECK(blocks->steps(0).front() ==
        block_step{.filter = block_filter::image,
                   .image = {.height = 12, .width = 10, .shorter_side = 14}});
  CHECK(blocks->steps(1).empty());
  for (std::uint32_t i = 0; i < images; ++i) {
    const auto stored = given(data, i);
    const bool is_row = is_for_readers(i);
    CHECK(stored.skipped == (is_row ? 1 : 0));
    CHECK(stored.bytes == (is_row ? 12 * 10 * 3 : image_file(i).size()));
    CHECK(stored.height == (is_row ? 0 : 20 + i));
    CHECK(stored.width == (is_row ? 0 : 25 + i % 7));
    CHECK((stored.format == image_format::png) == (i % 5 == 0));
  }
}

TEST_CASE("image blocks: files with stray bytes before the scan are counted and reported",
          "[dataset][host]") {
  const image_tree tree;
  auto before = image_file(2);
  before.insert(before.begin() + 20, 2, std::byte{0});  // after JFIF's segment
  tree.write(2, before);
  auto after = image_file(3);
  after.insert(after.end() - 2, 40, std::byte{0});
  tree.write(3, after);
  const log_capture captured;
  image_options options = small;
  options.damaged_images = std::make_shared<std::atomic<std::uint64_t>>(0);
  const dataset_ptr data = tree.open(options);
  CHECK(given(data, 2).skipped == 0);
  CHECK(*options.damaged_images == 1);
  CHECK(
      contains(captured.text(),
               "damaged JPEGs taken as libjpeg repairs them: 1; the last: stray bytes between its "
               "segments"));
  CHECK(given(data, 4).skipped == 0);
  CHECK(given(data, 3).skipped == 0);
  CHECK(*options.damaged_images == 1);  // the device reads past bytes after the scan
  CHECK(given(data, 3).bytes == after.size());
}

TEST_CASE("image blocks: large files and images of many pixels come as rows", "[dataset][host]") {
  const image_tree tree;
  auto padded = image_file(2);
  padded.resize((8U << 20) + 1);
  tree.write(2, padded);
  padded.resize(8U << 20);
  tree.write(3, padded);
  tree.write(4, jpeg_bytes(paint(4097, 4096), {.quality = 5}));
  auto claims_more = image_file(2);  // and is not decoded here
  const std::array<std::byte, 2> begins{std::byte{0xFF}, std::byte{0xC0}};
  const auto frame =
      std::search(claims_more.begin(), claims_more.end(), begins.begin(), begins.end());
  REQUIRE(claims_more.end() - frame > 9);
  for (const int at : {5, 7}) frame[at] = std::byte{0x10};  // 4096 high and wide
  for (const int at : {6, 8}) frame[at] = std::byte{0};
  tree.write(7, claims_more);
  const dataset_ptr data = tree.open();
  CHECK(data->encoded()->max_stored_bytes(0) == 8U << 20);
  CHECK(data->encoded()->stored(0, 2).bytes == 12 * 10 * 3);
  CHECK(given(data, 2).skipped == 1);
  CHECK(given(data, 3).skipped == 0);
  CHECK(given(data, 4).skipped == 1);
  CHECK(given(data, 7).skipped == 0);
  CHECK(given(data, 7).height == 4096);
  image_options few = small;
  few.max_pixels = 28 * 26;
  CHECK(given(tree.open(few), 8).skipped == 0);
  CHECK_THROWS_AS(given(tree.open(few), 12), dataset_error);
}

TEST_CASE("image blocks: grey images come as they are", "[dataset][host]") {
  const image_tree tree;
  tree.write(2, jpeg_bytes(paint(40, 50, 1)));
  CHECK(given(tree.open(), 2).skipped == 0);
}

TEST_CASE("image blocks: interlaced and very large PNGs come as rows, palettes are reported once",
          "[dataset][host]") {
  const image_tree tree;
  tree.write(2, png_bytes(paint(40, 50), {.is_interlaced = true}));
  tree.write(3, png_bytes(paint(2897, 2897, 1), {.bit_depth = 1}));  // 8 megapixels and some
  tree.write(4, png_bytes(paint(2896, 2896, 1), {.bit_depth = 1}));
  for (const std::uint32_t number : {7U, 8U})
    tree.write(number, png_bytes(paint(40, 50, 1), {.has_palette = true}));
  const dataset_ptr data = tree.open();
  CHECK(given(data, 2).skipped == 1);
  CHECK(given(data, 3).skipped == 1);
  CHECK(given(data, 4).skipped == 0);
  const log_capture captured;
  CHECK(given(data, 7).skipped == 0);
  CHECK(given(data, 8).skipped == 0);
  CHECK(captured.lines() == 1);
  CHECK(contains(captured.text(), "a PNG of 50 x 40 pixels has a palette"));
}

TEST_CASE("image blocks: the log has the kind of images that are left to readers, and their number",
          "[dataset][host]") {
  const image_tree tree;
  tree.write(2, png_bytes(paint(40, 50), {.is_interlaced = true}));
  tree.write(3, jpeg_bytes(paint(40, 50), {.is_progressive = true}));
  tree.write(4, jpeg_bytes(paint(40, 50)));
  const auto told = [&](std::uint32_t number, int times) {
    const dataset_ptr data = tree.open();
    const log_capture captured{spdlog::level::info};
    for (int i = 0; i < times; ++i) (void)given(data, number);
    return captured.text();
  };
  CHECK(contains(told(2, 1),
                 "leaves 1 to readers, which decode them more slowly; the last is an "
                 "interlaced PNG"));
  CHECK(contains(told(3, 1), "the last is a progressive JPEG; loader_statistics::decoded"));
  CHECK(told(4, 1).empty());
  CHECK(contains(told(3, 10), "leaves 10 to readers"));
  CHECK_FALSE(contains(told(3, 10), "leaves 9 to readers"));
}

TEST_CASE("image blocks: a file that has changed since its size was asked is read as it is now",
          "[dataset][host]") {
  const image_tree tree;
  const dataset_ptr data = tree.open();
  const std::size_t room = data->encoded()->stored(0, 2).bytes;
  tree.write(2, jpeg_bytes(paint(300, 300)));
  tree.write(3, {});
  CHECK(data->encoded()->stored(0, 2).bytes == room);
  CHECK(given(data, 2).skipped == 1);
  const auto smaller = jpeg_bytes(paint(8, 8));
  REQUIRE(smaller.size() < data->encoded()->stored(0, 4).bytes);
  tree.write(4, smaller);
  CHECK(given(data, 4).skipped == 0);
  CHECK(stored_bytes(*data->encoded(), 0, 4) == smaller);
  CHECK(message_of<dataset_error>([&] { (void)given(data, 3); }) ==
        (tree.root() / tree.name_of(3)).string() +
            ": field 'image', sample 3: the image cannot be decoded: it is empty");
}

TEST_CASE(
    "image blocks: sizes are asked when a device is to decode, not when its abilities are asked",
    "[dataset][host]") {
  const image_tree tree;
  const dataset_ptr data = tree.open();
  const auto blocks = data->encoded();
  CHECK(blocks->steps(0).front().filter == block_filter::image);
  const auto large = jpeg_bytes(paint(300, 300));
  tree.write(3, large);  // later than `encoded`
  CHECK(blocks->stored(0, 3).bytes == large.size());
  CHECK(blocks->max_stored_bytes(0) >= large.size());
}

TEST_CASE("images decoded on a device: batches are those that readers make", "[loader][host]") {
  const image_tree tree;
  const dataset_ptr data = tree.open();
  const sampler order = GENERATE_COPY(as<sampler>{}, sequential{}, shuffle{.seed = 4}, drawn());
  const std::uint64_t batch_size = GENERATE(1U, 7U, 64U);
  const int readers = GENERATE(0, 4);
  static combinations cases;
  if (!cases.takes_next()) return;
  CAPTURE(batch_size, readers);
  const loader_options options{.batch_size = batch_size, .readers = readers};
  check_same(data, order, options, 3);
  CHECK(deliver(data, decode_on::device, order, options).error == std::nullopt);
}

TEST_CASE("images decoded on a device: some samples, and some fields", "[loader][host]") {
  const image_tree tree;
  const loader_options options{.batch_size = 6, .readers = 2};
  check_same(subset(tree.open(), {{30}, {2}, {3}, {2}, {11}, {39}, {0}}), shuffle{.seed = 4},
             options);
  check_same(subset(tree.open(), sample_index{7}, 20), shuffle{.seed = 4}, options);
  check_same(select(tree.open(), {{"label"}, {"image", "picture"}}), shuffle{.seed = 4}, options);
  check_same(select(tree.open(), {"image"}), shuffle{.seed = 4}, options);
}

TEST_CASE("images decoded on a device: an epoch that is left, and a run that resumes",
          "[loader][host]") {
  const image_tree tree;
  const dataset_ptr data = tree.open();
  const sampler order = shuffle{.seed = 6};
  const loader_options options{.batch_size = 3, .readers = 2};
  const run all = deliver(data, decode_on::device, order, options, 2);
  const scripted on;
  loader left = make(on, data, decode_on::device, order, options);
  for (const std::uint64_t stop_at : {1U, 5U, 14U}) {
    run seen;
    consume(left, on, 0, stop_at, seen);
    loader other = make(on, data, decode_on::device, order, options);
    other.seek(left.state());
    for (std::uint64_t epoch = other.state().epoch; epoch < 2; ++epoch)
      consume(other, on, epoch, UINT64_MAX, seen);
    CAPTURE(stop_at);
    CHECK(seen.error == std::nullopt);
    CHECK(seen.fields == all.fields);
  }
}

TEST_CASE("images decoded on a device: a bad file has the error of a read on the CPU",
          "[loader][host]") {
  const image_tree tree;
  const dataset_ptr data = tree.open();
  if (GENERATE(true, false)) (void)data->encoded();  // sizes are asked before, or after
  const std::uint32_t number = GENERATE(0U, 1U, 13U, 39U);
  auto file = image_file(number);
  struct fault {
    const char* why;
    std::function<void()> make;
  };
  const std::vector<fault> faults{
      {"No such file", [&] { std::filesystem::remove(tree.root() / tree.name_of(number)); }},
      {"it is empty", [&] { tree.write(number, {}); }},
      {"no JPEG, PNG, WebP", [&] { tree.write(number, byte_vector(500)); }},
      {"decoded", [&] { tree.write(number, std::span{file}.first(file.size() / 2)); }},
  };
  for (const fault& each : faults) {
    CAPTURE(number, each.why);
    each.make();
    for (const sampler& order : {sampler{sequential{}}, sampler{shuffle{.seed = 2}}}) {
      const loader_options options{.batch_size = 4, .readers = 2};
      const run expected = deliver(data, decode_on::cpu, order, options);
      const run seen = deliver(data, decode_on::device, order, options);
      REQUIRE(expected.error);
      CHECK(contains(*expected.error, each.why));
      CHECK(contains(*expected.error, tree.name_of(number)));
      CHECK(seen.error == expected.error);
      CHECK(seen.fields == expected.fields);
    }
  }
}

TEST_CASE(
    "images decoded on a device: the plan says why readers decode, and nothing if they do not",
    "[loader][host]") {
  const image_tree tree;
  const auto note_of = [&](loader_options options) {
    const scripted on;
    options.decode_on = decode_on::device;
    options.placement = placement::stream;
    return loader{tree.open(), shuffle{.seed = 1}, on.device, options}.plan().decode_note;
  };
  CHECK(note_of({.batch_size = 4}).empty());
  CHECK(note_of({.batch_size = 4, .shard = {1, 2}}).empty());
  CHECK(note_of({.batch_size = 4, .partial_batch = partial_batch::fill}).empty());
  CHECK(contains(note_of({.batch_size = 4, .errors = {.retries = 1}}), "repeats reads"));
}

TEST_CASE(
    "images decoded on a device: a file refused for its size has the error of a read on the CPU",
    "[loader][host]") {
  const image_tree tree;
  tree.write(3, jpeg_bytes(paint(1, 20'000, 1)));
  const loader_options options{.batch_size = 4, .readers = 1};
  const auto error_of = [&](const image_options& image, decode_on who) {
    const dataset_ptr one = subset(tree.open(image), sample_index{3}, 1);
    return deliver(one, who, sequential{}, options).error.value_or("none");
  };
  const image_options large{.height = 12, .width = 10, .shorter_side = 60'000};
  const image_options few{.height = 12, .width = 10, .max_pixels = 19'999};
  CHECK(contains(error_of(large, decode_on::cpu), "too unequal"));
  CHECK(error_of(large, decode_on::device) == error_of(large, decode_on::cpu));
  CHECK(contains(error_of(few, decode_on::cpu), "more than 19999 are refused"));
  CHECK(error_of(few, decode_on::device) == error_of(few, decode_on::cpu));
}
