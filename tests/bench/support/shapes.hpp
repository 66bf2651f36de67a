#pragma once

#include <feedline/dataset/dataset.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace feedline::bench {

/// Rows and sizes of data sets people have.
struct shape {
  std::string name;
  std::vector<std::uint64_t> row;  ///< shape of a row of bytes
  std::uint64_t batch_size;
  std::uint64_t samples;
};

/// MNIST in batches of 64 and of 1024, CIFAR, a part of ImageNet; and, since MNIST's 47 MB lie in a
/// server's last-level cache, the same rows in 3 GB, where memory's latency sets what readers can
/// gather.
[[nodiscard]] const std::vector<shape>& all_shapes();

/// The shape of a name, or all if it is empty. @throws usage_error naming those there are.
[[nodiscard]] std::vector<shape> shapes_named(const std::string& name);

/// The same, but without small-dram if the name is empty.
[[nodiscard]] std::vector<shape> main_shapes(const std::string& name);

/// The same, but one shape a kind and number of rows if the name is empty: the batch size tells
/// none apart.
[[nodiscard]] std::vector<shape> row_shapes(const std::string& name);

/// A dataset in memory of a shape: fields "image", random bytes, and "label".
[[nodiscard]] dataset_ptr make_data(const shape& shape);

/// Bytes of one sample, label included.
[[nodiscard]] std::uint64_t sample_bytes(const shape& shape);

}  // namespace feedline::bench
