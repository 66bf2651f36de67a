#pragma once

#include <atomic>
#include <cstdint>

namespace feedline::detail {

/// Who holds a device slot: the batches of it that were dealt and not ended yet, and the cursor, as
/// long as it may deal more of them.
///
/// The last batch's end marks the consumer's stream at once, for the consumer may end the stream
/// next, though the cursor still holds the slot. A batch that is dealt and ended meanwhile would
/// stand behind the mark; so who is about to end the last lease marks first, and marks again if any
/// batch was dealt since. It still holds the only lease while it does, so no two threads mark at
/// once.
class slot_leases {
 public:
  /// The cursor takes hold of a slot that nobody holds. Consumer.
  void hold() noexcept { word_.store(cursor); }
  /// A batch is dealt, of a slot that the cursor holds. Consumer.
  void add() noexcept { word_.fetch_add(one_dealt + one_batch); }
  /// The cursor deals no more of them; true if nobody holds the slot now. Consumer.
  [[nodiscard]] bool let_go() noexcept { return batches(word_.fetch_and(~cursor)) == 0; }
  /// Ends a batch's lease; true if nobody holds the slot now. Any thread.
  /// @param mark Called before the end of what is then the only lease, so that all work with the
  ///             slot's batches was issued before the last call.
  template <class Mark>
  [[nodiscard]] bool end(Mark mark) {
    std::uint64_t seen = word_.load();
    do {
      if (batches(seen) == 1) mark();
    } while (!word_.compare_exchange_strong(seen, seen - one_batch));
    return batches(seen) == 1 && (seen & cursor) == 0;
  }

  /// Batches that are held now. Any thread.
  [[nodiscard]] std::uint64_t held() const noexcept { return batches(word_.load()); }

 private:
  // The cursor's bit, the batches held, and how many were dealt, in one word: it is another one
  // when a batch was dealt and ended meanwhile.
  static constexpr std::uint64_t cursor = 1;
  static constexpr std::uint64_t one_batch = 2;
  static constexpr std::uint64_t one_dealt = std::uint64_t{1} << 32;

  static constexpr std::uint64_t batches(std::uint64_t word) noexcept {
    return (word & (one_dealt - 1)) >> 1;
  }

  std::atomic<std::uint64_t> word_{0};
};

}  // namespace feedline::detail
