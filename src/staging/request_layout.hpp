#pragma once

#include "detail/arithmetic.hpp"
#include "staging/device_row_cache.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace feedline::detail {

/// The part of a loader's plan that readers use. `loader_plan` has the same names and explains
/// them.
struct slot_plan {
  std::uint64_t samples_per_epoch = 0;
  std::uint64_t batch_size = 0;
  std::uint64_t batches_per_epoch = 0;
  std::uint64_t batches_per_slot = 0;
  std::uint64_t piece_samples = 0;
  bool slots_grow = false;
  std::uint64_t request_samples = 0;
  std::uint64_t min_requests = 0;
  /// For readers that wait for other processes: requests of fewer samples cost more than they make
  /// a slot's end even. 0: a reader reads itself.
  std::uint64_t few_samples = 0;
  std::size_t staging_slots = 0;
  int readers = 0;
  int first_readers = 0;  ///< number that `min_requests` is for; 0: all
};

/// A part of a staging slot's samples: the unit a reader takes.
struct request {
  std::uint32_t slot;    ///< index in the staging ring
  std::uint32_t number;  ///< within the slot, as `request_layout` counts
};

/// A run of a slot's samples, counted from the slot's first.
struct sample_run {
  std::uint64_t begin;
  std::uint64_t end;
};

/// How a slot is divided: into requests, each filled by one reader, and these into runs, each one
/// read of the dataset. A request has as many whole batches as fit the size asked for, or an equal
/// part of one; a run is the part of a request that lies in one batch. A ticket is divided into
/// pieces in the same way.
class request_layout {
 public:
  /// @param batch_size   At least 1.
  /// @param max_samples A request's, at least 1.
  constexpr request_layout(std::uint64_t batch_size, std::uint64_t max_samples) noexcept
      : batch_size_{batch_size},
        runs_per_batch_{max_samples >= batch_size ? 1 : divide_up(batch_size, max_samples)},
        run_samples_{divide_up(batch_size, runs_per_batch_)},
        request_samples_{std::max(max_samples / batch_size * batch_size, run_samples_)} {}
  explicit constexpr request_layout(const slot_plan& plan) noexcept
      : request_layout{plan.batch_size, plan.request_samples} {}

  [[nodiscard]] constexpr std::uint64_t batch_size() const noexcept { return batch_size_; }
  /// Samples of each request except a batch's or slot's last.
  [[nodiscard]] constexpr std::uint64_t request_samples() const noexcept {
    return request_samples_;
  }
  [[nodiscard]] constexpr std::uint64_t run_samples() const noexcept { return run_samples_; }
  [[nodiscard]] constexpr std::uint64_t runs_per_batch() const noexcept { return runs_per_batch_; }

  /// Requests in a slot of this many samples.
  [[nodiscard]] constexpr std::uint64_t requests(std::uint64_t samples) const noexcept {
    if (runs_per_batch_ == 1) return divide_up(samples, request_samples_);
    return runs(samples);
  }
  /// Runs in a slot of this many samples.
  [[nodiscard]] constexpr std::uint64_t runs(std::uint64_t samples) const noexcept {
    return samples / batch_size_ * runs_per_batch_ + divide_up(samples % batch_size_, run_samples_);
  }

  /// Samples of a request, in a slot of this many samples.
  [[nodiscard]] constexpr sample_run request(std::uint64_t number,
                                             std::uint64_t samples) const noexcept {
    if (runs_per_batch_ == 1) {
      const std::uint64_t begin = number * request_samples_;
      return {begin, std::min(begin + request_samples_, samples)};
    }
    const std::uint64_t batch = number / runs_per_batch_ * batch_size_;
    const std::uint64_t begin = batch + number % runs_per_batch_ * run_samples_;
    return {begin, std::min({begin + run_samples_, batch + batch_size_, samples})};
  }
  /// The run that holds a sample.
  [[nodiscard]] constexpr std::uint64_t run_of(std::uint64_t sample) const noexcept {
    return sample / batch_size_ * runs_per_batch_ + sample % batch_size_ / run_samples_;
  }

 private:
  std::uint64_t batch_size_;
  std::uint64_t runs_per_batch_;
  std::uint64_t run_samples_;
  std::uint64_t request_samples_;
};

/// Chooses how the next ticket is divided into pieces and these into requests: by the size of its
/// rows while they may have to be read, and coarsely once the device holds them all, when readers
/// only write where they are. Slot scheduler.
class request_partition {
 public:
  /// @param cached Null where no rows are cached.
  explicit request_partition(const slot_plan& plan,
                             std::shared_ptr<const device_row_cache> cached = nullptr)
      : batch_size_{plan.batch_size},
        request_samples_{plan.request_samples},
        min_requests_{plan.min_requests},
        few_samples_{plan.few_samples},
        readers_{plan.readers},
        first_readers_{std::max(plan.first_readers == 0 ? plan.readers : plan.first_readers, 1)},
        numbering_{plan.batch_size, numbered_samples(plan)},
        pieces_{plan.batch_size, std::max<std::uint64_t>(plan.piece_samples, 1)},
        slot_{plan.batch_size, plan.batches_per_slot * plan.batch_size},
        cached_{std::move(cached)} {}

  /// How a piece of this many samples is divided into requests. A single batch is divided among all
  /// readers: then it takes no longer than all of them need, and the time that they take shows how
  /// fast they are.
  /// @param resting Number of the plan's readers that take no requests.
  [[nodiscard]] request_layout next(std::uint64_t samples, int resting = 0) const {
    if (!rows_are_read()) return numbering_;
    if (min_requests_ == 0) return {batch_size_, request_samples_};
    const auto readers = static_cast<std::uint64_t>(std::max(readers_ - resting, 1));
    const std::uint64_t least =
        std::min(divide_up(min_requests_ * readers, static_cast<std::uint64_t>(first_readers_)),
                 min_requests_);
    // Two readers wait for each process, which has a request of the slot in any case.
    const std::uint64_t each = samples / divide_up<std::uint64_t>(readers, 2);
    const std::uint64_t shared = std::max(divide_up(samples, least), std::min(few_samples_, each));
    return {batch_size_, std::min(request_samples_, shared)};
  }
  /// How a ticket is divided into pieces, which `requests` then divides. A slot without rows to
  /// read is one piece.
  [[nodiscard]] request_layout pieces() const { return rows_are_read() ? pieces_ : slot_; }
  /// The most batches that a ticket holds: a ticket of several pieces holds one.
  [[nodiscard]] std::uint64_t max_batches() const {
    return std::max<std::uint64_t>(pieces().request_samples() / batch_size_, 1);
  }
  /// Some row may still have to be read; else a slot is made in microseconds, however large.
  [[nodiscard]] bool rows_are_read() const noexcept { return !cached_ || !cached_->holds_all(); }
  /// Requests of a slot of at most this many samples, however it is divided.
  [[nodiscard]] std::uint64_t max_requests(std::uint64_t samples) const noexcept {
    const request_layout reading{batch_size_, request_samples_};
    return std::max(reading.requests(samples) + more_requests(min_requests_),
                    numbering_.requests(samples));
  }
  /// The number of requests, and runs, that a slot may have beyond those from its rows' sizes:
  /// twice the number asked for, because requests end where batches do.
  [[nodiscard]] static constexpr std::uint64_t more_requests(std::uint64_t min_requests) noexcept {
    return min_requests == 0 ? 0 : 2 * min_requests + 2;
  }

 private:
  /// Whole batches, about ten microseconds of work, and never more requests than rows' sizes give;
  /// all of a slot if no other reader shares it.
  static std::uint64_t numbered_samples(const slot_plan& plan) noexcept {
    const std::uint64_t slot = plan.batches_per_slot * plan.batch_size;
    if (plan.readers == 0) return slot;
    return std::max({plan.batch_size, plan.request_samples, std::uint64_t{2048}});
  }

  std::uint64_t batch_size_;
  std::uint64_t request_samples_;
  std::uint64_t min_requests_;
  std::uint64_t few_samples_;
  int readers_;
  int first_readers_;
  request_layout numbering_;
  request_layout pieces_;
  request_layout slot_;
  std::shared_ptr<const device_row_cache> cached_;
};

}  // namespace feedline::detail
