#include "cuda/decode/images.hpp"

#include "cuda/check.hpp"
#include "cuda/decode/jpeg/engine_decoder.hpp"
#include "cuda/decode/jpeg/kernel_decoder.hpp"
#include "cuda/side_stream.hpp"

#include <cstdint>
#include <vector>

namespace feedline::detail {
namespace {

/// What a call decodes.
struct decode_call {
  const decode_frame& frame;
  std::span<const decode_program> programs;
  std::span<const block_load> loads;
};

/// The images of a field that `is_taken` says, by numbers of loads.
template <class Taken>
void find_images(const decode_call& call, std::uint32_t field, const Taken& is_taken,
                 std::vector<jpeg_image>& images) {
  const decode_program& program = call.programs[field];
  images.clear();
  for (std::uint32_t number = 0; number < call.loads.size(); ++number) {
    const block_load& load = call.loads[number];
    if (load.field != field || !is_taken(number) || !can_decode(program, load) ||
        task_at(program, load, 0).does != decode_operation::decode_image)
      continue;
    images.push_back({.file = reinterpret_cast<const unsigned char*>(call.frame.landing_buffer) +
                              std::size_t{load.at} * 16,
                      .bytes = load.bytes,
                      .number = number,
                      .row = program.blocks + load.place * program.block_bytes,
                      .extents = {load.height, load.width}});
  }
}

class engine_stage final : public image_stage {
 public:
  engine_stage(const std::shared_ptr<cuda_context>& context, std::span<std::byte> memory)
      : decoder_{context, memory}, checks_{context} {}

  void decode(const decode_frame& frame, std::span<const decode_program> programs,
              std::span<const block_load> loads, cudaStream_t stream) override {
    issue_header_checks(frame, stream);
    bad_.resize(loads.size());
    FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(bad_.data(), frame.bad, bad_.size() * sizeof bad_[0],
                                        cudaMemcpyDeviceToHost, stream));
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream));
    issue_scan_checks(frame, checks_.get());
    for (std::uint32_t field = 0; field < programs.size(); ++field) {
      find_images(
          {frame, programs, loads}, field,
          [this](std::uint32_t number) { return bad_[number] == 0; }, images_);
      decoder_.decode(images_, programs[field].image, frame.bad, stream);
    }
    checks_.join(stream);
  }

 private:
  jpeg_engine_decoder decoder_;
  side_stream checks_;
  std::vector<std::uint32_t> bad_;  ///< of loads, once headers are looked at
  std::vector<jpeg_image> images_;
};

class kernel_stage final : public image_stage {
 public:
  explicit kernel_stage(std::span<std::byte> memory) noexcept : decoder_{memory} {}

  void decode(const decode_frame& frame, std::span<const decode_program> programs,
              std::span<const block_load> loads, cudaStream_t stream) override {
    for (std::uint32_t field = 0; field < programs.size(); ++field) {
      find_images(
          {frame, programs, loads}, field, [](std::uint32_t) { return true; }, images_);
      decoder_.decode(images_, programs[field].image, frame.bad, stream);
    }
  }

 private:
  jpeg_kernel_decoder decoder_;
  std::vector<jpeg_image> images_;
};

}  // namespace

std::unique_ptr<image_stage> make_image_stage(jpeg_way way,
                                              const std::shared_ptr<cuda_context>& context,
                                              std::span<std::byte> memory) {
  if (way == jpeg_way::engines) return std::make_unique<engine_stage>(context, memory);
  return std::make_unique<kernel_stage>(memory);
}

}  // namespace feedline::detail
