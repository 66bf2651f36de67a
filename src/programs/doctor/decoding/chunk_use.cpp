#include "programs/doctor/decoding/chunk_use.hpp"

#include <algorithm>

namespace doctor {
namespace {

/// Mean number of chunks that a window has elements of along an axis.
double mean_chunks(const feedline::window& along, std::uint64_t extent, std::uint64_t chunk) {
  if (along.step >= chunk) return static_cast<double>(along.size);
  const std::uint64_t spanned = (along.size - 1) * along.step + 1;
  const bool is_random = along.position == feedline::window_position::random;
  const std::uint64_t stride = is_random ? 1 : along.stride;
  const std::uint64_t last = extent - std::min(extent, spanned);
  // Where windows begin within a chunk repeats, so that the first positions stand for all.
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  const std::uint64_t positions = std::min(last / stride + 1, most);
  double sum = 0;
  for (std::uint64_t i = 0; i < positions; ++i) {
    const std::uint64_t begin = i * stride;
    const std::uint64_t end = std::min(begin + spanned, extent);
    const std::uint64_t chunks = (end - 1) / chunk - begin / chunk + 1;
    sum += static_cast<double>(chunks);
  }
  return sum / static_cast<double>(positions);
}

}  // namespace

chunk_use use_of_chunks(const feedline::array_spec& spec,
                        const std::vector<feedline::window>& windows, std::uint64_t samples) {
  chunk_use use{.array = spec.name,
                .extents = spec.chunk,
                .bytes = size_bytes(spec.type),
                .chunks = 1,
                .kept = spec.chunks_kept};
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    const std::uint64_t all = (spec.shape[d] + spec.chunk[d] - 1) / spec.chunk[d];
    const auto window = std::ranges::find_if(
        windows, [&](const auto& each) { return find_axis(spec, each.axis) == d; });
    const double needed = window == windows.end()
                              ? static_cast<double>(all)
                              : mean_chunks(*window, spec.shape[d], spec.chunk[d]);
    const std::uint64_t wanted = window == windows.end() ? spec.shape[d] : window->size;
    use.bytes *= spec.chunk[d];
    use.chunks *= all;
    use.needed *= needed;
    use.used *= static_cast<double>(wanted) / (needed * static_cast<double>(spec.chunk[d]));
  }
  use.in_epoch = static_cast<double>(samples) * use.needed / static_cast<double>(use.chunks);
  return use;
}

}  // namespace doctor
