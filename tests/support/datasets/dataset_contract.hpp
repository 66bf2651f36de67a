#pragma once

#include <feedline/dataset/dataset.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace feedline::test {

/// Expected content of a dataset under test: the bytes of one field of one sample.
using expected_bytes =
    std::function<std::vector<std::byte>(sample_index sample, std::size_t field_place)>;

/// Checks all that `dataset` (the base class) promises of an implementation: its size and fields,
/// samples in any order, repeats, empty runs, runs of one, every byte written and none beside them,
/// the same bytes in `rows()` if it has any, and, where it says parallel, several threads at once.
///
/// Reports through Catch: call it on a test case's main thread. Reads every sample a few times, so
/// give it a dataset of at most some thousand samples.
/// @param expected Called once for each field of each sample, on the calling thread.
void check_dataset_contract(const dataset_ptr& under_test, std::uint64_t size,
                            const std::vector<field>& fields, const expected_bytes& expected);

/// One sample read by itself: the bytes of each field.
[[nodiscard]] std::vector<std::vector<std::byte>> read_sample(const dataset& from,
                                                              sample_index sample);

/// Some samples read in one run: the bytes of each field, sample after sample.
[[nodiscard]] std::vector<std::vector<std::byte>> read_samples(
    const dataset& from, const std::vector<sample_index>& samples);

}  // namespace feedline::test
