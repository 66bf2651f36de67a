#pragma once

#include "hdf5/library/handle.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace feedline::test {

using extent_vector = std::vector<hsize_t>;

/// Creation properties of an HDF5 dataset; the default is contiguous.
struct hdf5_layout {
  std::string name;
  std::function<void(hid_t creation)> apply = [](hid_t) {};
  extent_vector max_extents = {};  ///< empty: those that it has
};

/// Writes an HDF5 file of its own for a test or a benchmark. Every failing call throws: a file that
/// is not what it should be would prove nothing. Main thread only.
class hdf5_writer {
 public:
  struct file_options {
    hsize_t userblock = 0;
    bool latest_format = false;
    std::size_t offset_bytes = 8;  ///< size of addresses in the file
    std::size_t length_bytes = 8;
    bool in_pages = false;     ///< space is handed out by pages
    bool cache_image = false;  ///< metadata is left in one block
  };

  explicit hdf5_writer(std::filesystem::path path) : hdf5_writer{std::move(path), file_options{}} {}
  hdf5_writer(std::filesystem::path path, const file_options& options);

  void make_group(const std::string& name);
  void make_soft_link(const std::string& target, const std::string& name);
  void make_external_link(const std::filesystem::path& file, const std::string& target,
                          const std::string& name);

  /// Makes a dataset; nothing is written to it.
  detail::hdf5_dataset_id make(const std::string& name, hid_t file_type,
                               const extent_vector& extents, const hdf5_layout& layout = {});

  /// Makes a dataset and writes it whole. @param values Elements of `memory_type`.
  void write(const std::string& name, hid_t file_type, const extent_vector& extents,
             hid_t memory_type, const void* values, const hdf5_layout& layout = {});

  /// Writes rows `first` to `first + count` of a dataset of the file.
  void write_rows(hid_t dataset, hsize_t first, hsize_t count, hid_t memory_type,
                  const void* values);

  /// Writes a chunk as it is to be stored. @param first Its first element.
  void write_chunk(hid_t dataset, const extent_vector& first, std::span<const std::byte> stored,
                   std::uint32_t filter_mask = 0);

  [[nodiscard]] hid_t id() const noexcept { return file_.get(); }

  /// Closes the file, so that it can be read. @return Its path.
  std::filesystem::path close();

 private:
  std::filesystem::path path_;
  detail::hdf5_file_id file_;
};

/// Throws if an HDF5 call of a test failed.
void require_hdf5(bool succeeded, const std::string& what);

/// Bytes that depend on their index and never repeat in a row.
[[nodiscard]] std::vector<std::byte> various_bytes(std::size_t bytes);

/// Chunks of the given size, then whatever else.
[[nodiscard]] hdf5_layout chunked(
    std::string name, extent_vector chunk,
    std::function<void(hid_t creation)> filters = [](hid_t) {});

}  // namespace feedline::test
