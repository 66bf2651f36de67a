#include "cuda/assembly/assemble.hpp"
#include "cuda/assembly/assembly_plan.hpp"
#include "cuda/assembly/augment_rows.cuh"
#include "cuda/assembly/convert_rows.cuh"
#include "cuda/assembly/copy_rows.cuh"
#include "cuda/assembly/mix_plan.hpp"
#include "cuda/assembly/mix_rows.cuh"
#include "cuda/assembly/packed_rows.cuh"
#include "cuda/assembly/scatter_rows.cuh"
#include "cuda/assembly/step_rows.cuh"
#include "cuda/assembly/tile_rows.cuh"
#include "cuda/assembly/wide_rows.cuh"
#include "cuda/assembly/widen_rows.cuh"
#include "cuda/check.hpp"
#include "cuda/copy_engine.hpp"
#include "cuda/load_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedline::detail {
namespace {

/// The work of one launch: its parts, which share the launch's blocks in order.
template <class Part>
struct launch {
  slot_frame frame;
  std::uint32_t count = 0;
  Part parts[max_parts<Part>];
};

// The size of kernel parameters that every driver accepts.
static_assert(sizeof(launch<planned_part>) <= 4096);
static_assert(sizeof(launch<augment_part>) <= 4096);
static_assert(sizeof(launch<mix_part>) <= 4096);

/// The part that the calling block works on.
template <class Part>
__device__ __forceinline__ const Part& part_of_block(const launch<Part>& work) {
  std::uint32_t place = work.count - 1;
  while (blockIdx.x < work.parts[place].first_block) --place;
  return work.parts[place];
}

__global__ void __launch_bounds__(block_threads)
    copy_kernel(const __grid_constant__ launch<assembly_part> work) {
  const assembly_part& part = part_of_block(work);
  move_rows(work.frame, part, blockIdx.x - part.first_block);
}

__global__ void __launch_bounds__(block_threads)
    convert_kernel(const __grid_constant__ launch<planned_part> work) {
  const slot_frame& frame = work.frame;
  const planned_part& part = part_of_block(work);
  const conversion& by = part.by;
  const std::uint32_t block = blockIdx.x - part.first_block;
  switch (part.kind) {
    case part_kind::copy:
    case part_kind::keep:
      return move_rows(frame, part, block);
    case part_kind::convert:
      return visit_element(
          by.from, [&](auto type) { convert_samples<decltype(type)>(frame, part, by, block); });
    case part_kind::widen:
      return visit_element(by.from, [&](auto type) {
        if constexpr (sizeof(type) == 1) widen_samples<decltype(type)>(frame, part, by, block);
      });
    case part_kind::tile:
      return convert_tiles(frame, part, by, block);
    case part_kind::scatter:
      return visit_element(
          by.from, [&](auto type) { scatter_samples<decltype(type)>(frame, part, by, block); });
    case part_kind::fill:
      return fill_padding(frame, part, by, block);
    case part_kind::one_hot:
      return write_classes(frame, part, by, block);
    case part_kind::packed:
      return write_packed(frame, part, by, block);
    case part_kind::single:
    case part_kind::cast:
      return visit_element(
          by.from, [&](auto type) { convert_singly<decltype(type)>(frame, part, by, block); });
    case part_kind::augment:
    case part_kind::steps:
    case part_kind::wide:
    case part_kind::mix:
      return;  // done by the kernels below
  }
}

/// A separate kernel, because it takes more registers than the other kinds of parts need.
__global__ void __launch_bounds__(block_threads, 4)
    augment_kernel(const __grid_constant__ launch<augment_part> work) {
  __shared__ augment_memory shared;
  const augment_part& part = part_of_block(work);
  const std::uint32_t block = blockIdx.x - part.first_block;
  if (part.by.from == element_type::u8 && part.by.channels == 3 && part.by.channels_last)
    return augment_samples<std::uint8_t, image_kind::rgb_bytes>(work.frame, part, block, shared);
  visit_element(part.by.from, [&](auto type) {
    augment_samples<decltype(type), image_kind::any>(work.frame, part, block, shared);
  });
}

/// Another one for operations of steps, so that others do not pay for them. Their fields are bytes.
__global__ void __launch_bounds__(block_threads, 3)
    steps_kernel(const __grid_constant__ launch<augment_part> work) {
  __shared__ step_memory shared;
  const augment_part& part = part_of_block(work);
  const std::uint32_t block = blockIdx.x - part.first_block;
  if (part.by.channels == 3 && part.by.channels_last)
    return step_samples<image_kind::rgb_bytes>(work.frame, part, block, shared);
  step_samples<image_kind::any>(work.frame, part, block, shared);
}

/// And one for wide steps, which take the most registers and shared memory.
__global__ void __launch_bounds__(block_threads, 2)
    wide_kernel(const __grid_constant__ launch<augment_part> work) {
  __shared__ wide_step_memory shared;
  const augment_part& part = part_of_block(work);
  const std::uint32_t block = blockIdx.x - part.first_block;
  if (part.by.channels == 3 && part.by.channels_last)
    return wide_samples<image_kind::rgb_bytes>(work.frame, part, block, shared);
  wide_samples<image_kind::any>(work.frame, part, block, shared);
}

/// Runs after the other kernels, because it changes the rows that they make.
__global__ void __launch_bounds__(block_threads)
    mix_kernel(const __grid_constant__ launch<mix_part> work) {
  const mix_part& part = part_of_block(work);
  const std::uint32_t block = blockIdx.x - part.first_block;
  switch (part.type) {
    case element_type::f16:
      return mix_samples<f16_word>(work.frame, part, block);
    case element_type::bf16:
      return mix_samples<bf16_word>(work.frame, part, block);
    default:
      return mix_samples<float>(work.frame, part, block);
  }
}

/// Collects parts and launches them, as many at a time as one launch can take.
template <class Part>
class launcher {
 public:
  using kernel = void (*)(launch<Part>);

  launcher(kernel does, const slot_frame& frame, cudaStream_t stream)
      : kernel_{does}, stream_{stream} {
    launch_.frame = frame;
  }

  void add(const Part& part) {
    if (part.items == 0) return;
    if (launch_.count == max_parts<Part>) flush();
    launch_.parts[launch_.count++] = part;
  }

  void flush() {
    if (launch_.count == 0) return;
    // Short parts first, so that they finish while the long ones run, and not after them.
    std::stable_sort(launch_.parts, launch_.parts + launch_.count,
                     [](const Part& a, const Part& b) { return a.blocks < b.blocks; });
    std::uint32_t blocks = 0;
    std::size_t shared_bytes = 0;
    for (std::uint32_t i = 0; i < launch_.count; ++i) {
      launch_.parts[i].first_block = blocks;
      blocks += launch_.parts[i].blocks;
      if (launch_.parts[i].kind == part_kind::tile) shared_bytes = block_warps * tile_bytes;
    }
    // Not launched by <<<>>>, which reports a failure only through the thread's last error: that
    // may be an older error of the user's.
    void* parameters[] = {&launch_};
    FEEDLINE_CUDA_CHECK(cudaLaunchKernel(kernel_, dim3{blocks}, dim3{block_threads}, parameters,
                                         shared_bytes, stream_));
    launch_.count = 0;
  }

 private:
  kernel kernel_;
  cudaStream_t stream_;
  launch<Part> launch_;
};

/// Makes the slot's rows of the fields for whose indices `wanted` is true.
template <class Wanted>
void issue_rows(const assembly& work, const slot_frame& frame, const Wanted& wanted,
                cudaStream_t stream) {
  field_parts planned;
  const auto for_each_part = [&](const auto& add) {
    for (std::size_t place = 0; place < work.fields.size(); ++place) {
      if (!wanted(place) || gather_by_copy_engine(work, work.fields[place], stream)) continue;
      plan_field(work, place, planned);
      for (std::size_t i = 0; i < planned.count; ++i) add(planned.parts[i]);
    }
  };
  if (only_copies(work)) {
    launcher<assembly_part> copies{copy_kernel, frame, stream};
    for_each_part([&](const planned_part& part) { copies.add(part); });
    return copies.flush();
  }
  launcher<augment_part> augments{augment_kernel, frame, stream};
  launcher<augment_part> steps{steps_kernel, frame, stream};
  launcher<augment_part> wide{wide_kernel, frame, stream};
  launcher<planned_part> converts{convert_kernel, frame, stream};
  for_each_part([&](const planned_part& part) {
    const auto& operations = work.fields[part.field].conversion.operations;
    if (part.kind == part_kind::augment)
      augments.add({part, operations});
    else if (part.kind == part_kind::steps)
      steps.add({part, operations});
    else if (part.kind == part_kind::wide)
      wide.add({part, operations});
    else
      converts.add(part);
  });
  augments.flush();
  steps.flush();
  wide.flush();
  converts.flush();
}

/// Makes the rows of all fields. Rows with a `passing` buffer are first gathered there unchanged,
/// and then converted.
void issue_all_rows(const assembly& work, const slot_frame& frame, cudaStream_t stream) {
  const auto passes = [&](std::size_t place) {
    return work.fields[place].passing != nullptr && work.fields[place].cached_on_host;
  };
  issue_rows(
      work, frame, [&](std::size_t place) { return !passes(place); }, stream);
  std::vector<field_assembly> passed{work.fields.begin(), work.fields.end()};
  for (std::size_t place = 0; place < passed.size(); ++place) {
    if (!passes(place)) continue;
    field_assembly& field = passed[place];
    field_assembly gathered = field;
    gathered.conversion = {};
    gathered.to_offset = 0;
    gathered.to_row_bytes = field.row_bytes;
    assembly gather = work;
    gather.slot = field.passing;
    gather.batch_size = work.samples;
    gather.fields = {&gathered, 1};
    issue_rows(
        gather, plan_frame(gather), [](std::size_t) { return true; }, stream);
    field.cached = field.passing;
    field.cached_row_bytes = 0;
    field.cached_on_host = false;
    field.in_place = {};
  }
  assembly convert = work;
  convert.fields = passed;
  slot_frame in_order = frame;
  in_order.sources = nullptr;
  issue_rows(convert, in_order, passes, stream);
}

}  // namespace

void load_assembly_kernels() {
  load_kernels(copy_kernel, convert_kernel, augment_kernel, steps_kernel, wide_kernel, mix_kernel);
}

void issue_assembly(const assembly& work, cudaStream_t stream) {
  const slot_frame frame = plan_frame(work);
  const mix_parts mixes = plan_mixing(work);
  issue_all_rows(work, frame, stream);
  launcher<mix_part> mixing{mix_kernel, frame, stream};
  for (std::size_t i = 0; i < mixes.count; ++i) mixing.add(mixes.parts[i]);
  mixing.flush();
}

}  // namespace feedline::detail
