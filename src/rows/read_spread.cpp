#include "rows/read_spread.hpp"

#include "rows/copy_spread.hpp"

#include <limits>
#include <vector>

namespace feedline::detail {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t max_bytes = std::uint64_t{256} << 10;

}  // namespace

std::size_t rows_per_read(std::uint64_t stride, std::size_t row_bytes) noexcept {
  if (stride == row_bytes) return std::numeric_limits<std::size_t>::max();
  if (stride < row_bytes || stride > page_bytes) return 1;
  return static_cast<std::size_t>(max_bytes / stride);
}

void read_spread(const random_file& file, std::uint64_t offset, std::uint64_t stride,
                 std::size_t row_bytes, std::span<std::byte> out) {
  const std::size_t rows = out.size() / row_bytes;
  if (rows == 1 || stride == row_bytes) return file.read(offset, out);
  thread_local std::vector<std::byte> between;  // of this thread's last call: no allocation
  between.resize((rows - 1) * static_cast<std::size_t>(stride) + row_bytes);
  file.read(offset, between);
  copy_spread(between.data(), static_cast<std::size_t>(stride), rows, row_bytes, out.data());
}

}  // namespace feedline::detail
