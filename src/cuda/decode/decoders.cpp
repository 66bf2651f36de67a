#include "cuda/decode/decoders.hpp"

#include <feedline/error.hpp>

#include "cuda/context.hpp"
#include "cuda/decode/decoder.hpp"
#include "cuda/decode/plan.hpp"
#include "cuda/decode/program.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// Kernels count a block's bytes in 31 bits.
void check_size(std::size_t bytes, const std::string& name) {
  if (bytes > std::numeric_limits<std::int32_t>::max() - std::size_t{1024})
    throw device_error{name + " decodes no blocks of " + std::to_string(bytes) + " bytes"};
}

/// An image's row is as large as its pixels.
void check_row(const block_store::field& field, const std::string& name) {
  for (const block_step& step : field.steps) {
    const std::uint64_t bytes = std::uint64_t{step.image.channels} * step.image.value_bytes() *
                                step.image.height * step.image.width;
    if (step.filter == block_filter::image && field.block_bytes != bytes)
      throw device_error{name + ": an image's row has " + std::to_string(bytes) + " bytes, not " +
                         std::to_string(field.block_bytes)};
  }
}

class cuda_block_decoders final : public block_decoders {
 public:
  cuda_block_decoders(int ordinal, std::string name, std::size_t memory_bytes)
      : name_{std::move(name)},
        memory_bytes_{memory_bytes},
        context_{std::make_shared<cuda_context>(ordinal)} {}

  [[nodiscard]] std::string refusal(std::span<const block_step> steps) const override {
    return refusal_of_program(steps);
  }

  [[nodiscard]] std::size_t device_bytes(const block_store& store) const override {
    const std::size_t own = layout_of(programs_of(store), store).bytes;
    return own + (store.chunks ? device_bytes(in_turns(*store.chunks)) : 0);
  }

  [[nodiscard]] std::unique_ptr<block_decoder> make(const block_store& store) const override {
    decoder_parts parts = parts_of(store);
    if (store.chunks)
      parts.chunks = std::make_unique<decoder_parts>(parts_of(in_turns(*store.chunks)));
    return make_cuda_block_decoder(std::move(parts));
  }

 private:
  /// Chunks of windows, with memory for some of a call's, which are decoded some after the others.
  static block_store in_turns(block_store chunks) {
    constexpr std::uint32_t max_turn = 2048;
    chunks.max_loads = std::min(chunks.max_loads, max_turn);
    return chunks;
  }

  [[nodiscard]] decoder_layout layout_of(std::span<const decode_program> programs,
                                         const block_store& store) const {
    return lay_out_decoder(programs, store.max_loads, memory_bytes_);
  }

  [[nodiscard]] decoder_parts parts_of(const block_store& store) const {
    std::vector<decode_program> programs = programs_of(store);
    const decoder_layout layout = layout_of(programs, store);
    return {.store = store,
            .programs = std::move(programs),
            .layout = layout,
            .context = context_,
            .name = name_};
  }

  [[nodiscard]] std::vector<decode_program> programs_of(const block_store& store) const {
    std::vector<decode_program> programs;
    for (const block_store::field& field : store.fields) {
      if (const std::string why = refusal(field.steps); !why.empty())
        throw device_error{name_ + ": " + why};
      check_size(field.block_bytes, name_);
      check_size(field.max_stored_bytes, name_);
      check_row(field, name_);
      if (!field.steps.empty() && field.steps.front().filter == block_filter::window &&
          !store.chunks)
        throw device_error{name_ + ": windows need a store of the chunks that they are cut from"};
      programs.push_back(make_program(field, store.places));
    }
    return programs;
  }

  std::string name_;
  std::size_t memory_bytes_;
  std::shared_ptr<cuda_context> context_;
};

}  // namespace

std::shared_ptr<const block_decoders> make_cuda_block_decoders(int ordinal, std::string name,
                                                               std::size_t memory_bytes) {
  return std::make_shared<cuda_block_decoders>(ordinal, std::move(name), memory_bytes);
}

}  // namespace feedline::detail
