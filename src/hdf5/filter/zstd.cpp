#include "hdf5/filter/blocks.hpp"
#include "hdf5/filter/scratch.hpp"
#include "hdf5/filter/undo.hpp"

#ifndef FEEDLINE_HAS_ZSTD

namespace feedline::detail {

bool has_zstd() noexcept {
  return false;
}

std::size_t undo_zstd_frames(std::span<const std::byte>, std::span<std::byte>,
                             hdf5_filter_scratch&) {
  throw hdf5_filter_error{without_library("libzstd")};
}

hdf5_undo undo_of_zstd(std::span<const unsigned>) {
  return {.refusal = without_library("libzstd")};
}

}  // namespace feedline::detail

#else

#include <new>

#include <zstd.h>
#include <zstd_errors.h>

namespace feedline::detail {

bool has_zstd() noexcept {
  return true;
}

std::size_t undo_zstd_frames(std::span<const std::byte> stored, std::span<std::byte> out,
                             hdf5_filter_scratch& scratch) {
  if (scratch.zstd == nullptr) {
    scratch.zstd = {ZSTD_createDCtx(),
                    [](void* made) { ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(made)); }};
    if (scratch.zstd == nullptr) throw std::bad_alloc{};
  }
  const std::size_t result =
      ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(scratch.zstd.get()), out.data(), out.size(),
                          stored.data(), stored.size());
  if (ZSTD_isError(result) == 0) return result;
  switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_dstSize_tooSmall:
      fail_for_more_than(out.size());
    case ZSTD_error_memory_allocation:
      throw std::bad_alloc{};
    default:
      throw hdf5_filter_error{std::string{"the frame does not decode: "} +
                              ZSTD_getErrorName(result)};
  }
}

namespace {

std::size_t undo(std::span<const unsigned>, std::span<const std::byte> stored,
                 std::span<std::byte> out, hdf5_filter_scratch& scratch) {
  return undo_zstd_frames(stored, out, scratch);
}

}  // namespace

hdf5_undo undo_of_zstd(std::span<const unsigned>) {
  return {.effect = hdf5_size_effect::compression, .function = undo};
}

}  // namespace feedline::detail

#endif
