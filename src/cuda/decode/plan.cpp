#include "cuda/decode/plan.hpp"

#include "detail/arithmetic.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

constexpr std::size_t alignment = 256;

void count(const decode_task& task, decode_round& round) noexcept {
  switch (task.does) {
    case decode_operation::none:
      return;
    case decode_operation::check_fletcher32:
      ++round.checked;
      return;
    case decode_operation::inflate:
    case decode_operation::inflate_gzip:
      ++round.inflated;
      return;
    case decode_operation::decode_zstd:
      ++round.zstd;
      return;
    case decode_operation::decode_lz4:
      ++round.lz4;
      return;
    case decode_operation::decode_zstd_bits:
      ++round.zstd_bits;
      return;
    case decode_operation::decode_lz4_bits:
      ++round.lz4_bits;
      return;
    case decode_operation::decode_blosc_lz4:
      ++round.blosc_lz4;
      return;
    case decode_operation::decode_blosc_zstd:
      ++round.blosc_zstd;
      return;
    case decode_operation::decode_blosc_zlib:
      ++round.blosc_zlib;
      return;
    case decode_operation::decode_image:
      ++round.images;
      return;
    case decode_operation::cut_window:
      ++round.windows;
      return;
    case decode_operation::make_dense:
      ++round.sparse;
      return;
    case decode_operation::join_bytes:
    case decode_operation::join_bits:
    case decode_operation::join_said_bits:
    case decode_operation::join_said_blocks:
    case decode_operation::copy:
      ++round.moved;
      round.moved_bytes = std::max(round.moved_bytes, task.to_bytes);
      return;
  }
}

/// Bytes of a block and all checksums that may follow it.
std::size_t max_decoded_bytes(const decode_program& program) noexcept {
  std::size_t bytes = static_cast<std::size_t>(program.block_bytes);
  for (const decode_step& step : std::span{program.step}.first(program.steps))
    if (step.does == decode_operation::check_fletcher32) bytes += checksum_bytes;
  return bytes;
}

/// Adds the memory that a field needs between its steps. A load that skips steps needs no more.
void add_scratch(const decode_program& program, std::size_t (&scratch)[2]) noexcept {
  std::size_t moves_bytes = 0;
  bool checks_moved = false;  // if so, the moved bytes are larger than the block
  for (const decode_step& step : std::span{program.step}.first(program.steps - 1)) {
    if (moves(step.does)) ++moves_bytes;
    if (moves_bytes > 0 && step.does == decode_operation::check_fletcher32) checks_moved = true;
  }
  const std::size_t between = moves_bytes - std::min<std::size_t>(moves_bytes, 1) + checks_moved;
  const std::size_t largest =
      std::max(max_decoded_bytes(program), static_cast<std::size_t>(program.max_stored_bytes));
  for (std::size_t i = 0; i < std::min<std::size_t>(between, 2); ++i)
    scratch[i] = std::max(scratch[i], largest);
}

}  // namespace

decode_plan plan_decoding(std::span<const decode_program> programs,
                          std::span<const block_load> loads) noexcept {
  decode_plan plan;
  for (const block_load& load : loads) {
    if (load.field >= programs.size()) continue;
    const decode_program& program = programs[load.field];
    if (!can_decode(program, load)) continue;
    plan.rounds = std::max(plan.rounds, program.steps);
    for (std::uint32_t step = 0; step < program.steps; ++step)
      count(task_at(program, load, step), plan.round[step]);
  }
  return plan;
}

decoder_layout lay_out_decoder(std::span<const decode_program> programs, std::size_t max_loads,
                               std::size_t device_bytes) noexcept {
  decoder_layout layout;
  std::size_t scratch[2] = {};
  for (const decode_program& program : programs) add_scratch(program, scratch);
  const auto any_does = [&](decode_operation operation) {
    return std::ranges::any_of(programs, [&](const decode_program& program) {
      const auto steps = std::span{program.step}.first(program.steps);
      return std::ranges::count(steps, operation, &decode_step::does) != 0;
    });
  };
  const auto take = [&](std::size_t bytes) {
    const std::size_t at = layout.bytes;
    layout.bytes += round_up(bytes, alignment);
    return at;
  };
  layout.programs = take(programs.size_bytes());
  layout.bad = take(max_loads * sizeof(std::uint32_t));
  const bool any_blosc = any_does(decode_operation::decode_blosc_lz4) ||
                         any_does(decode_operation::decode_blosc_zstd) ||
                         any_does(decode_operation::decode_blosc_zlib);
  const bool any_says =
      any_does(decode_operation::inflate) || any_does(decode_operation::inflate_gzip) ||
      any_does(decode_operation::decode_zstd_bits) || any_does(decode_operation::decode_lz4_bits);
  const std::size_t words = any_blosc ? 2 : any_says ? 1 : 0;
  layout.said = take(words * max_loads * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < 2; ++i) {
    layout.scratch_bytes[i] = round_up(scratch[i], alignment);
    layout.scratch[i] = take(max_loads * layout.scratch_bytes[i]);
  }
  for (const decode_program& program : programs) {
    if (program.step[0].does != decode_operation::decode_image) continue;
    const std::size_t images = divide_up(max_loads, programs.size());
    layout.pixel_bytes =
        std::max({layout.pixel_bytes, jpeg_memory_bytes(images, program.image),
                  large_jpegs_bytes(images, static_cast<std::size_t>(program.usual_stored_bytes),
                                    device_bytes)});
  }
  layout.pixels = take(layout.pixel_bytes);
  return layout;
}

}  // namespace feedline::detail
