#pragma once

#include <feedline/error.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

namespace feedline::detail {
class result_slots;
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// What a result is about, as its pusher says: the ring carries it, and looks at it for messages
/// only.
struct result_tag {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
  std::uint64_t kind = 0;  ///< which of several outputs of a batch, or anything else
};

/// A lease on one result in pinned host memory, whose copy is done: the CPU reads it, and may write
/// it. When it is destroyed, the memory is given back, and the device may write it again.
///
/// Move-only. May outlive the ring; the last one to do so frees the ring's memory. Who holds
/// results in every slot gets no other one.
///
/// Threads: one at a time; any thread may destroy it. In a child of fork it may be destroyed, which
/// does nothing there. A result that was moved from may be destroyed and assigned to; it is empty.
class result {
 public:
  result(result&& other) noexcept;
  result& operator=(result&& other) noexcept;
  result(const result&) = delete;
  result& operator=(const result&) = delete;
  ~result();

  /// The bytes as they were pushed, aligned to 256. Empty if none were pushed.
  [[nodiscard]] std::span<std::byte> bytes() const& noexcept { return bytes_; }
  std::span<std::byte> bytes() const&& = delete;

  /// The same as elements.
  /// @throws usage_error if the bytes are no whole number of them.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::span<T> values() const& {
    if (bytes_.size() % sizeof(T) != 0) throw_not_whole(sizeof(T));
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> values() const&& = delete;

  /// What the pusher said that it is.
  [[nodiscard]] const result_tag& tag() const noexcept { return tag_; }
  /// How many results were pushed before it, since the ring was made.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

 private:
  friend class detail::result_slots;
  result(std::shared_ptr<detail::result_slots> slots, slot_index slot, std::span<std::byte> bytes,
         const result_tag& tag, std::uint64_t number) noexcept;
  void release() noexcept;
  [[noreturn]] void throw_not_whole(std::size_t element_bytes) const;

  std::shared_ptr<detail::result_slots> slots_;
  slot_index slot_{};
  std::span<std::byte> bytes_;
  result_tag tag_;
  std::uint64_t number_ = 0;
};

/// A result, or none: a `std::optional`, but for `->`, which a temporary does not have: its bytes
/// would be gone.
///
///     while (const auto result = results.next()) write(result->bytes());
class optional_result : public std::optional<result> {
 public:
  using std::optional<result>::optional;

  [[nodiscard]] result* operator->() & noexcept { return &**this; }
  [[nodiscard]] const result* operator->() const& noexcept { return &**this; }
  const result* operator->() const&& = delete;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
