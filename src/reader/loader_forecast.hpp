#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/sampler/sampler.hpp>

#include "io/read_forecast.hpp"
#include "sampler/epoch_share.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace feedline::detail {

/// The samples that a loader will read, from its dataset's hints and the order of all ranks.
class loader_forecast final : public read_forecast {
 public:
  /// Null if there is no listener, or nothing can be foretold: no sample is far, the dataset's
  /// hints do more than name ranges, or the order of a later epoch is not known yet.
  /// @param data Borrowed until `end`. @param order The order of all ranks.
  /// @param epochs 0: unknown.
  [[nodiscard]] static std::shared_ptr<loader_forecast> make(const dataset& data,
                                                             const sampler& order,
                                                             const epoch_share& share,
                                                             std::uint64_t epochs) {
    if (forecast_listener::of_process() == nullptr || share.positions == 0 || order.has_digests() ||
        !data.hints_ranges() || !data.wants_prefetch())
      return nullptr;
    return std::make_shared<loader_forecast>(data, order, share, epochs);
  }

  loader_forecast(const dataset& data, sampler order, const epoch_share& share,
                  std::uint64_t epochs)
      : read_forecast{share.positions, epochs, share.world > 1},
        data_{data},
        order_{std::move(order)},
        share_{share} {}

  /// A reader is about to read the sample at a position of this rank's order.
  void reached_own(std::uint64_t epoch, position own) noexcept {
    reached(epoch, share_.at(own.value).value % positions());
  }

 private:
  bool do_record(std::uint64_t epoch, std::uint64_t first, std::size_t count,
                 range_recorder& into) noexcept override {
    try {
      std::array<sample_index, max_recorded> room;
      const auto samples = std::span{room}.first(count);
      order_.indices(data_.size(), epoch, position{first}, samples);
      const range_recorder::scope recorded{into};
      for (const sample_index& each : samples) {
        into.at(first++);
        data_.prefetch({&each, 1});
      }
      return true;
    } catch (...) {
      return false;  // a sampler that fails is heard when samples are read
    }
  }

  const dataset& data_;
  const sampler order_;
  const epoch_share share_;
};

/// A loader's forecast, if it has one; ends it with the loader.
class held_forecast {
 public:
  explicit held_forecast(std::shared_ptr<loader_forecast> of) noexcept : of_{std::move(of)} {}
  held_forecast(const held_forecast&) = delete;
  held_forecast& operator=(const held_forecast&) = delete;
  ~held_forecast() {
    if (of_) of_->end();
  }
  /// Tells those who listen.
  void begin() const noexcept {
    forecast_listener* const listener = forecast_listener::of_process();
    if (of_ && listener != nullptr) listener->begins(of_);
  }
  [[nodiscard]] loader_forecast* get() const noexcept { return of_.get(); }
  /// Nothing is known without a forecast.
  [[nodiscard]] download_plan downloads() const {
    forecast_listener* const listener = forecast_listener::of_process();
    return of_ && listener != nullptr ? listener->foretell(of_) : download_plan{};
  }

 private:
  std::shared_ptr<loader_forecast> of_;
};

}  // namespace feedline::detail
