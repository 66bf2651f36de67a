#pragma once

#include "io/read_forecast.hpp"
#include "remote/cache/block_key.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace feedline::detail {

struct cache_setting;

/// A file whose blocks can be cached.
class cached_file {
 public:
  /// Null: it is not cached.
  [[nodiscard]] virtual const object_identity* identity() const noexcept = 0;
  /// Its identity if there were a cache; blocks have the usual size then. @throws std::bad_alloc
  [[nodiscard]] virtual object_identity identity_in_any_cache() const = 0;
  /// Null: there is no cache.
  [[nodiscard]] virtual const std::shared_ptr<const cache_setting>& cache() const noexcept = 0;

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
  enum class files : std::uint8_t {
    cached,     ///< those of a cache
    all_remote  ///< also those that no cache keeps
  };
  explicit use_table(std::uint64_t of_epoch, files which = files::cached)
      : epoch{of_epoch}, which_{which} {}

  const std::uint64_t epoch;

  /// Null: the object is in no sample.
  [[nodiscard]] const std::vector<block_use>* find(std::uint64_t hash) const {
    const auto found = objects_.find(hash);
    return found == objects_.end() ? nullptr : &found->second.uses;
  }
  /// Size of a block of an object that is in samples.
  [[nodiscard]] std::uint64_t bytes_of(const block_id& block) const {
    const object& of = objects_.at(block.object);
    return std::min(of.block_bytes, of.size - block.number * of.block_bytes);
  }
  /// Cache of the first file that has one; null: none has.
  [[nodiscard]] const std::shared_ptr<const cache_setting>& cache() const noexcept {
    return cache_;
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
    for (const auto& [hash, of] : objects_)
      for (std::size_t number = 0; number < of.uses.size(); ++number) body(block_id{hash, number});
  }

  void at(std::uint64_t position) noexcept override { position_ = position; }
  void add(const byte_file& file, std::span<const byte_range> ranges) noexcept override;
  /// Whether a range is missing, for lack of memory.
  [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

 private:
  struct object {
    std::uint64_t block_bytes = 1;
    std::uint64_t size = 0;
    std::vector<block_use> uses = {};
  };

  void look_at(const byte_file& file);

  const files which_;
  std::shared_ptr<const cache_setting> cache_;
  std::unordered_map<std::uint64_t, object> objects_;  ///< keys are object_identity::hash
  std::uint64_t position_ = 0;
  const byte_file* file_ = nullptr;  ///< file of the last range
  object* to_ = nullptr;             ///< null: it does not count
  bool has_failed_ = false;
};

}  // namespace feedline::detail
