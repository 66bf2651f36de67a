#pragma once

#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/image_layout.hpp>
#include <feedline/export.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What is made of every image, whatever its size: u8[height, width, 3], or u8[3, height, width].
struct image_options {
  std::uint32_t height = 224;
  std::uint32_t width = 224;
  /// 0: the whole image is stretched or shrunk to height × width. Else its shorter side becomes
  /// this long, the other in proportion, and height × width are cut from the middle, as
  /// torchvision's Resize and CenterCrop do; at least the larger of the two.
  std::uint32_t shorter_side = 0;
  image_layout layout = image_layout::hwc;
  /// A JPEG at least 2, 4 or 8 times as large as wanted is decoded at 1/2, 1/4 or 1/8 of its size.
  /// This is several times as fast. Photographs change by 2 or 3 of 255 in the mean; a pixel at a
  /// hard edge by up to 128. Off: always in full.
  bool reduced_decoding = true;
  /// Accept JPEGs that libjpeg repairs: cut short, bad codes, data left over. What is lost becomes
  /// grey or smeared. Off: an error. Damage that leaves a valid stream cannot be seen.
  ///
  /// Stray bytes are accepted in any case: those that belong to no marker, between a JPEG's
  /// segments or after its last pixel's data. They change no pixel. Data that is left over because
  /// some before it is wrong is told from them, but for errors within the last few MCUs. After a
  /// scan of a progressive file it cannot be told, so such bytes are an error there.
  bool allow_damaged = false;
  /// Counts the images that readers accept though damaged or with stray bytes; any thread may read
  /// it. Null: only the log tells, at the 1st, 10th, 100th and so on. Files that a device decodes
  /// are neither counted nor logged.
  std::shared_ptr<std::atomic<std::uint64_t>> damaged_images = nullptr;
  /// An image that claims more is refused: it would take gigabytes of memory.
  std::uint64_t max_pixels = std::uint64_t{1} << 26;
};

/// Decodes JPEG and PNG, told apart by content, and resizes (bilinear, with antialiasing). Target
/// `feedline::images`.
///
/// All become RGB: grey is repeated, CMYK converted, 16 bits rounded to 8, palettes looked up,
/// alpha dropped. A mask whose classes are a palette's indices loses them, so the log tells of the
/// first palette that a decoder meets. EXIF orientation and colour profiles are not followed, as
/// torchvision's ImageFolder does not. libjpeg decodes with its accurate inverse transform and
/// smooth chroma, as PIL and torchvision have it do, so that pixels agree with theirs but for the
/// resize's rounding, and reduced decoding. The pixels are the same on every machine with the same
/// libjpeg and kind of processor. Devices make the pixels of libjpeg-turbo's vector code for
/// x86-64. Other libjpegs, and those for other processors, make others of files whose coefficients
/// no image has.
/// @throws usage_error if the options contradict each other.
[[nodiscard]] decoder_ptr make_image_decoder(const image_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
