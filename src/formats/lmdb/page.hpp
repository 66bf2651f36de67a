#pragma once

#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace feedline::detail {

/// A database of an LMDB file: 48 bytes.
struct lmdb_database {
  unsigned flags = 0;
  unsigned depth = 0;
  std::uint64_t entries = 0;
  std::uint64_t root = 0;  ///< page; ~0: it is empty

  static constexpr std::size_t bytes = 48;
  static constexpr std::uint64_t no_root = ~std::uint64_t{0};
  [[nodiscard]] static lmdb_database read(std::span<const std::byte> from) noexcept {
    return {.flags = static_cast<unsigned>(little_endian(from.subspan(4, 2))),
            .depth = static_cast<unsigned>(little_endian(from.subspan(6, 2))),
            .entries = little_endian(from.subspan(32, 8)),
            .root = little_endian(from.subspan(40, 8))};
  }
};

/// A key of a page, and what it leads to.
struct lmdb_node {
  std::span<const std::byte> key;
  std::uint64_t child = 0;  ///< page, in a branch
  unsigned flags = 0;       ///< flags of the value, in a leaf
  std::uint64_t data = 0;   ///< offset within the page, in a leaf
  std::uint64_t size = 0;   ///< size of the value, in a leaf
};

/// A page with keys, whose numbers are checked as they are read.
class lmdb_page {
 public:
  static constexpr std::size_t head_bytes = 16;
  static constexpr unsigned branch = 1;
  static constexpr unsigned leaf = 2;
  static constexpr unsigned overflow = 4;
  static constexpr unsigned big_data = 1;  ///< a node's value is on pages of its own
  static constexpr unsigned sub_data = 2;  ///< a node's value is a database
  static constexpr unsigned dup_data = 4;  ///< a node has several values

  /// @param bytes The whole page. @param at Its location in the file.
  /// @throws dataset_error if it is not the page of this number, or has no keys.
  lmdb_page(const byte_file& file, std::span<const std::byte> bytes, std::uint64_t number,
            std::uint64_t at)
      : file_{file}, bytes_{bytes}, at_{at} {
    if (little_endian(bytes.first(8)) != number) refuse("it has the number of another page");
    flags_ = static_cast<unsigned>(little_endian(bytes.subspan(10, 2)));
    const std::uint64_t lower = little_endian(bytes.subspan(12, 2));
    if ((flags_ & ~0x10U) != branch && (flags_ & ~0x10U) != leaf)
      refuse("its kind is " + std::to_string(flags_) + ", and pages with keys are 1 or 2");
    if (lower < head_bytes || lower > bytes.size() || lower % 2 != 0)
      refuse("its table of keys ends at " + std::to_string(lower));
    count_ = static_cast<std::size_t>(lower - head_bytes) / 2;
  }

  [[nodiscard]] bool is_branch() const noexcept { return (flags_ & branch) != 0; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  /// @param i Less than `count()`. @throws dataset_error if it is not within the page.
  [[nodiscard]] lmdb_node node(std::size_t i) const {
    constexpr std::size_t node_bytes = 8;
    const auto begin =
        static_cast<std::size_t>(little_endian(bytes_.subspan(head_bytes + 2 * i, 2)));
    if (begin < head_bytes || begin + node_bytes > bytes_.size())
      refuse("key " + std::to_string(i) + " is not within it");
    const auto number = [&](std::size_t offset, std::size_t size) {
      return little_endian(bytes_.subspan(begin + offset, size));
    };
    const auto key_bytes = static_cast<std::size_t>(number(6, 2));
    if (key_bytes > bytes_.size() - begin - node_bytes)
      refuse("key " + std::to_string(i) + " is not within it");
    lmdb_node found{.key = bytes_.subspan(begin + node_bytes, key_bytes)};
    if (is_branch()) {
      found.child = number(0, 6);
      return found;
    }
    found.flags = static_cast<unsigned>(number(4, 2));
    found.size = number(0, 4);
    found.data = begin + node_bytes + key_bytes;
    const std::uint64_t stored = (found.flags & big_data) != 0 ? 8 : found.size;
    if (stored > bytes_.size() - found.data)
      refuse("the value of key " + std::to_string(i) + " is not within it");
    return found;
  }

  /// Bytes of the page. @param offset, size Within it.
  [[nodiscard]] std::span<const std::byte> part(std::uint64_t offset, std::size_t size) const {
    return bytes_.subspan(static_cast<std::size_t>(offset), size);
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw dataset_error{{.path = file_.name(), .field = {}, .sample = {}, .offset = at_},
                        "the page is damaged: " + why + "; get the file again"};
  }

 private:
  const byte_file& file_;
  std::span<const std::byte> bytes_;
  std::uint64_t at_;
  unsigned flags_ = 0;
  std::size_t count_ = 0;
};

}  // namespace feedline::detail
