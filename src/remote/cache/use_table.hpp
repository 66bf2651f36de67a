#pragma once

#include "io/read_forecast.hpp"
#include "remote/cache/block_key.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace feedline::detail {

/// A file whose blocks can be cached.
class cached_file {
 public:
  /// Null: it is not cached.
  [[nodiscard]] virtual const object_identity* identity() const noexcept = 0;

 protected:
  cached_file() = default;
  ~cached_file() = default;
};

/// The uses of a block in an epoch.
struct block_use {
  static constexpr std::uint64_t none = UINT64_MAX;
  std::uint64_t first = none;  ///< position of the first sample that needs it
  std::uint64_t last = 0;
  std::uint64_t bytes = 0;  ///< bytes of it that samples need, each use counted

  [[nodiscard]] bool is_any() const noexcept { return first != none; }
};

/// All uses of blocks in one epoch: 24 bytes a block, whatever the number of samples.
class use_table final : public range_recorder {
 public:
  explicit use_table(std::uint64_t of_epoch) : epoch{of_epoch} {}

  const std::uint64_t epoch;

  /// Null: the object is in no sample.
  [[nodiscard]] const std::vector<block_use>* find(std::uint64_t object) const {
    const auto found = objects_.find(object);
    return found == objects_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] block_use at(const block_id& block) const {
    const auto* const uses = find(block.object);
    return uses != nullptr && block.number < uses->size()
               ? (*uses)[static_cast<std::size_t>(block.number)]
               : block_use{};
  }
  /// @param body Is called with each block of objects that are in samples.
  template <class Body>
  void for_each(Body body) const {
    for (const auto& [object, uses] : objects_)
      for (std::size_t number = 0; number < uses.size(); ++number) body(block_id{object, number});
  }

  void at(std::uint64_t position) noexcept override { position_ = position; }
  void add(const byte_file& file, std::span<const byte_range> ranges) noexcept override;
  /// Whether a range is missing, for lack of memory.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

 private:
  std::unordered_map<std::uint64_t, std::vector<block_use>> objects_;
  std::uint64_t position_ = 0;
  const byte_file* file_ = nullptr;  ///< file of the last range
  std::vector<block_use>* uses_ = nullptr;
  std::uint64_t block_bytes_ = 1;
  bool has_failed_ = false;
};

}  // namespace feedline::detail
