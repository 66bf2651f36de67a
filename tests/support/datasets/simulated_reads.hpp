#pragma once

#include <feedline/sampler/sampler.hpp>

#include "io/byte_file.hpp"
#include "remote/cache/download_simulation.hpp"
#include "remote/cache/use_table.hpp"
#include "sampler/epoch_share.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace feedline::test {

/// An object of a store of which only the size is known.
class simulated_object final : public detail::byte_file, public detail::cached_file {
 public:
  simulated_object(std::uint64_t bytes, std::uint64_t block_bytes)
      : byte_file{"simulated", bytes, {}},
        identity_{detail::identify("http://host/simulated", "1", bytes, block_bytes)} {}

  [[nodiscard]] const detail::object_identity* identity() const noexcept override {
    return &identity_;
  }
  [[nodiscard]] detail::object_identity identity_in_any_cache() const override { return identity_; }
  [[nodiscard]] const std::shared_ptr<const detail::cache_setting>& cache()
      const noexcept override {
    return cache_;
  }
  void require_unchanged() const override {}
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] bool is_cold() const noexcept override { return true; }

 private:
  void do_read(std::span<const detail::byte_read>) const override {}

  detail::object_identity identity_;
  std::shared_ptr<const detail::cache_setting> cache_;
};

/// Rows of an object, each aligned, that ranks read in some order.
struct simulated_reads {
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t block_bytes = 0;
  sampler order;
  std::uint64_t batch_size = 1;

  [[nodiscard]] std::uint64_t bytes() const { return rows * row_bytes; }

  /// Rows of an epoch, in the order in which a rank reads them, with their positions.
  template <class Body>
  void for_each(std::uint64_t epoch, std::uint64_t rank, std::uint64_t world, Body body) const {
    const std::uint64_t rest = rows % (batch_size * world);
    const detail::epoch_share share{rows, batch_size, rank, world, (rest + world - 1) / world};
    for (std::uint64_t place = 0; place < share.places(); ++place) {
      const position at{share.at(place).value % rows};
      sample_index row;
      order.indices(rows, epoch, at, {&row, 1});
      body(at.value, row.value);
    }
  }

  /// Uses of the blocks by one rank, epoch by epoch; by all ranks in a world of 1.
  [[nodiscard]] detail::download_simulation::tables tables(std::uint64_t epochs,
                                                           std::uint64_t rank = 0,
                                                           std::uint64_t world = 1) const {
    const simulated_object object{bytes(), block_bytes};
    detail::download_simulation::tables made;
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
      auto table = std::make_shared<detail::use_table>(epoch);
      for_each(epoch, rank, world, [&](std::uint64_t at, std::uint64_t row) {
        const detail::byte_range range{row * row_bytes, (row + 1) * row_bytes};
        table->at(at);
        table->add(object, {&range, 1});
      });
      made.push_back(std::move(table));
    }
    return made;
  }

  /// Downloads of a rank's epochs with a cache that drops what was used least recently.
  /// @param unit Bytes that are fetched and kept together: a row, or a block.
  [[nodiscard]] std::vector<std::uint64_t> with_lru(std::uint64_t cache_bytes, std::uint64_t unit,
                                                    std::uint64_t epochs, std::uint64_t rank = 0,
                                                    std::uint64_t world = 1) const {
    std::list<std::uint64_t> used;  // the last one first
    std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> kept;
    std::vector<std::uint64_t> downloads(epochs, 0);
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
      for_each(epoch, rank, world, [&](std::uint64_t, std::uint64_t row) {
        const std::uint64_t number = row * row_bytes / unit;
        if (const auto found = kept.find(number); found != kept.end()) {
          used.splice(used.begin(), used, found->second);
          return;
        }
        downloads[epoch] += unit;
        if (unit > cache_bytes) return;
        if ((kept.size() + 1) * unit > cache_bytes) {
          kept.erase(used.back());
          used.pop_back();
        }
        used.push_front(number);
        kept.emplace(number, used.begin());
      });
    return downloads;
  }
};

}  // namespace feedline::test
