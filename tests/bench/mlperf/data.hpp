#pragma once

#include <feedline/dataset/dataset.hpp>

#include "bench/mlperf/workload.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedline::bench {

/// Files with the samples of a workload.
struct made_data {
  std::vector<std::string> files = {};  ///< names within the folder, in order of samples
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;  ///< size of all files together
};

/// Makes samples in the form of a workload, as DLIO's generators do
/// (dlio_benchmark/data_generator):
///
/// - npz: member x, bytes [rows, columns, 1], stored without compression, and y, an int64 [1];
///   rows and columns are drawn from a normal distribution around the root of the mean size;
/// - tfrecord: records tf.train.Example with "image", bytes, and "size", an int64; all records of a
///   file have one size, drawn in the same way;
/// - bytes: noise of the size that the pixels have, and list.txt, which names the files and gives
///   all the label 0. jpeg_generator.py writes no more for loaders other than DALI's, and
///   image_reader.py reads each file whole and decodes nothing (mlcommons/DLIO_local_changes,
///   commit f6796ed);
/// - jpeg: grey noise, quality 75, and such a list;
/// - parquet: the published columns, without compression; needs Arrow.
///
/// All values are noise. A folder that has these samples, from an earlier call, is left as it is.
/// @param folder Made if it does not exist.
/// @throws usage_error if the folder has other samples, or this program was built without the
/// library for the form; std::runtime_error if a file cannot be written.
[[nodiscard]] made_data make_data(const workload& of, std::uint64_t samples,
                                  const std::filesystem::path& folder);

/// Bytes of a file of Parquet with noise. @param first Number of its first sample.
/// @throws usage_error in a build without Arrow.
[[nodiscard]] std::vector<std::byte> parquet_file(const workload& of, std::uint64_t rows,
                                                  std::uint64_t first);

/// Opens these samples with feedline.
/// @param root Folder or address in which the files are.
[[nodiscard]] dataset_ptr open_data(const workload& of, const made_data& data,
                                    const std::string& root);

}  // namespace feedline::bench
