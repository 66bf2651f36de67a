#pragma once

#include "programs/convert/output/hdf5_calls.hpp"

namespace convert {

/// Of a file that is written: what describes it is written when it is flushed, and not before.
[[nodiscard]] inline hdf5_properties_id hdf5_file_access(const hdf5_session& hdf5) {
  constexpr auto prepare = "prepare a file";
  auto access = required<hdf5_properties_id>(hdf5, H5Pcreate(H5P_FILE_ACCESS), prepare);
  require(hdf5, H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), prepare);
  H5AC_cache_config_t config{};
  config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  require(hdf5, H5Pget_mdc_config(access.get(), &config), prepare);
  config.evictions_enabled = 0;  // nothing is written between two flushes but data
  config.incr_mode = H5C_incr__off;
  config.flash_incr_mode = H5C_flash_incr__off;
  config.decr_mode = H5C_decr__off;
  require(hdf5, H5Pset_mdc_config(access.get(), &config), prepare);
  return access;
}

/// Of a dataset that is written in whole chunks: a cache would only copy them.
[[nodiscard]] inline hdf5_properties_id hdf5_dataset_access(const hdf5_session& hdf5) {
  constexpr auto prepare = "prepare a dataset";
  auto access = required<hdf5_properties_id>(hdf5, H5Pcreate(H5P_DATASET_ACCESS), prepare);
  require(hdf5, H5Pset_chunk_cache(access.get(), 0, 0, H5D_CHUNK_CACHE_W0_DEFAULT), prepare);
  return access;
}

}  // namespace convert
