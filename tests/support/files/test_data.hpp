#pragma once

#include <filesystem>
#include <optional>

namespace feedline::test {

/// A file or folder of the real data that some tests use, such as
/// "mnist/train-labels-idx1-ubyte.gz": in the folder that the environment's FEEDLINE_TEST_DATA
/// names, else in `../shared/data` beside the source tree. Nothing if it is not there: skip the
/// test visibly.
///
///     const auto labels = test::find_test_data("mnist/train-labels-idx1-ubyte.gz");
///     if (!labels) FEEDLINE_SKIP("no MNIST: name its folder's parent in FEEDLINE_TEST_DATA");
[[nodiscard]] std::optional<std::filesystem::path> find_test_data(
    const std::filesystem::path& relative);

/// A file or folder of `tests/fixtures`: small sets that other libraries wrote, with the
/// scripts that write them.
[[nodiscard]] std::filesystem::path fixture(const std::filesystem::path& relative);

}  // namespace feedline::test
