/// Images decoded by the GPU, against the CPU's decoder at full size. Kernels make the same bits.
/// JPEG engines differ: how much is bounded, and printed.

#include <feedline/cuda/device.hpp>
#include <feedline/device/block_decoder.hpp>
#include <feedline/error.hpp>
#include <feedline/image/decode.hpp>

#include "cuda/check.hpp"
#include "cuda/decode/decoders.hpp"
#include "cuda/decode/jpeg/nvjpeg.hpp"
#include "gpu/assembly/assembly_on_gpu.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/files/image_bytes.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::byte untouched{0x5A};

/// A file or a finished row as it arrives.
struct arriving_image {
  byte_vector stored;
  std::uint16_t height = 0;
  std::uint16_t width = 0;
  std::uint32_t skipped = 0;
};

arriving_image jpeg_of(std::uint16_t height, std::uint16_t width, std::uint32_t channels = 3,
                       const jpeg_style& style = {}) {
  return {jpeg_bytes(paint(height, width, channels, height + width), style), height, width};
}

/// Smooth colours: what decoders differ by stays small.
arriving_image smooth_jpeg(std::uint16_t height, std::uint16_t width) {
  pixels image{height, width, 3, std::vector<std::uint8_t>(std::size_t{3} * height * width)};
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    const std::size_t y = i / 3 / width;
    const std::size_t x = i / 3 % width;
    image.values[i] = static_cast<std::uint8_t>(
        128 + 100 * std::sin(0.02 * static_cast<double>(y + x * (i % 3 + 1))));
  }
  return {jpeg_bytes(image, {.quality = 95}), height, width};
}

/// Who decodes, and how far from the CPU's pixels.
struct decoding {
  detail::jpeg_way way;
  int most = 0;      ///< of 255
  double psnr = 98;  ///< dB; of equal pixels 99
};

/// Kernels, and engines where they are; says why they are not.
std::vector<decoding> decodings(int engines_most, double engines_psnr) {
  std::vector<decoding> all{{detail::jpeg_way::kernels}};
  const detail::jpeg_engines engines;
  if (engines.refusal().empty())
    all.push_back({detail::jpeg_way::engines, engines_most, engines_psnr});
  else
    std::printf("JPEG engines are not tried: %s\n", engines.refusal().c_str());
  return all;
}

struct decoded_images {
  std::vector<byte_vector> rows;
  std::vector<bool> good;
};

/// Decodes images to every second place, twice; what lies between the places must stay.
decoded_images decode_on_gpu(detail::jpeg_way way, const image_row& row,
                             const std::vector<arriving_image>& images) {
  const auto device = make_cuda_device(0);
  const gpu_stream stream;
  byte_vector memory;
  std::vector<block_load> loads;
  std::size_t largest = 1;
  for (const arriving_image& image : images) {
    loads.push_back({.place = static_cast<std::uint32_t>(2 * loads.size() + 1),
                     .bytes = static_cast<std::uint32_t>(image.stored.size()),
                     .at = static_cast<std::uint32_t>(memory.size() / 16),
                     .skipped = image.skipped,
                     .height = image.height,
                     .width = image.width});
    memory.insert(memory.end(), image.stored.begin(), image.stored.end());
    memory.resize((memory.size() + 15) / 16 * 16);
    largest = std::max(largest, image.stored.size());
  }
  const std::size_t loads_at = memory.size();
  const auto* const table = reinterpret_cast<const std::byte*>(loads.data());
  memory.insert(memory.end(), table, table + loads.size() * sizeof(block_load));
  const gpu_copy landing_buffer{device, memory};

  const std::size_t row_bytes = std::size_t{3} * row.height * row.width;
  const std::size_t places = 2 * images.size() + 1;
  const gpu_copy blocks{device, byte_vector(places * row_bytes, untouched)};
  const gpu_copy states{device, byte_vector(places * sizeof(std::uint32_t))};
  const auto decoder =
      detail::make_cuda_block_decoders(0, "cuda:0", way)
          ->make({.fields = {{.blocks = blocks.data(),
                              .block_bytes = row_bytes,
                              .steps = {{.filter = block_filter::jpeg, .image = row}},
                              .max_stored_bytes = largest}},
                  .states = reinterpret_cast<std::uint32_t*>(states.data()),
                  .places = static_cast<std::uint32_t>(places),
                  .rows = 1,
                  .max_loads = static_cast<std::uint32_t>(images.size()),
                  .reference = nullptr});
  for (int turn = 0; turn < 2; ++turn)
    decoder->decode({.landing_buffer = landing_buffer.data(),
                     .staged = memory.data(),
                     .loads_at = loads_at,
                     .loads = static_cast<std::uint32_t>(loads.size())},
                    stream.ref());
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));

  const byte_vector all = blocks.read_back();
  std::vector<std::uint32_t> seen(places);
  std::memcpy(seen.data(), states.read_back().data(), places * sizeof seen[0]);
  decoded_images result;
  for (std::size_t place = 0; place < places; ++place) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(place * row_bytes);
    const auto end = begin + static_cast<std::ptrdiff_t>(row_bytes);
    if (place % 2 == 0) {
      CHECK(std::all_of(begin, end, [](std::byte each) { return each == untouched; }));
    } else {
      result.rows.emplace_back(begin, end);
      result.good.push_back(seen[place] == 0);
    }
  }
  return result;
}

byte_vector decode_on_cpu(const image_row& row, const byte_vector& file) {
  const auto decoder = make_image_decoder({.height = row.height,
                                           .width = row.width,
                                           .shorter_side = row.shorter_side,
                                           .layout = row.layout,
                                           .reduced_decoding = false});
  byte_vector out(std::size_t{3} * row.height * row.width);
  decoder->decode(file, decoder->describe(file), out);
  return out;
}

struct difference {
  int most = 0;
  double mean = 0;
  double psnr = 99;
};

difference between(const byte_vector& a, const byte_vector& b) {
  difference found;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int apart = std::abs(static_cast<int>(a[i]) - static_cast<int>(b[i]));
    found.most = std::max(found.most, apart);
    found.mean += apart;
    squares += apart * apart;
  }
  const auto count = static_cast<double>(a.size());
  found.mean /= count;
  if (squares > 0) found.psnr = 10 * std::log10(255.0 * 255.0 * count / squares);
  return found;
}

/// Decodes on both sides, and compares all rows. @return The largest differences.
difference check_images(const std::string& what, const decoding& decoder, const image_row& row,
                        const std::vector<arriving_image>& images) {
  const decoded_images got = decode_on_gpu(decoder.way, row, images);
  difference worst;
  for (std::size_t i = 0; i < images.size(); ++i) {
    CAPTURE(what, i, images[i].height, images[i].width);
    CHECK(got.good[i]);
    const auto found = between(got.rows[i], decode_on_cpu(row, images[i].stored));
    worst.most = std::max(worst.most, found.most);
    worst.mean = std::max(worst.mean, found.mean);
    worst.psnr = std::min(worst.psnr, found.psnr);
  }
  const bool by_kernels = decoder.way == detail::jpeg_way::kernels;
  std::printf("%s, %s: at most %d apart, mean %.3f, PSNR %.1f dB\n", what.c_str(),
              by_kernels ? "kernels" : "engines", worst.most, worst.mean, worst.psnr);
  CAPTURE(what, by_kernels, worst.most, worst.mean, worst.psnr);
  CHECK(worst.most <= decoder.most);
  CHECK(worst.psnr > decoder.psnr);
  return worst;
}

}  // namespace

TEST_CASE("jpeg on the GPU: smooth images are those that the CPU decodes, by engines within 12",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::vector<arriving_image> images;
  for (const auto side : std::vector<std::uint16_t>{17, 64, 225, 500}) {
    images.push_back(smooth_jpeg(side, static_cast<std::uint16_t>(side + 31)));
    images.push_back(smooth_jpeg(static_cast<std::uint16_t>(side + 8), side));
  }
  for (const decoding& decoder : decodings(12, 38)) {
    check_images("hwc", decoder, {.height = 224, .width = 224}, images);
    check_images("chw", decoder, {.height = 100, .width = 61, .layout = image_layout::chw}, images);
    check_images("shorter side", decoder, {.height = 60, .width = 61, .shorter_side = 77}, images);
    check_images("as it is", decoder, {.height = 64, .width = 95}, {smooth_jpeg(64, 95)});
  }
}

TEST_CASE("jpeg on the GPU: photographs at 4:4:4 and 4:2:0, of odd sizes, are decoded",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const image_row row{.height = 96, .width = 96};
  for (const bool halves : {false, true}) {
    std::vector<arriving_image> images;
    for (const auto side : std::vector<std::uint16_t>{1, 7, 8, 15, 16, 33, 375})
      images.push_back(
          jpeg_of(side, static_cast<std::uint16_t>(side + 2), 3, {.halves_chroma = halves}));
    for (const decoding& decoder : decodings(60, 25)) {
      const difference found = check_images(halves ? "4:2:0" : "4:4:4", decoder, row, images);
      // Else kernels decoded in the engines' place.
      if (halves) CHECK((found.most == 0) == (decoder.way == detail::jpeg_way::kernels));
    }
  }
}

TEST_CASE("jpeg on the GPU: kernels decode all samplings and qualities, restarts and own codes",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::vector<arriving_image> images;
  for (const auto& [across, down] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {1, 2}, {2, 2}})
    for (const int quality : {5, 60, 100})
      for (const unsigned restart_interval : {0U, 9U})
        for (const auto side : std::vector<std::uint16_t>{2, 30, 301})
          images.push_back(jpeg_of(side, static_cast<std::uint16_t>(side + 40), 3,
                                   {.quality = quality,
                                    .luma_across = across,
                                    .luma_down = down,
                                    .restart_interval = restart_interval,
                                    .has_optimal_codes = quality == 60}));
  check_images("samplings", {detail::jpeg_way::kernels}, {.height = 150, .width = 170}, images);
}

TEST_CASE("jpeg on the GPU: more images than a batch, and of many sizes, are decoded in one call",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::vector<arriving_image> images;
  for (std::uint16_t i = 0; i < 300; ++i)
    images.push_back(smooth_jpeg(static_cast<std::uint16_t>(40 + i % 13),
                                 static_cast<std::uint16_t>(50 + i % 7)));
  images[70] = smooth_jpeg(2500, 3000);
  for (const decoding& decoder : decodings(12, 38)) {
    check_images("300 images", decoder, {.height = 32, .width = 32}, images);
    check_images("300 images, unchecked", decoder,
                 {.height = 32, .width = 32, .allow_damaged = true}, images);
  }
}

TEST_CASE("jpeg on the GPU: rows that a reader finished are copied", "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const image_row row{.height = 5, .width = 7};
  const byte_vector finished(105, std::byte{0x33});
  for (const decoding& decoder : decodings(0, 0)) {
    const decoded_images got = decode_on_gpu(
        decoder.way, row,
        {jpeg_of(20, 20), {finished, 0, 0, 1}, jpeg_of(30, 20), {byte_vector(104), 0, 0, 1}});
    CHECK(got.good == std::vector{true, true, true, false});
    CHECK(got.rows[1] == finished);
  }
}

TEST_CASE("jpeg on the GPU: damage is found, and images beside it are whole",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const arriving_image whole = smooth_jpeg(120, 90);
  std::vector<arriving_image> images(9, whole);
  images[1].stored.resize(whole.stored.size() / 2);  // cut in the scan
  images[2].stored.resize(40);                       // cut in the header
  images[3].stored.assign(500, std::byte{0xFF});     // no JPEG at all
  images[4].height = 119;                            // its header says 120
  images[5].width = 91;                              // it says 90
  images[6].height = images[6].width = 0;            // nobody read the header
  images[7].stored.resize(whole.stored.size() - 2);  // without its end
  const std::vector<bool> expected{true, false, false, false, false, false, false, false, true};
  for (const decoding& decoder : decodings(12, 38)) {
    image_row row{.height = 40, .width = 40};
    const decoded_images got = decode_on_gpu(decoder.way, row, images);
    CHECK(got.good == expected);
    const byte_vector reference = decode_on_cpu(row, whole.stored);
    CHECK(between(got.rows[0], reference).most <= decoder.most);
    CHECK(got.rows[8] == got.rows[0]);

    row.allow_damaged = true;
    const decoded_images lenient = decode_on_gpu(decoder.way, row, images);
    CHECK(lenient.good[1]);
    CHECK(lenient.good[7]);
    CHECK(!lenient.good[2]);
    CHECK(!lenient.good[4]);
    CHECK(lenient.rows[8] == got.rows[0]);
  }
}

TEST_CASE("jpeg on the GPU: scans with bytes at random write nothing outside",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  std::mt19937 random{4};
  std::vector<arriving_image> images;
  for (std::uint16_t i = 0; i < 120; ++i) {
    images.push_back(jpeg_of(static_cast<std::uint16_t>(60 + i), 200));
    byte_vector& file = images.back().stored;
    if (i % 3 == 0) continue;
    for (std::size_t at = file.size() / 3; at < file.size() - 2; at += 1 + random() % 400)
      file[at] = std::byte(random() % 256);
  }
  const image_row row{.height = 32, .width = 32};
  const decoded_images got = decode_on_gpu(detail::jpeg_way::kernels, row, images);
  for (std::size_t i = 0; i < images.size(); ++i) {
    CAPTURE(i);
    if (i % 3 == 0) CHECK(got.good[i]);
    if (i % 3 == 0) CHECK(got.rows[i] == decode_on_cpu(row, images[i].stored));
  }
  CHECK(std::ranges::count(got.good, false) > 60);
}
