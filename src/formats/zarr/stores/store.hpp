#pragma once

#include "io/byte_file.hpp"
#include "io/file_system.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// An object of a store, as a part of a file.
struct zarr_object {
  byte_file_ptr file;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

/// Documents and chunks of Zarr arrays, under keys such as "a/zarr.json": in a folder, here or at a
/// remote address, or in a zip archive. Keys have no "/" at either end.
///
/// Threads: all functions may be called by any number of threads.
class zarr_store {
 public:
  explicit zarr_store(std::string name) : name_{std::move(name)} {}
  zarr_store(const zarr_store&) = delete;
  zarr_store& operator=(const zarr_store&) = delete;
  virtual ~zarr_store() = default;

  /// Path or address of the whole store.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The path of an object, for errors.
  [[nodiscard]] std::string path_of(const std::string& key) const {
    return key.empty() ? name_ : name_ + '/' + key;
  }

  /// A document's content; nothing if there is none.
  /// @throws dataset_error if it cannot be read, or has more than `max_text_bytes` bytes.
  [[nodiscard]] virtual std::optional<std::string> text(const std::string& key) const = 0;
  static constexpr std::uint64_t max_text_bytes = std::uint64_t{256} << 20;

  /// Whether objects can be listed: not those of web servers.
  [[nodiscard]] virtual bool can_list() const noexcept { return true; }
  /// Entries below a key, files with their sizes; empty if there are none.
  /// @throws dataset_error if they cannot be listed.
  [[nodiscard]] virtual std::vector<folder_entry> list(const std::string& key) const = 0;

  /// An object to be read in parts; nothing if there is none.
  /// @throws dataset_error if it cannot be opened.
  [[nodiscard]] virtual std::optional<zarr_object> open(const std::string& key) const = 0;
  /// Reads an object whole. @param into Its size becomes the object's.
  /// @return False if there is no such object.
  /// @throws dataset_error if it cannot be read, or has more than `max_bytes` bytes.
  bool read(const std::string& key, std::uint64_t max_bytes, std::vector<std::byte>& into) const {
    return read_whole(key, max_bytes, [&](std::size_t bytes) {
      into.resize(bytes);
      return std::span{into};
    });
  }
  /// The same. @param memory Is asked once for as many bytes as the object has; it may throw.
  virtual bool read_whole(const std::string& key, std::uint64_t max_bytes,
                          const file_system::room& memory) const = 0;
  /// Asks for an object to be brought near.
  /// @param max_bytes The most that it has.
  virtual void will_need(const std::string& key, std::uint64_t max_bytes) const noexcept {
    (void)key;
    (void)max_bytes;
  }
  /// Whether hints are useful.
  [[nodiscard]] virtual bool is_cold() const noexcept = 0;
  /// The file that holds the whole store; null if there is none.
  [[nodiscard]] virtual byte_file_ptr file() const { return nullptr; }

 private:
  std::string name_;
};

using zarr_store_ptr = std::shared_ptr<const zarr_store>;

/// The store in a folder or zip archive. @throws dataset_error
[[nodiscard]] zarr_store_ptr open_zarr_store(const std::string& path);
/// The store in a zip archive. @throws dataset_error: no archive, or damaged.
[[nodiscard]] zarr_store_ptr open_zarr_zip(byte_file_ptr file);

}  // namespace feedline::detail
