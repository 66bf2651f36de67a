#pragma once

#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/image_layout.hpp>
#include <feedline/dataset/image_size.hpp>
#include <feedline/dataset/interpolation.hpp>
#include <feedline/export.hpp>
#include <feedline/transform/augmentation.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Ranges from which a window of an image is drawn, as in torchvision's `RandomResizedCrop`: up to
/// ten tries, then as much of the middle as a ratio allows.
struct crop_ranges {
  value_range scale = {0.08, 1.0};           ///< the window's share of the image's area, 0 to 1
  value_range ratio = {3.0 / 4, 4.0 / 3.0};  ///< the window's width over its height
};

/// How an image of any shape becomes a sample.
enum class image_fit : std::uint8_t {
  stretch,  ///< all of the sample is the image: stretched, or cut
  /// The image keeps its shape. It is resized until it touches two sides of the sample, and is in
  /// the middle; the rest is `image_options::fill`. YOLO's LetterBox does the same.
  letterbox,
  /// The image keeps its size, and is at the top left; the rest is `image_options::fill`. Each
  /// batch is as large as its largest image needs. Torchvision's detection models pad like this.
  pad,
};

/// Handling of an image that is larger than `image_fit::pad` allows.
enum class larger_image : std::uint8_t {
  shrink,  ///< it is made smaller, and keeps its shape
  error,   ///< a dataset_error, which an error policy may handle
};

/// Options for decoding. Every image becomes type[height, width, channels] or type[channels,
/// height, width], whatever its size: u8 of three channels, unless the options say otherwise.
///
/// With `sizes` or `image_fit::pad` height and width differ from batch to batch
/// (`field::by_batch`). Slots have room for the largest; only what a batch needs is copied.
struct image_options {
  std::uint32_t height = 224;  ///< with `image_fit::pad` the most; so is `width`
  std::uint32_t width = 224;
  /// 0: the whole image is stretched or shrunk to height × width. Otherwise the shorter side is
  /// resized to this length, the other one in proportion, and height × width are cut from the
  /// middle, like torchvision's Resize and CenterCrop. At least the larger of height and width.
  /// With `image_fit::pad` nothing is cut, and a longer side that would exceed height or width
  /// makes the image smaller, like `min_size` and `max_size` of torchvision's detection models.
  std::uint32_t shorter_side = 0;
  /// Cuts a random window out of each image as it is stored, and resizes it once, to height ×
  /// width: torchvision's `RandomResizedCrop`. The window is drawn from (seed, epoch, sample), so
  /// each epoch has different ones, and any number of readers gives the same, also after resuming.
  /// Decoded samples then cannot be cached (`dataset::varies_by_epoch`). Needs `shorter_side` 0.
  /// Only the blocks around the window are transformed, on the CPU and on devices.
  std::optional<crop_ranges> resized_crop = std::nullopt;
  /// How pixels are resized, on the CPU and on devices. Bicubic values are limited to 0 to 255
  /// after both axes; Pillow does so after each one, which differs beside hard edges between
  /// extreme values.
  feedline::interpolation interpolation = feedline::interpolation::bilinear;
  image_layout layout = image_layout::hwc;
  /// 3: red, green, blue. 1: grey. With one channel, a colour becomes its luma: that of a JPEG is
  /// stored in it, others are 0.299 red + 0.587 green + 0.114 blue, like Pillow's "L".
  std::uint32_t channels = 3;
  /// u8 or u16. With u16, images of 16 bits keep them, and 8 bits are multiplied by 257, so that
  /// 255 becomes 65,535. With u8, 16 bits are rounded to 8.
  element_type type = element_type::u8;
  /// Turns and mirrors each image as its EXIF orientation says, like Pillow's `exif_transpose` and
  /// torchvision's `decode_image(apply_exif_orientation=True)`. Sizes, windows and cuts are then
  /// those of the turned image. Off: images are read as they are stored, like torchvision's
  /// ImageFolder, and the log reports the first one with an orientation.
  bool follow_orientation = false;
  /// On: readers decode a JPEG at 1/2, 1/4 or 1/8 of its size if it is at least 2, 4 or 8 times as
  /// large as wanted, which is several times as fast. Values of photographs change by 2 or 3 of
  /// 255 on average; a pixel at a hard edge changes by up to 128. The edges of a `resized_crop` are
  /// then rounded to whole pixels of the smaller image. Off: always decode in full, as devices do,
  /// so that pixels are the same wherever images are decoded. Has no effect with
  /// `interpolation::nearest`, which takes pixels as they are stored.
  bool reduced_decoding = false;
  /// Accept damaged JPEGs that libjpeg can repair: cut short, with bad codes, or with surplus data.
  /// The lost parts become grey or smeared. Off: they are an error. Damage that leaves a valid
  /// stream cannot be detected. Stray bytes between a JPEG's segments or after its last pixel's
  /// data are always accepted, because they change no pixel. Surplus data after wrong data is
  /// distinguished from them, unless the error is within the last few MCUs. After a scan of a
  /// progressive file the two cannot be distinguished, so such bytes are an error there.
  bool allow_damaged = false;
  /// Counter of images that are accepted in spite of damage or stray bytes; any thread may read it.
  /// Null: only the log reports them, at the 1st, 10th, 100th and so on. A file that a device
  /// decodes is counted if it has stray bytes before the scan; stray bytes after it, and
  /// damage that `allow_damaged` accepts, are not.
  std::shared_ptr<std::atomic<std::uint64_t>> damaged_images = nullptr;
  /// An image with more pixels in its header is refused, because it would take gigabytes of memory.
  std::uint64_t max_pixels = std::uint64_t{1} << 26;
  /// Letterbox and pad: the dataset also tells each image's height and width in its sample, where
  /// the size of its file is known (`open_coco` and others; with pad also `open_image_folder`).
  image_fit fit = image_fit::stretch;
  /// Multi-scale training: each batch has one of these sizes, drawn with equal probability from
  /// (seed, epoch, number of the batch), so it is the same for any number of readers, on all ranks,
  /// and after resuming. Outside of a loader images have the largest height and width. Then height
  /// and width above have no effect. Empty: all batches have them. `square_sizes` makes a list.
  std::vector<image_size> sizes = {};
  /// Pad: the height and width of a batch are multiples of this. At least 1.
  std::uint32_t size_divisible = 32;
  larger_image larger = larger_image::shrink;  ///< pad
  /// Letterbox and pad: red, green and blue of what is not the image, as 8 bits. With one channel,
  /// and for masks, the first counts.
  std::array<std::uint8_t, 3> fill = {0, 0, 0};
  /// Pad: probability that readers mirror an image left to right, within its own width, because a
  /// transform would move the padding too; drawn like the `flip` of a loader's transform, which
  /// mirrors other images on the device. Outside of a loader nothing is mirrored.
  double flip = 0.0;
};

/// Squares from `from` to `to` pixels, `step` apart, for `image_options::sizes`: square_sizes(320,
/// 640, 32) are 11 sizes.
/// @throws usage_error if `from` or `step` is 0, or `to` is less than `from`.
[[nodiscard]] std::vector<image_size> square_sizes(std::uint32_t from, std::uint32_t to,
                                                   std::uint32_t step = 32);

/// Decodes JPEG, PNG, WebP, TIFF, BMP, PPM and PGM, detected by content, and resizes. Target
/// `feedline::images`.
///
/// Where feedline was built without libjpeg, libpng, libwebp or libtiff, their files are an error.
/// A TIFF is its first image; values of 8 and 16 bits, grey and RGB, are read as stored, others as
/// libtiff converts them to 8 bits. A BMP has 8, 24 or 32 bits without compression. A WebP is no
/// animation. Devices decode JPEGs and PNGs; readers decode the others.
///
/// All images become RGB, or grey if that is asked for: grey is repeated, CMYK converted, palettes
/// looked up, alpha dropped. A mask with classes as palette indices loses them
/// (`make_mask_decoder` keeps them), so the log reports the first palette that a decoder meets.
/// Like torchvision's ImageFolder, it ignores colour profiles, and EXIF orientation unless
/// `image_options::follow_orientation` is set. libjpeg decodes with its accurate inverse transform
/// and smooth chroma, as in PIL and torchvision. So pixels agree with theirs except for the
/// resize's rounding and for reduced decoding. The pixels are the same on every machine with the
/// same libjpeg and kind of processor. Devices produce the pixels of libjpeg-turbo's vector code
/// for x86-64. Other libjpegs, and those for other processors, differ only for files with
/// coefficients that no real image has.
/// @throws usage_error if the options contradict each other.
[[nodiscard]] decoder_ptr make_image_decoder(const image_options& options = {});

/// Decodes masks: PNGs whose pixels are classes. Values become u8[height, width]: the indices of a
/// palette, or grey values of up to 8 bits, as they are stored. No value is blended: resizing takes
/// the nearest pixel, like Pillow's `NEAREST` and torchvision's `NEAREST_EXACT`.
///
/// Size, cut and window are those of `options`. A mask and an image of the same sample and the same
/// size have the same `resized_crop`, and the same flip. Devices decode masks, too. `layout`,
/// `channels`, `type`, `interpolation` and what is about JPEGs have no effect. A mask that has an
/// EXIF orientation is an error if `follow_orientation` is set, because masks are not turned.
/// @throws usage_error if the options contradict each other. When a mask is read: dataset_error if
/// it is no PNG, or has colours, alpha or 16 bits.
[[nodiscard]] decoder_ptr make_mask_decoder(const image_options& options = {});

}  // namespace FEEDLINE_ABI
}  // namespace feedline
