#include "cuda/decode/jpeg/engine_decoder.hpp"

#include <feedline/error.hpp>

#include "cuda/check.hpp"
#include "cuda/decode/jpeg/kernels.hpp"
#include "detail/threads.hpp"

#include <algorithm>
#include <future>
#include <utility>

namespace feedline::detail {
namespace {

/// A thread of its own is not worth its start for fewer images.
constexpr std::size_t min_shared = 16;

}  // namespace

jpeg_engine_decoder::jpeg_engine_decoder(std::shared_ptr<cuda_context> context,
                                         std::span<std::byte> pixels)
    : context_{std::move(context)}, pixels_{pixels}, beside_{context_} {
  for (const jpeg_engines& each : engines_)
    if (!each.refusal().empty()) throw device_error{each.refusal()};
}

void jpeg_engine_decoder::decode(std::span<jpeg_image> images, const image_row& row,
                                 std::uint32_t* bad, cudaStream_t stream) {
  while (!images.empty()) {
    const std::size_t count = place_jpeg_batch(jpeg_way::engines, images, pixels_.size());
    if (count >= min_shared)
      decode_shared(images.first(count), bad, stream);
    else
      decode_part(engines_[0], images.first(count), bad, stream);
    issue_resizes(images.first(count), row, reinterpret_cast<const std::uint8_t*>(pixels_.data()),
                  stream);
    images = images.subspan(count);
  }
}

void jpeg_engine_decoder::decode_shared(images_span images, std::uint32_t* bad,
                                        cudaStream_t stream) {
  // nvJPEG begins to write pixels before kernels have run that still read the last batch's.
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream));
  const std::size_t half = images.size() / 2;
  std::future<void> other = std::async(std::launch::async, [&, this] {
    name_this_thread("feedline jpeg");
    const cuda_current_device current{*context_};
    decode_part(engines_[1], images.subspan(half), bad, beside_.get());
  });
  decode_part(engines_[0], images.first(half), bad, stream);
  other.get();
  beside_.join(stream);
}

void jpeg_engine_decoder::decode_part(jpeg_engines& engines, images_span images, std::uint32_t* bad,
                                      cudaStream_t stream) {
  std::array<const unsigned char*, max_jpeg_batch> files{};
  std::array<std::size_t, max_jpeg_batch> bytes{};
  std::array<nvjpeg_image, max_jpeg_batch> decoded{};
  const std::size_t count = images.size();
  for (std::size_t i = 0; i < count; ++i) {
    files[i] = images[i].file;
    bytes[i] = images[i].bytes;
    decoded[i].channel[0] = reinterpret_cast<unsigned char*>(pixels_.data()) + images[i].pixels_at;
    decoded[i].pitch[0] = std::size_t{3} * images[i].extents.width;
  }
  // nvJPEG begins to write pixels, and into memory of its state, before kernels have run that still
  // read there what the call before decoded.
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream));
  if (engines.decode(std::span{files}.first(count), std::span{bytes}.first(count),
                     std::span{decoded}.first(count), stream))
    return;
  if (count == 1) {
    FEEDLINE_CUDA_CHECK(cudaMemsetAsync(bad + images[0].number, 0xFF, sizeof *bad, stream));
    return;
  }
  decode_part(engines, images.first(count / 2), bad, stream);
  decode_part(engines, images.subspan(count / 2), bad, stream);
}

}  // namespace feedline::detail
