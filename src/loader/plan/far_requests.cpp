#include "loader/plan/far_requests.hpp"

#include "io/read_forecast.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace feedline::detail {
namespace {

/// Joined datasets may have files here and elsewhere.
constexpr std::uint64_t looked_at = 16;

class largest_read final : public range_recorder {
 public:
  void at(std::uint64_t) noexcept override {}
  void add(const byte_file& file, std::span<const byte_range>) noexcept override {
    bytes_ = std::max(bytes_, file.bytes_a_read());
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace

std::size_t far_request_bytes(const dataset& of) {
  if (of.size() == 0 || !of.hints_ranges() || !of.wants_prefetch()) return 0;
  largest_read found;
  const range_recorder::scope recorded{found};
  const std::uint64_t count = std::min(of.size(), looked_at);
  for (std::uint64_t i = 0; i < count; ++i) {
    const sample_index sample{count == 1 ? 0 : (of.size() - 1) / (count - 1) * i};
    of.prefetch({&sample, 1});
  }
  return found.bytes();
}

}  // namespace feedline::detail
