#pragma once

#include "ragged/coded_values.hpp"

#include <memory>
#include <string>
#include <vector>

namespace feedline::detail {

/// Files that are a sample each. The stored value of a sample is its path: decoders open the file,
/// so that they read only what is wanted.
class sample_files final : public coded_values {
 public:
  /// @param paths At least one.
  explicit sample_files(std::vector<std::string> paths) : paths_{std::move(paths)} {}

  [[nodiscard]] std::uint64_t size() const override { return paths_.size(); }
  [[nodiscard]] std::uint64_t stored_bytes(std::uint64_t) const override { return 0; }
  std::span<const std::byte> read(std::uint64_t sample, const room&) const override {
    return std::as_bytes(std::span{paths_[sample]});
  }
  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    throw dataset_error{{paths_[sample], fault.field(), sample, fault.where().offset},
                        fault.message()};
  }
  [[nodiscard]] bool wants_prefetch() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override;

  [[nodiscard]] const std::string& path(std::uint64_t sample) const noexcept {
    return paths_[sample];
  }

 private:
  std::vector<std::string> paths_;
};

/// The path that `sample_files` gave.
[[nodiscard]] inline std::string path_of_sample(std::span<const std::byte> stored) {
  return {reinterpret_cast<const char*>(stored.data()), stored.size()};
}

}  // namespace feedline::detail
