#include "cuda/decode/program.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

class program_writer {
 public:
  explicit program_writer(decode_program& program) noexcept : program_{program} {}

  void add(decode_operation does, std::size_t bit, std::uint32_t element_bytes = 1) noexcept {
    program_.step[program_.steps++] = {does, static_cast<std::uint8_t>(bit), element_bytes};
  }

 private:
  decode_program& program_;
};

}  // namespace

std::string name_of(block_filter filter) {
  switch (filter) {
    case block_filter::deflate:
      return "deflate";
    case block_filter::gzip:
      return "gzip";
    case block_filter::zstd:
      return "zstd";
    case block_filter::lz4:
      return "lz4";
    case block_filter::byte_shuffle:
      return "byte shuffle";
    case block_filter::bit_shuffle:
      return "bit shuffle";
    case block_filter::bit_shuffle_lz4:
      return "bit shuffle with lz4";
    case block_filter::bit_shuffle_zstd:
      return "bit shuffle with zstd";
    case block_filter::blosc_lz4:
      return "blosc with lz4";
    case block_filter::blosc_zstd:
      return "blosc with zstd";
    case block_filter::blosc_zlib:
      return "blosc with zlib";
    case block_filter::fletcher32:
      return "fletcher32";
    case block_filter::image:
      return "an image file";
    case block_filter::window:
      return "a window of chunks";
    case block_filter::sparse_row:
      return "a sparse row";
    case block_filter::other:
      break;
  }
  return "a filter of its own";
}

std::string refusal_of_program(std::span<const block_step> steps) {
  if (steps.size() > never_skipped)
    return std::to_string(steps.size()) + " steps are more than the GPU undoes";
  for (const block_step& step : steps) {
    if (step.filter == block_filter::other)
      return name_of(step.filter) + " is undone by CPUs alone";
    if (step.filter == block_filter::image) {
      if (steps.size() > 1) return "images beside other steps";
      return refusal_of_row(step.image);
    }
    if (step.filter == block_filter::window && steps.size() > 1)
      return "windows of chunks beside other steps";
    if (step.filter == block_filter::sparse_row) {
      if (steps.size() > 1) return "sparse rows beside other steps";
      if (step.element_bytes != size_bytes(step.sparse.values))
        return "a sparse row whose values have another size";
    }
    if (step.element_bytes == 0) return name_of(step.filter) + " of elements of 0 bytes";
  }
  // The size of a nested stream is unknown.
  const auto is_compression = [](const block_step& step) {
    using enum block_filter;
    return step.filter == deflate || step.filter == zstd || step.filter == lz4 ||
           step.filter == bit_shuffle_lz4 || step.filter == bit_shuffle_zstd ||
           step.filter == gzip || step.filter == blosc_lz4 || step.filter == blosc_zstd ||
           step.filter == blosc_zlib;
  };
  const auto first = std::ranges::find_if(steps, is_compression);
  if (first == steps.end()) return {};
  const auto second = std::find_if(first + 1, steps.end(), is_compression);
  if (second == steps.end()) return {};
  return name_of(second->filter) + " of what is compressed already";
}

decode_program make_program(const block_store::field& field, std::uint32_t places) {
  decode_program program;
  program.blocks = field.blocks;
  program.block_bytes = field.block_bytes;
  program.max_stored_bytes = field.max_stored_bytes;
  program.usual_stored_bytes = field.usual_stored_bytes;
  program.places = places;
  program.varies = field.varies;
  program_writer writer{program};
  for (std::size_t i = field.steps.size(); i-- > 0;) {
    const block_step& step = field.steps[i];
    switch (step.filter) {
      case block_filter::deflate:
        writer.add(decode_operation::inflate, i);
        break;
      case block_filter::gzip:
        writer.add(decode_operation::inflate_gzip, i);
        break;
      case block_filter::byte_shuffle:
        if (step.element_bytes > 1) writer.add(decode_operation::join_bytes, i, step.element_bytes);
        break;
      case block_filter::bit_shuffle:
        writer.add(decode_operation::join_bits, i, step.element_bytes);
        break;
      case block_filter::fletcher32:
        writer.add(decode_operation::check_fletcher32, i);
        break;
      case block_filter::image:
        program.image = step.image;
        writer.add(decode_operation::decode_image, i);
        break;
      case block_filter::window:
        writer.add(decode_operation::cut_window, i);
        break;
      case block_filter::sparse_row:
        program.sparse = step.sparse;
        writer.add(decode_operation::make_dense, i, step.element_bytes);
        break;
      case block_filter::zstd:
        writer.add(decode_operation::decode_zstd, i);
        break;
      case block_filter::lz4:
        writer.add(decode_operation::decode_lz4, i);
        break;
      case block_filter::bit_shuffle_lz4:
        writer.add(decode_operation::decode_lz4_bits, i, step.element_bytes);
        writer.add(decode_operation::join_said_bits, i, step.element_bytes);
        break;
      case block_filter::bit_shuffle_zstd:
        writer.add(decode_operation::decode_zstd_bits, i, step.element_bytes);
        writer.add(decode_operation::join_said_bits, i, step.element_bytes);
        break;
      case block_filter::blosc_lz4:
        writer.add(decode_operation::decode_blosc_lz4, i);
        writer.add(decode_operation::join_said_blocks, i);
        break;
      case block_filter::blosc_zstd:
        writer.add(decode_operation::decode_blosc_zstd, i);
        writer.add(decode_operation::join_said_blocks, i);
        break;
      case block_filter::blosc_zlib:
        writer.add(decode_operation::decode_blosc_zlib, i);
        writer.add(decode_operation::join_said_blocks, i);
        break;
      case block_filter::other:
        break;  // refused
    }
  }
  writer.add(decode_operation::copy, never_skipped);
  return program;
}

}  // namespace feedline::detail
