#include "image/file_blocks.hpp"

#include <feedline/error.hpp>

#include "image/jpeg/frame.hpp"
#include "image/reader.hpp"
#include "io/whole_file.hpp"
#include "rows/scratch_pool.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// A larger file is decoded by readers: staging memory has room for the largest block.
constexpr std::uint64_t max_file_bytes = std::uint64_t{4} << 20;

/// What one thread works with.
struct block_worker {
  std::string path;
  std::vector<std::byte> file;
};

block_step step_of(const image_options& options) {
  return {.filter = block_filter::jpeg,
          .image = {.height = options.height,
                    .width = options.width,
                    .shorter_side = options.shorter_side,
                    .layout = options.layout,
                    .allow_damaged = options.allow_damaged}};
}

class image_file_blocks final : public encoded_blocks {
 public:
  image_file_blocks(std::shared_ptr<const image_files> files, decoder_ptr decoder,
                    const image_options& options, field image)
      : files_{std::move(files)},
        decoder_{std::move(decoder)},
        geometry_{options},
        image_{std::move(image)},
        row_bytes_{sample_bytes(image_)},
        max_bytes_{row_bytes_},
        steps_{step_of(options)} {
    file_bytes_.reserve(files_->files.size());
    std::string path;
    for (std::uint64_t file = 0; file < files_->files.size(); ++file) {
      files_->path_of(file, path);
      file_bytes_.push_back(size_of(path));
      max_bytes_ = std::max<std::size_t>(max_bytes_, file_bytes_.back());
    }
  }

  std::uint64_t rows() const noexcept override { return 1; }
  std::span<const block_step> steps(std::size_t) const noexcept override { return steps_; }
  /// It may become a row.
  stored_block stored(std::size_t, std::uint64_t block) const noexcept override {
    return {.bytes = std::max<std::size_t>(row_bytes_, file_bytes_[block])};
  }
  std::size_t max_stored_bytes(std::size_t) const noexcept override { return max_bytes_; }

  stored_block read(std::size_t, std::uint64_t block, std::span<std::byte> out) const override {
    const auto worker = workers_.take();
    files_->path_of(block, worker->path);
    try {
      const auto file = read_whole_file(worker->path, [&](std::size_t bytes) {
        if (bytes <= out.size()) return out.first(bytes);
        if (worker->file.size() < bytes) worker->file.resize(bytes);
        return std::span{worker->file}.first(bytes);
      });
      if (file.bytes.data() != out.data()) return decode_here(file.bytes, out);
      if (const auto stored = as_it_is(file.bytes)) return *stored;
      worker->file.assign(file.bytes.begin(), file.bytes.end());
      return decode_here(worker->file, out);
    } catch (const dataset_error& fault) {
      throw dataset_error{{.path = worker->path, .field = image_.name, .sample = block},
                          fault.message()};
    }
  }

  void decode(std::size_t, std::span<const std::byte> stored, std::uint32_t skipped,
              std::span<std::byte> out) const override {
    if (skipped == 0) return decoder_->decode(stored, image_, out);
    if (stored.size() != out.size())
      throw dataset_error{{.path = {}, .field = image_.name},
                          "a decoded image has " + std::to_string(stored.size()) +
                              " bytes, but is of " + std::to_string(out.size())};
    std::memcpy(out.data(), stored.data(), out.size());
  }

 private:
  /// Of a file that is given as it is, if devices take it; 0: it is not, or nobody knows its size.
  static std::uint32_t size_of(const std::string& path) noexcept {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return 0;
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    return bytes > max_file_bytes ? 0 : static_cast<std::uint32_t>(bytes);
  }

  /// How a file is given that devices decode; nothing: it is none, or is to be refused.
  std::optional<stored_block> as_it_is(std::span<const std::byte> file) const {
    jpeg_frame frame;
    if (!read_jpeg_frame(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(), frame))
      return std::nullopt;
    if (frame.components != 3) return std::nullopt;  // nvJPEG's engines fail at small grey ones
    const image_extents extents{frame.height, frame.width};
    if (extents.pixels() > max_image_pixels) return std::nullopt;
    try {
      static_cast<void>(geometry_.resized(extents));
    } catch (const image_error&) {
      return std::nullopt;  // decoding tells why
    }
    return stored_block{
        .bytes = file.size(), .skipped = 0, .height = frame.height, .width = frame.width};
  }

  stored_block decode_here(std::span<const std::byte> file, std::span<std::byte> out) const {
    decoder_->decode(file, image_, out.first(row_bytes_));
    return {.bytes = row_bytes_, .skipped = 1};
  }

  std::shared_ptr<const image_files> files_;
  decoder_ptr decoder_;
  image_geometry geometry_;
  field image_;
  std::size_t row_bytes_;
  std::size_t max_bytes_;
  std::array<block_step, 1> steps_;
  std::vector<std::uint32_t> file_bytes_;  ///< as `size_of` says
  mutable scratch_pool<block_worker> workers_{[] { return std::make_unique<block_worker>(); }};
};

}  // namespace

std::shared_ptr<const encoded_blocks> make_image_file_blocks(
    std::shared_ptr<const image_files> files, decoder_ptr decoder, const image_options& options,
    field image) {
  return std::make_shared<const image_file_blocks>(std::move(files), std::move(decoder), options,
                                                   std::move(image));
}

}  // namespace feedline::detail
