#pragma once

#include <feedline/batch/batch.hpp>

#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace feedline::test {

/// One batch of identity data as a consumer saw it.
struct seen_batch {
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  std::vector<std::uint64_t> samples = {};  ///< ids found in the data
  bool intact = true;                       ///< every row spells the id that stands beside it

  friend bool operator==(const seen_batch&, const seen_batch&) = default;
};

/// Content of a batch of identity data in memory that the host can read now.
[[nodiscard]] inline seen_batch look_at(std::uint64_t epoch, std::uint64_t index,
                                        std::span<const std::uint64_t> ids,
                                        std::span<const std::byte> rows) {
  seen_batch seen{.epoch = epoch, .index = index};
  const std::size_t row_bytes = rows.size() / ids.size();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    seen.samples.push_back(ids[i]);
    seen.intact = seen.intact && is_identity(ids[i], std::as_bytes(ids.subspan(i, 1)),
                                             rows.subspan(i * row_bytes, row_bytes));
  }
  return seen;
}

/// The same of a batch on the host, or one whose stream was drained.
[[nodiscard]] inline seen_batch look_at(const batch& batch) {
  const tensor_view id = batch["id"];
  return look_at(batch.epoch(), batch.index(), {id.data<std::uint64_t>(), id.samples()},
                 batch["row"].bytes());
}

/// Writes down what batches of identity data hold: at once on the host, in stream order on a
/// scripted device.
class recorder {
 public:
  /// A consumer on the host.
  recorder() = default;
  /// A consumer whose looking is work on a stream.
  explicit recorder(scripted on) : on_{std::move(on)} {}

  /// Issues the look; the batch may be destroyed right after.
  void operator()(const batch& batch) {
    // A look may be done when the loader is gone, and with it what describes the fields.
    const tensor_view id = batch["id"];
    const auto rows = batch["row"].bytes();
    const auto look = [this, epoch = batch.epoch(), index = batch.index(), rows,
                       ids = std::span{id.data<std::uint64_t>(), id.samples()}] {
      auto seen = look_at(epoch, index, ids, rows);
      const std::scoped_lock lock{mutex_};
      seen_.push_back(std::move(seen));
    };
    if (on_.device) {
      on_.device->launch(on_.stream, look, rows);
    } else {
      look();
    }
  }

  /// All that was seen, once all looks are done.
  [[nodiscard]] std::vector<seen_batch> seen() {
    if (on_.device) on_.device->drain(on_.stream);
    const std::scoped_lock lock{mutex_};
    return seen_;
  }

 private:
  scripted on_{nullptr, {}};
  std::mutex mutex_;
  std::vector<seen_batch> seen_;
};

/// Whether every row of every batch was whole.
[[nodiscard]] inline bool all_intact(std::span<const seen_batch> batches) {
  for (const auto& batch : batches) {
    if (!batch.intact) return false;
  }
  return true;
}

/// Whether the batches hold samples 0, 1, 2, … in order, every row whole; not so if there are none.
[[nodiscard]] inline bool in_order_and_intact(std::span<const seen_batch> batches) {
  std::uint64_t next = 0;
  for (const auto& batch : batches) {
    for (const auto sample : batch.samples) {
      if (sample != next++) return false;
    }
  }
  return next != 0 && all_intact(batches);
}

}  // namespace feedline::test
