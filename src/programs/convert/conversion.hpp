#pragma once

#include <feedline/dataset/dataset.hpp>

#include "programs/convert/work/job.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace convert {

/// What was written, and read back equal.
struct converted {
  std::uint64_t samples = 0;
  std::uint64_t resumed_from = 0;  ///< samples that an earlier run had written
  std::vector<feedline::field> fields;
  std::vector<std::uint32_t> checksums;  ///< CRC-32 of each field's bytes, in the output's order
};

/// What a conversion is doing.
enum class step : std::uint8_t {
  checking,  ///< reads what an earlier run left
  writing,
  verifying,  ///< reads the output back
};

using progress = std::function<void(step now, std::uint64_t done, std::uint64_t samples)>;

/// Writes a dataset out in another format, reads it back, compares, and only then puts it in its
/// place.
///
/// At every checkpoint all that was written is on the disk, and a journal beside it says so: a
/// conversion that was cut short, by an error, a signal or a power failure, goes on from there when
/// it is called again with an equal job. What is found is compared with the journal's checksums
/// before.
/// @throws feedline::error, std::exception: what reading and writing throw; the unfinished output
/// stays.
converted run(const feedline::dataset_ptr& from, const job& job, const progress& tell);

}  // namespace convert
