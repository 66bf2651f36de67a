#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Counts who uses which pages of host memory, so that each is pinned by the first who asks and
/// unpinned after the last, although arrays overlap.
///
/// Threads: one at a time.
class page_uses {
 public:
  /// Whole pages, by the addresses of the first byte and of the byte after the last.
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

  /// Counts one use more of each page, and pins those that had none.
  /// @throws what `pin` throws; then nothing has changed.
  void add(range pages);
  /// Takes a use back that `add` counted for the same pages, and unpins what has none left.
  void remove(range pages) noexcept;

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
