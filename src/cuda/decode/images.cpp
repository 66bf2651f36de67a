#include "cuda/decode/images.hpp"

#include "cuda/check.hpp"

namespace feedline::detail {

image_stage::image_stage(const std::shared_ptr<cuda_context>& context, std::span<std::byte> pixels)
    : decoder_{context, pixels}, checks_{context} {}

void image_stage::decode(const decode_frame& frame, std::span<const decode_program> programs,
                         std::span<const block_load> loads, cudaStream_t stream) {
  issue_header_checks(frame, stream);
  bad_.resize(loads.size());
  FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(bad_.data(), frame.bad, bad_.size() * sizeof bad_[0],
                                      cudaMemcpyDeviceToHost, stream));
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream));
  issue_scan_checks(frame, checks_.get());
  for (std::uint32_t field = 0; field < programs.size(); ++field)
    decode_field(frame, field, programs[field], loads, stream);
  checks_.join(stream);
}

void image_stage::decode_field(const decode_frame& frame, std::uint32_t field,
                               const decode_program& program, std::span<const block_load> loads,
                               cudaStream_t stream) {
  images_.clear();
  for (std::uint32_t number = 0; number < loads.size(); ++number) {
    const block_load& load = loads[number];
    if (load.field != field || bad_[number] != 0 ||
        task_at(program, load, 0).does != decode_operation::decode_image)
      continue;
    images_.push_back({.file = reinterpret_cast<const unsigned char*>(frame.landing_buffer) +
                               std::size_t{load.at} * 16,
                       .bytes = load.bytes,
                       .number = number,
                       .row = program.blocks + load.place * program.block_bytes,
                       .extents = {load.height, load.width}});
  }
  decoder_.decode(images_, program.image, frame.bad, stream);
}

}  // namespace feedline::detail
