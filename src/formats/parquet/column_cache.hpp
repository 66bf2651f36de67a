#pragma once

#include "formats/parquet/values.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace feedline::detail {

using parquet_values_ptr = std::shared_ptr<const parquet_values>;

/// Keeps decoded columns of row groups, as many as memory allows. One thread decodes a column
/// while the others continue with columns that are there.
///
/// A column is dropped once its rows were found as often as it has rows: if every row is read once,
/// this is its last use. If there is room for all, none is dropped. Otherwise the oldest gives way.
/// A thread keeps a column that it has found for as long as it needs it.
///
/// Threads: all functions may be called by any number of threads. The lock is taken once for each
/// column of a row group that a read needs, and never while a column is decoded.
class column_cache {
 public:
  /// A column of a row group.
  struct key {
    std::uint64_t group;
    std::uint64_t column;
  };

  /// @param keeps_all Whether all columns are expected to fit.
  column_cache(std::size_t max_bytes, bool keeps_all)
      : max_bytes_{max_bytes}, keeps_all_{keeps_all} {}

  /// The column, if it is there; null: another thread is decoding it; else decodes it.
  /// @param rows How many of its rows the caller will read now.
  /// @param decode Is called without the lock, at most once. @throws as it does; the column is then
  ///        absent again, and others may try.
  [[nodiscard]] parquet_values_ptr find_or_decode(const key& of, std::uint64_t rows,
                                                  const std::function<parquet_values()>& decode);

  /// Returns once no thread is decoding the column. The caller is not decoding.
  void wait_while_decoding(const key& of);

  /// Whether the column is there, or about to be.
  [[nodiscard]] bool has(const key& of) const;
  [[nodiscard]] bool keeps_all() const noexcept { return keeps_all_; }
  /// Bytes of the columns that are kept.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct entry {
    parquet_values_ptr values = nullptr;  ///< null: being decoded
    std::uint64_t used = 0;               ///< rows found
    std::uint64_t age = 0;                ///< number in the order of decoding
  };
  struct aged {
    std::uint64_t key;
    std::uint64_t age;
  };

  [[nodiscard]] static std::uint64_t number_of(const key& of) noexcept {
    return of.group << 24 | of.column;
  }
  void publish(std::uint64_t number, const parquet_values_ptr& values, std::uint64_t rows);
  void drop(std::unordered_map<std::uint64_t, entry>::iterator at);

  const std::size_t max_bytes_;
  const bool keeps_all_;
  mutable std::mutex mutex_;  ///< guards everything below
  std::condition_variable decoded_;
  std::unordered_map<std::uint64_t, entry> entries_;
  std::deque<aged> line_;  ///< oldest first; some are no longer there
  std::size_t bytes_ = 0;
  std::uint64_t next_age_ = 0;
};

}  // namespace feedline::detail
