#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Counts the uses of pages of host memory, so that each page is pinned at its first use and
/// unpinned after its last, although arrays overlap.
///
/// One thread at a time may call it.
class page_uses {
 public:
  /// Whole pages, by the addresses of the first byte and of the byte after the last.
  struct range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    friend bool operator==(const range&, const range&) = default;
  };
  /// Result of pinning some pages.
  struct piece {
    range pages;
    bool ours = true;  ///< we unpin them; false if they had been pinned before by other code
  };
  /// Pins pages that no earlier call pinned, piece by piece. If it cannot, it throws, and leaves
  /// none of them pinned.
  using pin_function = std::function<std::vector<piece>(range)>;
  /// Unpins a piece that is ours.
  using unpin_function = std::function<void(range)>;

  page_uses(pin_function pin, unpin_function unpin)
      : pin_{std::move(pin)}, unpin_{std::move(unpin)} {}

  /// Adds a use to each page, and pins the pages that had none.
  /// @throws what `pin` throws; then nothing has changed.
  void add(range pages);
  /// Removes a use that `add` counted for the same pages, and unpins the pages that have none left.
  void remove(range pages) noexcept;

 private:
  struct use {
    std::uintptr_t end;
    bool ours;
    std::uint64_t count;
  };
  using uses = std::map<std::uintptr_t, use>;  ///< disjoint, keyed by their begin

  [[nodiscard]] uses::iterator first_in(range pages);
  [[nodiscard]] std::vector<range> gaps_in(range pages);

  pin_function pin_;
  unpin_function unpin_;
  uses uses_;
};

}  // namespace feedline::detail
