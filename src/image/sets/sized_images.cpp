#include "image/sets/sized_images.hpp"

#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/image/sizes.hpp>

#include "detail/log.hpp"
#include "detail/printable.hpp"
#include "detail/sample_range.hpp"
#include "detail/text.hpp"
#include "detail/threads.hpp"
#include "image/image_geometry.hpp"
#include "image/reader.hpp"
#include "image/sets/file_values.hpp"
#include "image/sets/named_paths.hpp"
#include "image/stored_extents.hpp"
#include "io/file_system.hpp"
#include "ragged/record_columns.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace feedline::detail {
namespace {

class sizes_of_padded final : public batch_sizes {
 public:
  sizes_of_padded(const image_options& options, known_extents extents)
      : geometry_{options}, divisor_{options.size_divisible}, extents_{std::move(extents)} {}

  image_size largest() const override {
    return {geometry_.largest().height, geometry_.largest().width};
  }
  bool depends_on_samples() const override { return true; }

  image_size of(const sized_batch& batch) const override {
    image_extents most{1, 1};
    for (const sample_index sample : batch.samples) {
      const image_extents original = (*extents_)[sample.value];
      if (original.pixels() == 0) continue;
      const image_extents padded = geometry_.padded(original);
      most = {std::max(most.height, padded.height), std::max(most.width, padded.width)};
    }
    return {(most.height + divisor_ - 1) / divisor_ * divisor_,
            (most.width + divisor_ - 1) / divisor_ * divisor_};
  }

 private:
  image_geometry geometry_;
  std::uint32_t divisor_;
  known_extents extents_;
};

/// Heights and widths of images in their samples.
class size_field final : public dataset {
 public:
  size_field(const std::string& image, const image_options& options, known_extents extents)
      : spec_{image + "_size", element_type::i32, {2}},
        geometry_{options},
        extents_{std::move(extents)} {}

  std::uint64_t size() const override { return extents_->size(); }
  std::vector<field> fields() const override { return {spec_}; }
  bool varies_by_epoch() const override { return geometry_.is_random(); }

 private:
  void do_read(const read_request& request) const override {
    require_in_range(request.samples, size());
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const image_extents shown = shown_of(request.samples[i].value, request.context[i]);
      const std::array both{static_cast<std::int32_t>(shown.height),
                            static_cast<std::int32_t>(shown.width)};
      std::memcpy(request.out[0].data() + i * sizeof both, both.data(), sizeof both);
    }
  }

  /// No pixels for an image that cannot be decoded: its own field is the error.
  image_extents shown_of(std::uint64_t sample, const sample_context& context) const {
    const image_extents original = (*extents_)[sample];
    if (original.pixels() == 0) return {};
    try {
      return geometry_.place(original, context).window.extents;
    } catch (const image_error&) {
      return {};
    }
  }

  field spec_;
  image_geometry geometry_;
  known_extents extents_;
};

}  // namespace

std::optional<image_extents> extents_in_file(const std::string& path, bool follows_orientation) {
  // Most headers are within the first, those with EXIF and profiles within the second.
  constexpr std::array limits{std::uint64_t{1} << 12U, std::uint64_t{1} << 18U,
                              file_system::max_whole_bytes};
  const byte_file_ptr file = open_file(path);
  for (const std::uint64_t limit : limits) {
    std::vector<std::byte> bytes(std::min(limit, file->size()));
    file->read(0, bytes);
    if (const auto extents = stored_extents(bytes, follows_orientation)) return extents;
    if (bytes.size() == file->size()) break;
  }
  return std::nullopt;
}

known_extents read_extents(const image_files& files, bool follows_orientation) {
  constexpr std::size_t piece = 64;
  const std::size_t count = files.files.size();
  auto extents = std::make_shared<std::vector<image_extents>>(count);
  parallel_for((count + piece - 1) / piece, [&](std::size_t part) {
    for (std::size_t i = part * piece; i < std::min(count, (part + 1) * piece); ++i) {
      try {
        (*extents)[i] =
            extents_in_file(files.path_of(i), follows_orientation).value_or(image_extents{});
      } catch (const dataset_error&) {  // an error when it is read
        (*extents)[i] = {};
      }
    }
  });
  const auto unknown = [](const image_extents& each) { return each.pixels() == 0; };
  const auto first = std::ranges::find_if(*extents, unknown);
  if (first != extents->end())
    log()->warn("images: {} of {} files have no header with a height and width, such as {}",
                std::ranges::count_if(*extents, unknown), count,
                printable(files.path_of(static_cast<std::size_t>(first - extents->begin()))));
  return extents;
}

batch_sizes_ptr padded_sizes(const image_options& options, known_extents extents) {
  return std::make_shared<const sizes_of_padded>(options, std::move(extents));
}

dataset_ptr make_size_field(const std::string& image, const image_options& options,
                            known_extents extents) {
  return std::make_shared<const size_field>(image, options, std::move(extents));
}

dataset_ptr make_image_dataset(image_files files, const std::string& name,
                               const decoder_ptr& decoder) {
  field spec = decoder->describe({});
  spec.name = name;
  const image_options* const options = sized_decoder::of(*decoder);
  if (options == nullptr || options->fit != image_fit::pad)
    return make_decoded_dataset(make_file_values(std::move(files), name),
                                {decoder, std::move(spec)});
  const known_extents known = read_extents(files, options->follow_orientation);
  const auto expected = std::make_shared<sample_extents>(known->size());
  for (std::uint64_t i = 0; i < known->size(); ++i) expected->set(i, (*known)[i]);
  coded_values_ptr values = make_file_values(
      std::move(files), name,
      {.known = expected,
       .follows_orientation = options->follow_orientation,
       .other = [](std::uint64_t) { return "when the dataset was opened it was"; }},
      padded_sizes(*options, known));
  return zip({make_decoded_dataset(std::move(values), {decoder, std::move(spec)}),
              make_size_field(name, *options, known)});
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

std::vector<image_size> stored_image_sizes(const std::vector<std::string>& paths,
                                           bool follow_orientation) {
  const detail::known_extents known =
      detail::read_extents(detail::files_at(paths), follow_orientation);
  std::vector<image_size> sizes;
  for (const detail::image_extents& each : *known) sizes.push_back({each.height, each.width});
  return sizes;
}

bucket_by_length bucket_by_aspect_ratio(std::span<const image_size> sizes,
                                        const aspect_ratio_options& options) {
  constexpr double units = 65536;
  bucket_options buckets{.seed = options.seed, .boundaries = {}, .buckets = options.buckets};
  for (const double ratio : options.boundaries) {
    if (!(ratio > 0 && ratio < units))
      throw usage_error{"aspect_ratio_options::boundaries has " + detail::text_of(ratio) +
                        ", but a boundary is a width over a height, above 0 and below 65,536"};
    // Rounded down like the ratios, so that an image of this very ratio is not below it.
    buckets.boundaries.push_back(static_cast<std::uint64_t>(ratio * units));
  }
  std::vector<std::uint64_t> ratios;
  ratios.reserve(sizes.size());
  for (const image_size& each : sizes)
    ratios.push_back(each.pixels() == 0 ? 0 : (std::uint64_t{each.width} << 16U) / each.height);
  return bucket_by_length{ratios, buckets};
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
