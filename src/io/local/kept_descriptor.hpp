#pragma once

#include "io/local/descriptor.hpp"
#include "io/local/watch.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace feedline::detail {

/// Opens a file to be read, as `descriptor` does. If the process or the system has no descriptor
/// left, raises the process's limit, or closes unused kept descriptors, and tries again.
[[nodiscard]] descriptor open_with_room(const char* path, int flags = 0) noexcept;

/// Closes unused kept descriptors, the least recently used ones first.
/// @return How many were closed; 0 if all are in use.
std::size_t close_kept_descriptors(std::size_t count) noexcept;

/// A file's descriptor that stays open while the process has room for it, and is opened again when
/// it is wanted later. So there may be any number of files.
///
/// All kept descriptors of a process form one set, of no more than half of its limit on open files
/// (`ulimit -n`). Adding one to a full set closes another that is not in use at the moment:
/// approximately the least recently used one (by second chances). The first file of a process that
/// has to be opened again raises that limit.
///
/// Threads: all functions may be called by any number of threads. A descriptor in use stays open.
class kept_descriptor {
 public:
  /// Keeps the descriptor open while it lives; empty if there is none. Move-only, because it ends
  /// a use once.
  class use {
   public:
    use() = default;
    use(use&& other) noexcept
        : of_{std::exchange(other.of_, nullptr)}, number_{std::exchange(other.number_, -1)} {}
    use& operator=(use&&) = delete;
    ~use() {
      if (of_ != nullptr) of_->end_use();
    }

    explicit operator bool() const noexcept { return of_ != nullptr; }
    [[nodiscard]] int number() const noexcept { return number_; }

   private:
    friend kept_descriptor;
    use(const kept_descriptor& of, int number) noexcept : of_{&of}, number_{number} {}

    const kept_descriptor* of_ = nullptr;
    int number_ = -1;
  };

  /// @param opened Open. @param file Outlives this, and tells whether a file is still the same; if
  ///        it has no path, the descriptor is never closed.
  kept_descriptor(descriptor opened, const file_watch& file) noexcept;
  kept_descriptor(const kept_descriptor&) = delete;
  kept_descriptor& operator=(const kept_descriptor&) = delete;
  ~kept_descriptor();

  /// Makes it one of the set, so that it may be closed; called once.
  /// @param only_if_room Closes this one if the set is full, and no other.
  void join(bool only_if_room) noexcept;

  /// The descriptor, opened again if it was closed.
  /// @param refusal If the returned use is empty: what happened to the file, and what to do.
  [[nodiscard]] use take(std::string& refusal) const;
  /// The descriptor if it is open. Does not count as a use where the least recently used is sought.
  [[nodiscard]] use take_if_open() const noexcept;

 private:
  friend class descriptor_set;

  void end_use() const noexcept { state_.fetch_sub(1, std::memory_order_release); }
  [[nodiscard]] use open_again(std::string& refusal) const;

  /// The descriptor + 1, or 0 if it is closed, in the upper half; the number of uses in the lower.
  /// It changes from open to closed only while it is not in use, by compare-and-exchange.
  mutable std::atomic<std::uint64_t> state_;
  mutable std::atomic<bool> was_used_{false};  ///< since the set looked at it last
  mutable std::mutex opening_;                 ///< lets one thread open it again
  const file_watch& file_;

  // The set's list, guarded by its mutex. The file may be const, its entry in the list is not.
  mutable const kept_descriptor* older_ = nullptr;
  mutable const kept_descriptor* newer_ = nullptr;
};

}  // namespace feedline::detail
