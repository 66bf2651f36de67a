#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace feedline::detail {

/// An object in one version, as a cache knows it. Constant.
struct object_identity {
  std::string text = {};   ///< address without secrets, version, size of a block
  std::uint64_t hash = 0;  ///< hash of the text and of the query
  std::uint64_t block_bytes = 0;
  std::uint64_t size = 0;  ///< size of the object in bytes

  [[nodiscard]] std::uint64_t blocks() const noexcept {
    return size / block_bytes + (size % block_bytes != 0 ? 1 : 0);
  }
};

/// @param url With its secrets: user and password are left out, and so is the query's text. A query
/// may name the object, so its hash counts; parameters that only sign a request do not.
/// @param version Equal for equal bytes alone.
[[nodiscard]] object_identity identify(std::string_view url, const std::string& version,
                                       std::uint64_t size, std::uint64_t block_bytes);

/// An object's block, by numbers alone: equal in all processes.
struct block_id {
  std::uint64_t object = 0;  ///< object_identity::hash
  std::uint64_t number = 0;

  /// Names the block. Two blocks may have the same key, though once in some 10^12 caches of a
  /// million blocks.
  [[nodiscard]] std::uint64_t key() const noexcept;
  friend bool operator==(const block_id&, const block_id&) = default;
};

/// A block of an object, and the identity that it is checked by.
struct block_ref {
  const object_identity* of = nullptr;
  std::uint64_t number = 0;

  [[nodiscard]] block_id id() const noexcept { return {of->hash, number}; }
  [[nodiscard]] std::uint64_t begin() const noexcept { return number * of->block_bytes; }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return of->size - begin() < of->block_bytes ? of->size - begin() : of->block_bytes;
  }
  [[nodiscard]] std::string text() const { return of->text + "\n" + std::to_string(number); }
};

}  // namespace feedline::detail
