/// The filters that PyTables brings.

#include "support/hdf5/encoders.hpp"

#include <stdexcept>

#ifdef FEEDLINE_HAS_BZIP2
#include <bzlib.h>
#endif
#ifdef FEEDLINE_HAS_LZO
#include <lzo/lzo1x.h>
#endif

namespace feedline::test {

bytes bzip2_packed([[maybe_unused]] bytes_view raw, [[maybe_unused]] int block_size) {
#ifdef FEEDLINE_HAS_BZIP2
  bytes packed(raw.size() + raw.size() / 100 + 600);
  auto size = static_cast<unsigned>(packed.size());
  bytes input{raw.begin(), raw.end()};  // for libbz2 takes no constant bytes
  if (BZ2_bzBuffToBuffCompress(reinterpret_cast<char*>(packed.data()), &size,
                               reinterpret_cast<char*>(input.data()),
                               static_cast<unsigned>(input.size()), block_size, 0, 0) != BZ_OK)
    throw std::logic_error{"encoding for a test: bzip2"};
  packed.resize(size);
  return packed;
#else
  throw std::logic_error{"there is no libbz2"};
#endif
}

bytes lzo_packed([[maybe_unused]] bytes_view raw) {
#ifdef FEEDLINE_HAS_LZO
  bytes packed(raw.size() + raw.size() / 16 + 64 + 3);
  lzo_uint size = packed.size();
  bytes memory(LZO1X_1_MEM_COMPRESS);
  if (lzo_init() != LZO_E_OK ||
      lzo1x_1_compress(reinterpret_cast<const unsigned char*>(raw.data()), raw.size(),
                       reinterpret_cast<unsigned char*>(packed.data()), &size,
                       memory.data()) != LZO_E_OK)
    throw std::logic_error{"encoding for a test: lzo"};
  packed.resize(size);
  return packed;
#else
  throw std::logic_error{"there is no liblzo2"};
#endif
}

}  // namespace feedline::test
