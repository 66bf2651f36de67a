#include "cuda/assemble.hpp"
#include "cuda/assembly_plan.hpp"
#include "cuda/check.hpp"
#include "cuda/convert_rows.cuh"
#include "cuda/copy_rows.cuh"
#include "cuda/scatter_rows.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {
namespace {

/// What one launch does: its parts, which share out its blocks in order.
template <class Part>
struct launch {
  slot_frame frame;
  std::uint32_t count = 0;
  Part parts[max_parts];
};

using copy_launch = launch<assembly_part>;
using convert_launch = launch<planned_part>;
// What every driver takes as a kernel's parameters.
static_assert(sizeof(convert_launch) <= 4096);

const assembly_part& part_in(const assembly_part& part) {
  return part;
}
const assembly_part& part_in(const planned_part& planned) {
  return planned.part;
}
assembly_part& part_in(assembly_part& part) {
  return part;
}
assembly_part& part_in(planned_part& planned) {
  return planned.part;
}

__global__ void __launch_bounds__(block_threads)
    copy_kernel(const __grid_constant__ copy_launch work) {
  std::uint32_t place = work.count - 1;
  while (blockIdx.x < work.parts[place].first_block) --place;
  const assembly_part& part = work.parts[place];
  move_rows(work.frame, part, blockIdx.x - part.first_block);
}

__device__ __forceinline__ void run_part(const slot_frame& frame, const planned_part& planned,
                                         std::uint32_t block) {
  const assembly_part& part = planned.part;
  const conversion& by = planned.by;
  switch (part.kind) {
    case part_kind::copy:
    case part_kind::keep:
      return move_rows(frame, part, block);
    case part_kind::convert:
      return visit_element(
          by.from, [&](auto type) { convert_samples<decltype(type)>(frame, part, by, block); });
    case part_kind::scatter:
      return visit_element(
          by.from, [&](auto type) { scatter_samples<decltype(type)>(frame, part, by, block); });
    case part_kind::fill:
      return fill_padding(frame, part, by, block);
    case part_kind::one_hot:
      return write_classes(frame, part, by, block);
    case part_kind::cast:
      return visit_element(by.from, [&](auto type) {
        if constexpr (is_whole_element<decltype(type)>)
          cast_samples<decltype(type)>(frame, part, by, block);
      });
  }
}

__global__ void __launch_bounds__(block_threads)
    convert_kernel(const __grid_constant__ convert_launch work) {
  std::uint32_t place = work.count - 1;
  while (blockIdx.x < work.parts[place].part.first_block) --place;
  const planned_part& planned = work.parts[place];
  run_part(work.frame, planned, blockIdx.x - planned.part.first_block);
}

// Not by <<<>>>, which says only by the thread's last error whether it failed: that may be an error
// of the user's, from before.
template <class Work>
cudaError_t start(void (*kernel)(Work), Work& work, std::uint32_t blocks, cudaStream_t stream) {
  void* parameters[] = {&work};
  return cudaLaunchKernel(kernel, dim3{blocks}, dim3{block_threads}, parameters, 0, stream);
}
cudaError_t start(copy_launch& work, std::uint32_t blocks, cudaStream_t stream) {
  return start(copy_kernel, work, blocks, stream);
}
cudaError_t start(convert_launch& work, std::uint32_t blocks, cudaStream_t stream) {
  return start(convert_kernel, work, blocks, stream);
}

/// Collects parts and launches them, as many at once as fit.
template <class Part>
class launcher {
 public:
  launcher(const slot_frame& frame, cudaStream_t stream) : stream_{stream} {
    launch_.frame = frame;
  }

  void add(const Part& part) {
    if (part_in(part).items == 0) return;
    if (launch_.count == max_parts) flush();
    launch_.parts[launch_.count++] = part;
  }

  void flush() {
    if (launch_.count == 0) return;
    // Short parts first: they are done while the long ones run, and not behind them.
    std::stable_sort(
        launch_.parts, launch_.parts + launch_.count,
        [](const Part& a, const Part& b) { return part_in(a).blocks < part_in(b).blocks; });
    std::uint32_t blocks = 0;
    for (std::uint32_t i = 0; i < launch_.count; ++i) {
      part_in(launch_.parts[i]).first_block = blocks;
      blocks += part_in(launch_.parts[i]).blocks;
    }
    FEEDLINE_CUDA_CHECK(start(launch_, blocks, stream_));
    launch_.count = 0;
  }

 private:
  cudaStream_t stream_;
  launch<Part> launch_;
};

}  // namespace

void issue_assembly(const assembly& work, cudaStream_t stream) {
  const slot_frame frame = plan_frame(work);
  field_parts planned;
  const auto issue = [&](auto launcher, auto&& chosen) {
    for (std::size_t place = 0; place < work.fields.size(); ++place) {
      plan_field(work, place, planned);
      for (std::size_t i = 0; i < planned.count; ++i) launcher.add(chosen(planned.parts[i]));
    }
    launcher.flush();
  };
  if (only_copies(work)) {
    issue(launcher<assembly_part>{frame, stream},
          [](const planned_part& each) -> const assembly_part& { return each.part; });
  } else {
    issue(launcher<planned_part>{frame, stream},
          [](const planned_part& each) -> const planned_part& { return each; });
  }
}

}  // namespace feedline::detail
