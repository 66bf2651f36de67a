#include "formats/parquet/column_cache.hpp"

#include <utility>

namespace feedline::detail {

parquet_values_ptr column_cache::find_or_decode(const key& of, std::uint64_t rows,
                                                const std::function<parquet_values()>& decode) {
  if (parquet_values_ptr there = kept(of)) return there;
  const std::uint64_t number = number_of(of);
  {
    const std::lock_guard lock{mutex_};
    const auto [at, is_new] = entries_.try_emplace(number);
    if (!is_new) {
      parquet_values_ptr values = at->second.values;
      if (values == nullptr) return nullptr;
      at->second.used += rows;
      if (!keeps_all_ && at->second.used >= values->rows) drop(at);
      return values;
    }
  }
  parquet_values_ptr values;
  try {
    values = std::make_shared<const parquet_values>(decode());
    publish(of, values, rows);
  } catch (...) {
    {
      const std::lock_guard lock{mutex_};
      entries_.erase(number);
    }
    decoded_.notify_all();
    throw;
  }
  decoded_.notify_all();
  return values;
}

parquet_values_ptr column_cache::kept(const key& of) const noexcept {
  if (!keeps_all_) return nullptr;
  // Without an owner: counting the users of a column would make readers wait for one another, too.
  return {parquet_values_ptr{},
          kept_[of.group * columns_ + of.column].load(std::memory_order_acquire)};
}

void column_cache::find(std::uint64_t group, std::span<const wanted> columns,
                        std::span<parquet_values_ptr> found) {
  bool are_all_kept = true;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    found[i] = kept({group, columns[i].column});
    are_all_kept &= found[i] != nullptr;
  }
  if (are_all_kept) return;
  const std::lock_guard lock{mutex_};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (found[i] != nullptr) continue;
    const auto at = entries_.find(number_of({group, columns[i].column}));
    found[i] = at == entries_.end() ? nullptr : at->second.values;
    if (found[i] == nullptr) continue;
    at->second.used += columns[i].rows;
    if (!keeps_all_ && at->second.used >= found[i]->rows) drop(at);
  }
}

void column_cache::wait_while_decoding(const key& of) {
  std::unique_lock lock{mutex_};
  decoded_.wait(lock, [&] {
    const auto at = entries_.find(number_of(of));
    return at == entries_.end() || at->second.values != nullptr;
  });
}

void column_cache::publish(const key& of, const parquet_values_ptr& values, std::uint64_t rows) {
  const std::uint64_t number = number_of(of);
  const std::lock_guard lock{mutex_};
  const auto at = entries_.find(number);
  if (!keeps_all_ && rows >= values->rows) {
    entries_.erase(at);
    return;
  }
  at->second = {values, rows, next_age_};
  bytes_ += values->bytes;
  if (keeps_all_ && values->fixed != nullptr)
    kept_[of.group * columns_ + of.column].store(values.get(), std::memory_order_release);
  else
    line_.push_back({number, next_age_});
  ++next_age_;
  while (bytes_ > max_bytes_ && line_.size() > 1) {
    const aged oldest = line_.front();
    line_.pop_front();
    const auto old = entries_.find(oldest.key);
    if (old != entries_.end() && old->second.values != nullptr && old->second.age == oldest.age)
      drop(old);
  }
  // Columns that were used up have left gaps.
  if (line_.size() > 2 * entries_.size() + 64)
    std::erase_if(line_, [&](const aged& each) {
      const auto found = entries_.find(each.key);
      return found == entries_.end() || found->second.values == nullptr ||
             found->second.age != each.age;
    });
}

void column_cache::drop(std::unordered_map<std::uint64_t, entry>::iterator at) {
  bytes_ -= at->second.values->bytes;
  entries_.erase(at);
}

bool column_cache::has(const key& of) const {
  const std::lock_guard lock{mutex_};
  return entries_.contains(number_of(of));
}

std::size_t column_cache::bytes() const {
  const std::lock_guard lock{mutex_};
  return bytes_;
}

}  // namespace feedline::detail
