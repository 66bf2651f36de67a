#pragma once

#include "ragged/coded_values.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Reads records whose fields are read one after the other: blocks for devices are. A record that
/// was read for one field is kept until it was read for the others, so that it is read and checked
/// once. Keeps at most one record for each thread that reads.
///
/// Threads: any number, at once.
class record_reads {
  struct kept {
    std::vector<std::byte> memory = {};
    std::span<const std::byte> record = {};
    std::uint64_t sample = 0;
    std::size_t uses_left = 0;
  };
  struct put_back {
    record_reads* to;
    void operator()(kept* record) const noexcept;
  };

 public:
  /// The hold on a record; it must not outlive its `record_reads`.
  class lease {
   public:
    [[nodiscard]] std::span<const std::byte> record() const noexcept { return kept_->record; }

   private:
    friend class record_reads;
    explicit lease(std::unique_ptr<kept, put_back> record) : kept_{std::move(record)} {}

    std::unique_ptr<kept, put_back> kept_;
  };

  /// @param fields How many fields are read of each record; at least 1.
  record_reads(coded_values_ptr of, std::size_t fields) : of_{std::move(of)}, fields_{fields} {}

  [[nodiscard]] const coded_values_ptr& of() const noexcept { return of_; }
  /// @throws as `coded_values::read`.
  [[nodiscard]] lease read(std::uint64_t sample);

 private:
  [[nodiscard]] std::unique_ptr<kept, put_back> take(std::uint64_t sample);

  coded_values_ptr of_;
  std::size_t fields_;
  std::mutex mutex_;  ///< guards everything below
  std::vector<std::unique_ptr<kept>> idle_;
  std::size_t made_ = 0;
};

using record_reads_ptr = std::shared_ptr<record_reads>;

}  // namespace feedline::detail
