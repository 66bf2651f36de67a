#include "hdf5/filter/undo.hpp"

#include <new>

#include <zstd.h>
#include <zstd_errors.h>

namespace feedline::detail {

std::size_t undo_zstd(std::span<const unsigned>, std::span<const std::byte> stored,
                      std::span<std::byte> out, hdf5_decoder& scratch) {
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

}  // namespace feedline::detail
