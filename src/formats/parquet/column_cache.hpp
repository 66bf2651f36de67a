#pragma once

#include "formats/parquet/values.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace feedline::detail {

using parquet_values_ptr = std::shared_ptr<const parquet_values>;

/// Keeps decoded columns of row groups, as many as memory allows. One thread decodes a column
/// while the others continue with columns that are there.
///
/// A column is dropped once its rows were found as often as it has rows: if every row is read once,
/// this is its last use. If there is room for all, none is dropped; only columns of varying size
/// may take more memory than their files tell, and then still give way. Otherwise the oldest gives
/// way.
/// A thread keeps a column that it has found for as long as it needs it.
///
/// Threads: all functions may be called by any number of threads. The lock is taken once for each
/// row group that a read needs, and for each column that it decodes or waits for, but never while a
/// column is decoded. If there is room for all, columns of fixed size are found without a lock:
/// readers that look up each of many columns would otherwise wait for one another.
class column_cache {
 public:
  /// A column of a row group.
  struct key {
    std::uint64_t group;
    std::uint64_t column;
  };

  /// A column that a read needs.
  struct wanted {
    std::uint64_t column;
    std::uint64_t rows;  ///< number of its rows that the caller will read now
  };
  /// Numbers of all row groups and of their columns.
  struct extent {
    std::uint64_t groups;
    std::uint64_t columns;
  };

  /// @param all Given if all columns are expected to fit.
  column_cache(std::size_t max_bytes, std::optional<extent> all)
      : max_bytes_{max_bytes},
        keeps_all_{all.has_value()},
        columns_{all ? all->columns : 0},
        kept_(all ? all->groups * all->columns : 0) {}

  /// Finds those columns of a row group that are decoded; null: it is not, or not yet.
  /// @param found Has the size of `columns`; must not outlive the cache.
  void find(std::uint64_t group, std::span<const wanted> columns,
            std::span<parquet_values_ptr> found);

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
  /// A column that is never dropped; null: it is not decoded yet, or may be dropped.
  [[nodiscard]] parquet_values_ptr kept(const key& of) const noexcept;
  void publish(const key& of, const parquet_values_ptr& values, std::uint64_t rows);
  void drop(std::unordered_map<std::uint64_t, entry>::iterator at);

  const std::size_t max_bytes_;
  const bool keeps_all_;
  const std::uint64_t columns_;
  /// Columns that are never dropped, group after group; owned by `entries_`.
  std::vector<std::atomic<const parquet_values*>> kept_;
  mutable std::mutex mutex_;  ///< guards everything below
  std::condition_variable decoded_;
  std::unordered_map<std::uint64_t, entry> entries_;
  std::deque<aged> line_;  ///< those that may be dropped, oldest first; some are no longer there
  std::size_t bytes_ = 0;
  std::uint64_t next_age_ = 0;
};

}  // namespace feedline::detail
