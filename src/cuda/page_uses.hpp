#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Counts who uses which pages of host memory, so that each is pinned by the first who asks and
/// unpinned behind the last, although arrays share pages and overlap.
///
/// Threads: one at a time.
class page_uses {
 public:
  static constexpr std::uintptr_t page_bytes = 4096;

  /// Whole pages, by the addresses of the first byte and of the byte behind the last.
  struct range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    friend bool operator==(const range&, const range&) = default;
  };
  /// What became of pages that were to be pinned.
  struct piece {
    range pages;
    bool ours = true;  ///< to be unpinned; else somebody had pinned them before
  };
  /// Pins pages that no earlier call pinned, piece after piece; throws if it cannot, with none
  /// pinned.
  using pin_function = std::function<std::vector<piece>(range)>;
  /// Unpins a piece that is ours.
  using unpin_function = std::function<void(range)>;

  page_uses(pin_function pin, unpin_function unpin)
      : pin_{std::move(pin)}, unpin_{std::move(unpin)} {}

  /// The pages that memory touches.
  [[nodiscard]] static range pages_of(std::span<const std::byte> memory) noexcept;

  /// Counts one use more of all pages that `memory` touches, and pins those that had none.
  /// @throws what `pin` throws; then nothing has changed.
  void add(std::span<const std::byte> memory);
  /// Takes a use back that `add` counted for the same memory, and unpins what has none left.
  void remove(std::span<const std::byte> memory) noexcept;

 private:
  struct use {
    std::uintptr_t end;
    bool ours;
    std::uint64_t count;
  };
  using uses = std::map<std::uintptr_t, use>;  ///< disjoint, by their begin

  [[nodiscard]] uses::iterator first_in(range pages);
  [[nodiscard]] std::vector<range> gaps_in(range pages);

  pin_function pin_;
  unpin_function unpin_;
  uses uses_;
};

}  // namespace feedline::detail
