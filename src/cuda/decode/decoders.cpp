#include "cuda/decode/decoders.hpp"

#include <feedline/error.hpp>

#include "cuda/check.hpp"
#include "cuda/context.hpp"
#include "cuda/decode/decoder.hpp"
#include "cuda/decode/jpeg/batch.hpp"
#include "cuda/decode/jpeg/nvjpeg.hpp"
#include "cuda/decode/plan.hpp"
#include "cuda/decode/program.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <mutex>
#include <optional>
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
    const std::uint64_t bytes = std::uint64_t{3} * step.image.height * step.image.width;
    if (step.filter == block_filter::jpeg && field.block_bytes != bytes)
      throw device_error{name + ": a JPEG's row has " + std::to_string(bytes) + " bytes, not " +
                         std::to_string(field.block_bytes)};
  }
}

class cuda_block_decoders final : public block_decoders {
 public:
  cuda_block_decoders(int ordinal, std::string name, std::optional<jpeg_way> images)
      : name_{std::move(name)},
        context_{std::make_shared<cuda_context>(ordinal)},
        images_{images} {}

  [[nodiscard]] std::string refusal(std::span<const block_step> steps) const override {
    return refusal_of_program(steps);
  }

  [[nodiscard]] std::size_t device_bytes(const block_store& store) const override {
    return layout_of(programs_of(store), store).bytes;
  }

  [[nodiscard]] std::unique_ptr<block_decoder> make(const block_store& store) const override {
    std::vector<decode_program> programs = programs_of(store);
    const decoder_layout layout = layout_of(programs, store);
    return make_cuda_block_decoder({.store = store,
                                    .programs = std::move(programs),
                                    .layout = layout,
                                    .context = context_,
                                    .name = name_});
  }

 private:
  /// Who decodes images, if there are some. Looks for engines once, which needs a context.
  [[nodiscard]] jpeg_way way_of(std::span<const decode_program> programs) const {
    const auto has_images = [](const decode_program& program) {
      return program.step[0].does == decode_operation::decode_image;
    };
    if (std::ranges::none_of(programs, has_images)) return jpeg_way::kernels;
    std::call_once(asked_, [this] {
      if (images_.has_value()) return;
      images_ = jpeg_way::kernels;
      if (nvjpeg_library::get() == nullptr) return;
      const cuda_current_device current{*context_};
      if (jpeg_engines{}.refusal().empty()) images_ = jpeg_way::engines;
    });
    return *images_;
  }

  [[nodiscard]] std::vector<decode_program> programs_of(const block_store& store) const {
    std::vector<decode_program> programs;
    for (const block_store::field& field : store.fields) {
      if (const std::string why = refusal(field.steps); !why.empty())
        throw device_error{name_ + ": " + why};
      check_size(field.block_bytes, name_);
      check_size(field.max_stored_bytes, name_);
      check_row(field, name_);
      programs.push_back(make_program(field, store.places));
    }
    return programs;
  }

  [[nodiscard]] decoder_layout layout_of(std::span<const decode_program> programs,
                                         const block_store& store) const {
    return lay_out_decoder(programs, store.max_loads, way_of(programs));
  }

  std::string name_;
  std::shared_ptr<cuda_context> context_;
  mutable std::once_flag asked_;
  mutable std::optional<jpeg_way> images_;
};

}  // namespace

std::shared_ptr<const block_decoders> make_cuda_block_decoders(int ordinal, std::string name,
                                                               std::optional<jpeg_way> images) {
  return std::make_shared<cuda_block_decoders>(ordinal, std::move(name), images);
}

}  // namespace feedline::detail
