#pragma once

#include <feedline/dataset/decoder.hpp>
#include <feedline/image/decode.hpp>

namespace feedline::detail {

/// A decoder of images or masks; its options say how it cuts them.
class sized_decoder : public decoder {
 public:
  [[nodiscard]] virtual const image_options& options() const noexcept = 0;

  /// Options of a decoder; null: it decodes something else.
  [[nodiscard]] static const image_options* of(const decoder& any) noexcept {
    const auto* const found = dynamic_cast<const sized_decoder*>(&any);
    return found == nullptr ? nullptr : &found->options();
  }
};

}  // namespace feedline::detail
