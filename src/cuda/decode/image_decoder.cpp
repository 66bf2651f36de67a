#include "cuda/decode/image_decoder.hpp"

#include "cuda/decode/png/kernels.hpp"

namespace feedline::detail {
namespace {

/// Issues the kernels that make a batch's pixels. @param images The batch's, of one format.
void issue_decoding(const jpeg_batch& batch, std::span<const jpeg_image> images,
                    cudaStream_t stream) {
  if (images.front().format == image_format::png) return issue_png(batch, stream);
  issue_scans(batch, images, stream);
  issue_samples(batch, stream);
  issue_pixels(batch, stream);
}

}  // namespace

void image_decoder::decode(const decode_frame& frame, std::span<const decode_program> programs,
                           std::span<const block_load> loads, cudaStream_t stream) {
  for (std::uint32_t field = 0; field < programs.size(); ++field) {
    const decode_program& program = programs[field];
    for (const image_format format : {image_format::jpeg, image_format::png}) {
      images_.clear();
      for (std::uint32_t number = 0; number < loads.size(); ++number) {
        const block_load& load = loads[number];
        if (load.field != field || load.format != format || !can_decode(program, load) ||
            task_at(program, load, 0).does != decode_operation::decode_image)
          continue;
        const image_row& row = program.image;
        const bool is_wide = row.type == element_type::u16;
        const image_turn turn{load.orientation};
        const resample_window window =
            window_of(row, {load.height, load.width}, load.window, load.in_row, turn);
        images_.push_back({.file = reinterpret_cast<const unsigned char*>(frame.copy_destination) +
                                   std::size_t{load.at} * 16,
                           .bytes = load.bytes,
                           .number = number,
                           .row = program.blocks + load.place * program.block_bytes,
                           .extents = {load.height, load.width},
                           .window = load.window,
                           .in_row = load.in_row,
                           .format = format,
                           .pixel_bits = load.pixel_bits,
                           .keeps_size = keeps_size(window) && !is_wide && turn.is_upright(),
                           .is_grey = row.channels == 1,
                           .is_mask = row.is_mask,
                           .is_wide = is_wide && format == image_format::png,
                           .orientation = static_cast<std::uint8_t>(turn.number())});
      }
      decode_images(program.image, frame.bad, stream);
    }
  }
}

void image_decoder::decode_images(const image_row& row, std::uint32_t* bad, cudaStream_t stream) {
  auto* const table = reinterpret_cast<jpeg_image*>(memory_.data());
  for (std::span<jpeg_image> rest{images_}; !rest.empty();) {
    const std::span images = rest.first(place_jpeg_batch(rest, memory_.size(), row));
    issue_table(images, table, stream);
    const jpeg_batch batch{.images = table,
                           .count = static_cast<std::uint32_t>(images.size()),
                           .allow_damaged = row.allow_damaged,
                           .memory = memory_.data(),
                           .bad = bad};
    issue_decoding(batch, images, stream);
    issue_resizes(batch, row, images, stream);
    rest = rest.subspan(images.size());
  }
}

}  // namespace feedline::detail
