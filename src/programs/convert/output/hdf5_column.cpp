#include "programs/convert/output/hdf5_column.hpp"

#include <feedline/error.hpp>

#include "programs/convert/output/compress.hpp"

#include <array>

namespace convert {
namespace {

/// A field whose chunk would be smaller than this lies in one piece: quicker to find than to
/// decode.
constexpr std::size_t least_chunk_bytes = 4096;

constexpr H5Z_filter_t lz4_filter = 32004;
constexpr H5Z_filter_t zstd_filter = 32015;

/// An IEEE-like format that HDF5 has no name for, of two bytes.
hdf5_type_id half_type(const hdf5_session& hdf5, std::size_t exponent_bits, std::size_t bias) {
  constexpr auto what = "describe a 16-bit float";
  auto type = required<hdf5_type_id>(hdf5, H5Tcopy(H5T_NATIVE_FLOAT), what);
  const std::size_t mantissa_bits = 15 - exponent_bits;
  // Sets fields before the size, because they must fit in it.
  require(hdf5, H5Tset_fields(type.get(), 15, mantissa_bits, exponent_bits, 0, mantissa_bits),
          what);
  require(hdf5, H5Tset_size(type.get(), 2), what);
  require(hdf5, H5Tset_ebias(type.get(), bias), what);
  return type;
}

hdf5_type_id type_of(const hdf5_session& hdf5, feedline::element_type type) {
  using enum feedline::element_type;
  if (type == f16) return half_type(hdf5, 5, 15);
  if (type == bf16) return half_type(hdf5, 8, 127);
  if (type == boolean) return boolean_type(hdf5);
  const std::array natives{
      H5T_NATIVE_UINT8, H5T_NATIVE_INT8,   H5T_NATIVE_UINT16, H5T_NATIVE_INT16, H5T_NATIVE_UINT32,
      H5T_NATIVE_INT32, H5T_NATIVE_UINT64, H5T_NATIVE_INT64};  // in the order of the types' values
  const hid_t native = type == f32   ? H5T_NATIVE_FLOAT
                       : type == f64 ? H5T_NATIVE_DOUBLE
                                     : natives.at(static_cast<std::size_t>(type));
  return required<hdf5_type_id>(hdf5, H5Tcopy(native), "describe a type");
}

void require_plugin(H5Z_filter_t filter, const char* name) {
  const feedline::detail::hdf5_session hdf5;
  if (H5Zfilter_avail(filter) > 0) return;
  throw feedline::usage_error{
      std::string{"this feedline-convert was built without lib"} + name +
      ", and the HDF5 library has no plugin for " + name + ": build it where lib" + name +
      "-dev is installed, or name a folder of plugins in HDF5_PLUGIN_PATH (\"pip install "
      "hdf5plugin\" brings one), or take --compression deflate"};
}

void set_filters(const hdf5_session& hdf5, hid_t storage, const feedline::field& field,
                 const hdf5_layout& layout) {
  if (layout.filter == compression::none) return;
  if (feedline::size_bytes(field.type) > 1) require(hdf5, H5Pset_shuffle(storage), "shuffle bytes");
  const unsigned level = layout.level;
  if (layout.filter == compression::deflate)
    require(hdf5, H5Pset_deflate(storage, level), "compress with deflate");
  // Chunks that are packed here need no plugin of the library's, and an optional filter asks for
  // none.
  const unsigned flags = can_compress(layout.filter) ? H5Z_FLAG_OPTIONAL : H5Z_FLAG_MANDATORY;
  if (layout.filter == compression::lz4)
    require(hdf5, H5Pset_filter(storage, lz4_filter, flags, 0, nullptr), "compress with lz4");
  if (layout.filter == compression::zstd)
    require(hdf5, H5Pset_filter(storage, zstd_filter, flags, 1, &level), "compress with zstd");
}

}  // namespace

hdf5_type_id boolean_type(const hdf5_session& hdf5) {
  constexpr auto what = "describe a boolean";
  auto type = required<hdf5_type_id>(hdf5, H5Tenum_create(H5T_NATIVE_INT8), what);
  const std::array<signed char, 2> values{0, 1};
  require(hdf5, H5Tenum_insert(type.get(), "FALSE", &values[0]), what);
  require(hdf5, H5Tenum_insert(type.get(), "TRUE", &values[1]), what);
  return type;
}

void require_filter(const hdf5_layout& layout) {
  if (layout.contiguous || can_compress(layout.filter)) return;
  if (layout.filter == compression::lz4) require_plugin(lz4_filter, "lz4");
  if (layout.filter == compression::zstd) require_plugin(zstd_filter, "zstd");
}

hdf5_column open_column(const hdf5_session& hdf5, hid_t file, durable_file::mode how,
                        const feedline::field& field, std::uint64_t samples,
                        const hdf5_layout& layout, std::uint64_t chunk_rows) {
  constexpr auto prepare = "prepare a dataset";
  const bool is_small = chunk_rows * feedline::sample_bytes(field) < least_chunk_bytes;
  const bool contiguous = layout.contiguous || (layout.chunk_rows == 0 && is_small);
  const bool is_packed_here =
      !contiguous && layout.filter != compression::none && can_compress(layout.filter);
  hdf5_column column{type_of(hdf5, field.type), {}, contiguous, is_packed_here};
  // Rows come as whole chunks, which a cache would only copy.
  const auto access = required<hdf5_properties_id>(hdf5, H5Pcreate(H5P_DATASET_ACCESS), prepare);
  require(hdf5, H5Pset_chunk_cache(access.get(), 0, 0, H5D_CHUNK_CACHE_W0_DEFAULT), prepare);
  if (how == durable_file::mode::open) {
    column.dataset =
        required<hdf5_dataset_id>(hdf5, H5Dopen2(file, field.name.c_str(), access.get()),
                                  "open a dataset of the unfinished file");
    return column;
  }
  std::vector<hsize_t> extents{samples};
  extents.insert(extents.end(), field.shape.begin(), field.shape.end());
  const auto rank = static_cast<int>(extents.size());
  const auto space = required<hdf5_space_id>(hdf5, H5Screate_simple(rank, extents.data(), nullptr),
                                             "describe a dataset of that shape");

  const auto storage = required<hdf5_properties_id>(hdf5, H5Pcreate(H5P_DATASET_CREATE), prepare);
  if (column.is_contiguous) {
    require(hdf5, H5Pset_alloc_time(storage.get(), H5D_ALLOC_TIME_EARLY), prepare);
  } else {
    extents[0] = chunk_rows;
    require(hdf5, H5Pset_chunk(storage.get(), rank, extents.data()),
            "store chunks of that size; take a smaller --chunk-rows");
    set_filters(hdf5, storage.get(), field, layout);
  }
  require(hdf5, H5Pset_fill_time(storage.get(), H5D_FILL_TIME_NEVER), prepare);

  const auto link = required<hdf5_properties_id>(hdf5, H5Pcreate(H5P_LINK_CREATE), prepare);
  require(hdf5, H5Pset_create_intermediate_group(link.get(), 1), prepare);
  column.dataset =
      required<hdf5_dataset_id>(hdf5,
                                H5Dcreate2(file, field.name.c_str(), column.type.get(), space.get(),
                                           link.get(), storage.get(), access.get()),
                                "create a dataset of that name");
  return column;
}

}  // namespace convert
