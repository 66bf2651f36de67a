#include <feedline/dataset/window_block.hpp>

#include "cuda/decode/kernels.hpp"
#include "cuda/decode/tasks.cuh"
#include "cuda/kernel/launch.cuh"
#include "cuda/load_kernels.hpp"

#include <cstdint>
#include <type_traits>

namespace feedline::detail {
namespace {

constexpr std::uint32_t row_threads = 256;

/// The decoded chunks of the arrays that rows are cut out of.
struct chunk_frame {
  const decode_program* arrays;  ///< null: blocks hold all numbers themselves
  const std::uint32_t* states;
  std::uint32_t fields;
};

/// A run of values and their columns.
struct sparse_run {
  window_box values;
  window_box columns;
};

/// Where the numbers of a box begin; null: the chunk is missing, or the box is beyond its memory.
__device__ const std::byte* numbers_of(const window_box& box, const chunk_frame& chunks,
                                       const std::byte* block, std::uint64_t block_bytes) {
  if (box.place == window_box::no_chunk) return box.fill;
  const std::uint64_t end = box.from + std::uint64_t{box.units} * box.unit;
  if (box.place == window_box::in_block) return end > block_bytes ? nullptr : block + box.from;
  if (chunks.arrays == nullptr || box.field >= chunks.fields) return nullptr;
  const decode_program& array = chunks.arrays[box.field];
  if (box.place >= array.places || end > array.block_bytes ||
      chunks.states[std::size_t{box.place} * chunks.fields + box.field] != 0)
    return nullptr;
  return array.blocks + box.place * array.block_bytes + box.from;
}

/// The numbers of a run, in shared memory.
struct run_pointers {
  const std::byte* values;
  const std::byte* columns;
  std::uint32_t count;
  bool is_one_value;   ///< all values are the same one
  bool is_one_column;  ///< the same for columns
};

__device__ std::uint64_t column_at(const run_pointers& run, std::uint32_t index,
                                   std::uint32_t bytes) {
  const std::uint32_t at = run.is_one_column ? 0 : index;
  switch (bytes) {
    case 1:
      return reinterpret_cast<const std::uint8_t*>(run.columns)[at];
    case 2:
      return reinterpret_cast<const std::uint16_t*>(run.columns)[at];
    case 4:
      return reinterpret_cast<const std::uint32_t*>(run.columns)[at];
    default:
      return reinterpret_cast<const std::uint64_t*>(run.columns)[at];
  }
}

template <class Value>
__device__ Value value_at(const run_pointers& run, std::uint32_t index) {
  return reinterpret_cast<const Value*>(run.values)[run.is_one_value ? 0 : index];
}

/// Sum of 0 and a value: the bits that processors make, with a NaN's.
template <class Value>
__device__ Value added_to_zero(Value value) {
  if constexpr (std::is_same_v<Value, float>) {
    if (value != value) return __int_as_float(__float_as_int(value) | 0x0040'0000);
  } else if constexpr (std::is_same_v<Value, double>) {
    constexpr long long quiet = 0x0008'0000'0000'0000;
    if (value != value) return __longlong_as_double(__double_as_longlong(value) | quiet);
  }
  return value == Value{0} ? Value{0} : value;
}

__device__ void fill_with_zeros(std::byte* row, std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(row);
  const auto zero = [&]<class Unit>(Unit value) {
    auto* const units = reinterpret_cast<Unit*>(row);
    for (std::uint64_t i = threadIdx.x; i < bytes / sizeof value; i += row_threads)
      units[i] = value;
  };
  if ((address | bytes) % sizeof(uint4) == 0) return zero(uint4{0, 0, 0, 0});
  if ((address | bytes) % sizeof(std::uint32_t) == 0) return zero(std::uint32_t{0});
  zero(std::uint8_t{0});
}

/// Reads the boxes of a run. @return Whether its numbers are there. All threads call it, and its
/// result is the same for all.
__device__ bool open_run(const sparse_run* runs, std::uint32_t number, const chunk_frame& chunks,
                         const std::byte* block, std::uint64_t block_bytes,
                         const sparse_types& types, std::uint32_t value_bytes, run_pointers& run) {
  __syncthreads();
  if (threadIdx.x == 0) {
    const sparse_run& from = runs[number];
    const bool fits = from.values.units == from.columns.units && from.values.unit == value_bytes &&
                      from.columns.unit == types.column_bytes;
    run.values = fits ? numbers_of(from.values, chunks, block, block_bytes) : nullptr;
    run.columns = numbers_of(from.columns, chunks, block, block_bytes);
    run.count = from.values.units;
    run.is_one_value = from.values.place == window_box::no_chunk;
    run.is_one_column = from.columns.place == window_box::no_chunk;
  }
  __syncthreads();
  return run.values != nullptr && run.columns != nullptr;
}

/// Properties of the columns of a row.
struct row_columns {
  bool good;    ///< all numbers are there, and all columns in the row
  bool rising;  ///< each column is beyond the one before: none comes twice
};

struct sparse_block {
  const std::byte* begin;
  std::uint64_t bytes;
  std::uint32_t runs;

  [[nodiscard]] __device__ const sparse_run* first() const {
    return reinterpret_cast<const sparse_run*>(begin + sizeof(window_block));
  }
};

__device__ row_columns look_at(const sparse_block& block, const chunk_frame& chunks,
                               const sparse_types& types, std::uint32_t value_bytes,
                               std::uint64_t columns, run_pointers& run) {
  bool rising = true;
  bool inside = true;
  std::uint64_t before = 0;  // end of the columns so far, if they rise
  for (std::uint32_t r = 0; r < block.runs; ++r) {
    if (!open_run(block.first(), r, chunks, block.begin, block.bytes, types, value_bytes, run))
      return {false, false};
    for (std::uint32_t i = threadIdx.x; i < run.count; i += row_threads) {
      const std::uint64_t column = column_at(run, i, types.column_bytes);
      const std::uint64_t least = i == 0 ? before : column_at(run, i - 1, types.column_bytes) + 1;
      inside = inside && column < columns;
      rising = rising && column >= least;
    }
    if (run.count != 0) before = column_at(run, run.count - 1, types.column_bytes) + 1;
  }
  const bool all_inside = __syncthreads_and(inside ? 1 : 0) != 0;
  return {all_inside, __syncthreads_and(rising ? 1 : 0) != 0};
}

/// If columns rise, threads share the values. Otherwise they share the columns: each adds the
/// values of its own in their order, so that the sums are those of a single thread.
template <class Value>
__device__ void scatter(const sparse_block& block, const chunk_frame& chunks,
                        const sparse_types& types, bool rising, std::byte* to, run_pointers& run) {
  auto* const row = reinterpret_cast<Value*>(to);
  for (std::uint32_t r = 0; r < block.runs; ++r) {
    (void)open_run(block.first(), r, chunks, block.begin, block.bytes, types, sizeof(Value), run);
    if (rising) {
      for (std::uint32_t i = threadIdx.x; i < run.count; i += row_threads)
        row[column_at(run, i, types.column_bytes)] = added_to_zero(value_at<Value>(run, i));
      continue;
    }
    for (std::uint32_t i = 0; i < run.count; ++i) {
      const std::uint64_t column = column_at(run, i, types.column_bytes);
      if (column % row_threads != threadIdx.x) continue;
      const Value value = value_at<Value>(run, i);
      const Value sum = row[column];
      row[column] = sum == Value{0} ? added_to_zero(value) : static_cast<Value>(sum + value);
    }
  }
}

__device__ void scatter(const sparse_block& block, const chunk_frame& chunks,
                        const sparse_types& types, bool rising, std::byte* row, run_pointers& run) {
  switch (types.values) {
    case element_type::u8:
    case element_type::i8:
      return scatter<std::uint8_t>(block, chunks, types, rising, row, run);
    case element_type::u16:
    case element_type::i16:
      return scatter<std::uint16_t>(block, chunks, types, rising, row, run);
    case element_type::u32:
    case element_type::i32:
      return scatter<std::uint32_t>(block, chunks, types, rising, row, run);
    case element_type::u64:
    case element_type::i64:
      return scatter<std::uint64_t>(block, chunks, types, rising, row, run);
    case element_type::f32:
      return scatter<float>(block, chunks, types, rising, row, run);
    default:
      return scatter<double>(block, chunks, types, rising, row, run);
  }
}

/// Makes the rows of the loads that are sparse: a thread block each.
__global__ void __launch_bounds__(row_threads)
    sparse_kernel(const __grid_constant__ decode_frame frame, chunk_frame chunks,
                  std::uint32_t step) {
  __shared__ run_pointers run;
  const std::uint32_t number = blockIdx.x;
  const decode_task task = task_of(frame, number, step);
  if (task.does != decode_operation::make_dense) return;
  const block_load& load = frame.loads[number];
  const decode_program& program = frame.programs[load.field];
  const sparse_types types = program.sparse;
  const auto value_bytes = program.step[step].element_bytes;
  const std::byte* const from = address_of(frame, number, load, task.from);
  std::byte* const row = address_of(frame, number, load, task.to);
  const window_block head = *reinterpret_cast<const window_block*>(from);
  const sparse_block block{from, task.bytes, head.boxes / 2};
  bool good = head.boxes % 2 == 0 &&
              sizeof head + std::uint64_t{head.boxes} * sizeof(window_box) <= task.bytes;
  bool rising = false;
  if (good) {
    const std::uint64_t columns = program.block_bytes / value_bytes;
    const row_columns seen = look_at(block, chunks, types, value_bytes, columns, run);
    good = seen.good;
    rising = seen.rising;
  }
  if (!good) {
    if (threadIdx.x == 0) frame.bad[number] = 1;
    return;
  }
  fill_with_zeros(row, program.block_bytes);
  __syncthreads();
  scatter(block, chunks, types, rising, row, run);
}

}  // namespace

void load_sparse_kernels() {
  load_kernels(sparse_kernel);
}

void issue_sparse_rows(const decode_frame& frame, const decode_frame* chunks, std::uint32_t step,
                       cudaStream_t stream) {
  const chunk_frame from = chunks == nullptr
                               ? chunk_frame{}
                               : chunk_frame{chunks->programs, chunks->states, chunks->fields};
  launch(sparse_kernel, frame.count, row_threads, stream, decode_frame{frame}, chunk_frame{from},
         std::uint32_t{step});
}

}  // namespace feedline::detail
