#pragma once

#include <feedline/dataset/dataset.hpp>

#include "programs/convert/output/durable_file.hpp"
#include "programs/convert/output/job.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace convert {

/// The conversion's interface to a format: samples are written in order, flushed to the disk at
/// checkpoints, and read back.
class output {
 public:
  output() = default;
  output(const output&) = delete;
  output& operator=(const output&) = delete;
  virtual ~output() = default;

  /// Creates the output, or opens what an earlier run created, to continue it.
  virtual void open(durable_file::mode how) = 0;
  /// Samples `first`, `first + 1`, …: for each field, in order, `count` samples' bytes.
  virtual void write(std::uint64_t first, std::uint64_t count,
                     std::span<const std::span<const std::byte>> columns) = 0;
  /// Returns once all that was written is on the disk.
  virtual void sync() = 0;
  /// Closes what is being written. No other call but `read_back` may follow.
  virtual void close() = 0;
  /// The output as users will read it, samples not written yet included; while it is not open.
  [[nodiscard]] virtual feedline::dataset_ptr read_back() const = 0;

  /// Samples that should be written together, or a multiple: a chunk.
  [[nodiscard]] virtual std::uint64_t unit() const noexcept { return 1; }
};

/// Description of the output.
struct content {
  std::vector<feedline::field> fields;
  std::uint64_t samples;
  std::uint64_t chunk_rows = 1;  ///< samples in a chunk of the input
  carried_attributes carried = {};
};

/// @throws feedline::usage_error if the format cannot hold the fields.
[[nodiscard]] std::unique_ptr<output> make_output(const std::filesystem::path& path,
                                                  const content& what, const job& job);

[[nodiscard]] std::unique_ptr<output> make_hdf5_output(const std::filesystem::path& path,
                                                       const content& what,
                                                       const hdf5_layout& layout);
/// @param job Its format is `zarr` or `zarr2`.
[[nodiscard]] std::unique_ptr<output> make_zarr_output(const std::filesystem::path& path,
                                                       const content& what, const job& job);
/// To be called before anything else of a program that may write HDF5. Where a disk is full the
/// library cannot close a file, tries again when the program ends, and crashes; so this disables
/// the second try.
void leave_hdf5_as_it_is_at_exit();

}  // namespace convert
