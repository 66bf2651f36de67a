#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A dataset whose samples may depend on the epoch and the loader's seed. Derive from it instead of
/// `dataset` for random augmentation on the CPU:
///
///     class noise : public feedline::contextual_dataset {
///      public:
///       std::uint64_t size() const override { return 1000; }
///       std::vector<field> fields() const override { return {{"x", element_type::f32, {}}}; }
///       bool varies_by_epoch() const override { return true; }
///       void read_for(std::span<const sample_index> samples,
///                     std::span<const std::span<std::byte>> out,
///                     const read_context& context) const override {
///         for (std::size_t i = 0; i < samples.size(); ++i) {
///           const float x = context[i].random().uniform();
///           std::memcpy(out[0].data() + i * sizeof x, &x, sizeof x);
///         }
///       }
///     };
///
/// Threads: same as `dataset`.
class contextual_dataset : public dataset {
 public:
  void read_for(std::span<const sample_index> samples, std::span<const std::span<std::byte>> out,
                const read_context& context) const override = 0;
  [[nodiscard]] bool varies_by_epoch() const override = 0;

  /// Reads outside of a loader, without an epoch.
  void read(std::span<const sample_index> samples,
            std::span<const std::span<std::byte>> out) const final {
    read_for(samples, out, read_context{samples});
  }
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
