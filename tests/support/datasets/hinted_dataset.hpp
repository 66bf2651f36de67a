#pragma once

#include <feedline/dataset/dataset.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace feedline::test {

/// Another dataset that asks for hints, and keeps account of them and of what is read.
class hinted_dataset final : public dataset {
 public:
  explicit hinted_dataset(dataset_ptr of, chunking chunks = {})
      : of_{std::move(of)}, chunks_{chunks} {}

  [[nodiscard]] std::uint64_t size() const override { return of_->size(); }
  [[nodiscard]] std::vector<field> fields() const override { return of_->fields(); }
  [[nodiscard]] chunking chunks() const override { return chunks_; }
  [[nodiscard]] std::shared_ptr<const encoded_blocks> encoded() const override {
    return of_->encoded();
  }
  void do_read(const read_request& request) const override {
    {
      const std::scoped_lock lock{mutex_};
      for (const sample_index sample : request.samples)
        reads_.push_back({sample.value, hints_.size()});
    }
    of_->read(request);
  }
  [[nodiscard]] bool wants_prefetch() const noexcept override {
    ++asked;
    return wanted;
  }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    const std::scoped_lock lock{mutex_};
    for (const sample_index sample : samples) hints_.push_back(sample.value);
  }

  /// A sample that was read, and how many hints had been given by then.
  struct account {
    std::uint64_t sample;
    std::size_t hints;
  };
  /// Call it after the last read.
  [[nodiscard]] const std::vector<std::uint64_t>& hints() const { return hints_; }
  [[nodiscard]] const std::vector<account>& reads() const { return reads_; }

  mutable std::atomic<bool> wanted{true};
  mutable std::atomic<std::uint64_t> asked{0};

 private:
  dataset_ptr of_;
  chunking chunks_;
  mutable std::mutex mutex_;
  mutable std::vector<std::uint64_t> hints_;
  mutable std::vector<account> reads_;
};

}  // namespace feedline::test
