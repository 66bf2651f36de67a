#include "support/hdf5/encoders.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#ifdef FEEDLINE_HAS_BLOSC2
#include <b2nd.h>
#endif

namespace feedline::test {

#ifdef FEEDLINE_HAS_BLOSC2

namespace {

void require_blosc2(bool is_so, const char* what) {
  if (!is_so) throw std::logic_error{std::string{"encoding for a test: blosc2: "} + what};
}

bytes frame_of(blosc2_schunk* made) {
  std::uint8_t* frame = nullptr;
  bool needs_free = false;
  const std::int64_t size = blosc2_schunk_to_buffer(made, &frame, &needs_free);
  require_blosc2(size > 0, "frame");
  const auto* const first = reinterpret_cast<const std::byte*>(frame);
  bytes packed{first, first + size};
  if (needs_free) free(frame);
  return packed;
}

}  // namespace

bytes blosc2_packed(bytes_view raw, std::size_t element, const char* compressor, int shuffle) {
  blosc2_init();
  blosc2_cparams how = BLOSC2_CPARAMS_DEFAULTS;
  how.compcode = static_cast<std::uint8_t>(blosc2_compname_to_compcode(compressor));
  how.typesize = static_cast<std::int32_t>(element);
  how.filters[BLOSC2_MAX_FILTERS - 1] = static_cast<std::uint8_t>(shuffle);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.cparams = &how;
  const std::unique_ptr<blosc2_schunk, int (*)(blosc2_schunk*)> made{blosc2_schunk_new(&storage),
                                                                     blosc2_schunk_free};
  require_blosc2(made != nullptr, "chunk");
  require_blosc2(blosc2_schunk_append_buffer(made.get(), raw.data(),
                                             static_cast<std::int32_t>(raw.size())) == 1,
                 compressor);
  return frame_of(made.get());
}

bytes blosc2_array(bytes_view raw, std::size_t element, std::size_t columns) {
  blosc2_init();
  blosc2_cparams how = BLOSC2_CPARAMS_DEFAULTS;
  how.typesize = static_cast<std::int32_t>(element);
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.cparams = &how;
  const auto rows = static_cast<std::int32_t>(raw.size() / element / columns);
  const auto wide = static_cast<std::int32_t>(columns);
  const std::array<std::int64_t, 2> shape{rows, wide};
  const std::array<std::int32_t, 2> chunk{rows, wide};
  const std::array<std::int32_t, 2> block{std::min(rows, 2), std::min(wide, 4)};
  const std::unique_ptr<b2nd_context_t, int (*)(b2nd_context_t*)> context{
      b2nd_create_ctx(&storage, 2, shape.data(), chunk.data(), block.data(), nullptr, 0, nullptr,
                      0),
      b2nd_free_ctx};
  b2nd_array_t* array = nullptr;
  require_blosc2(b2nd_from_cbuffer(context.get(), &array, raw.data(),
                                   static_cast<std::int64_t>(raw.size())) == 0,
                 "array");
  const std::unique_ptr<b2nd_array_t, int (*)(b2nd_array_t*)> freed{array, b2nd_free};
  return frame_of(array->sc);
}

#else

bytes blosc2_packed(bytes_view, std::size_t, const char*, int) {
  throw std::logic_error{"there is no libblosc2"};
}

bytes blosc2_array(bytes_view, std::size_t, std::size_t) {
  throw std::logic_error{"there is no libblosc2"};
}

#endif

}  // namespace feedline::test
