#pragma once

#include <feedline/detail/lease.hpp>
#include <feedline/error.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The pusher's description of a result. The ring passes it on, and uses it only in messages.
struct result_tag {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;
  /// Index among several outputs of a batch, or any other number.
  std::uint64_t kind = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline

namespace feedline::detail {
class result_slots;

inline namespace FEEDLINE_ABI {

/// A result in its slot.
struct leased_result {
  slot_index slot{};
  std::span<std::byte> bytes = {};
  result_tag tag = {};
  std::uint64_t number = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A lease on one result in pinned host memory, whose copy is done. The CPU reads it, and may write
/// it. When the lease is destroyed, the memory is returned to the ring, and the device may write it
/// again.
///
/// Move-only. A result may outlive the ring; the last one then frees the ring's memory. If results
/// are held in every slot, no further result arrives.
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

  /// The bytes that were pushed, aligned to 256. Empty if none were pushed.
  [[nodiscard]] std::span<std::byte> bytes() const& noexcept { return lease_->bytes; }
  std::span<std::byte> bytes() const&& = delete;

  /// The bytes as elements.
  /// @throws usage_error if the bytes are not a whole number of elements.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::span<T> values() const& {
    if (bytes().size() % sizeof(T) != 0) throw_not_whole(sizeof(T));
    return {reinterpret_cast<T*>(bytes().data()), bytes().size() / sizeof(T)};
  }
  template <class T>
  std::span<T> values() const&& = delete;

  /// The tag given by the pusher.
  [[nodiscard]] const result_tag& tag() const noexcept { return lease_->tag; }
  /// Number of results that were pushed before this one since the ring was created.
  [[nodiscard]] std::uint64_t number() const noexcept { return lease_->number; }

 private:
  friend class detail::result_slots;
  using lease_type = detail::lease<detail::result_slots, detail::leased_result>;
  explicit result(lease_type lease) noexcept;
  [[noreturn]] void throw_not_whole(std::size_t element_bytes) const;

  lease_type lease_;
};

/// A result, or none. Like `std::optional`, but a temporary has no `->`, because its bytes would be
/// gone.
///
///     while (const auto result = results.next()) write(result->bytes());
using optional_result = detail::optional_lease<result>;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
