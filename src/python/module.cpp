#include <feedline/feedline.hpp>
#ifdef FEEDLINE_HAS_REMOTE
#include <feedline/remote/mount.hpp>
#endif

#include "python/bindings.hpp"

#include <string>

#include <nanobind/stl/string.h>

// NOLINTNEXTLINE(performance-unnecessary-value-param): the macro's
NB_MODULE(_feedline, module) {
  using namespace feedline::python;
  module.doc() = "The compiled part of feedline; import feedline instead.";
  nb::set_leak_warnings(false);  // a loop that ends by an exception keeps its frame's objects
  module.attr("__version__") = std::to_string(FEEDLINE_VERSION_MAJOR) + "." +
                               std::to_string(FEEDLINE_VERSION_MINOR) + "." +
                               std::to_string(FEEDLINE_VERSION_PATCH);
  bind_logging(module);
  bind_interruptible(module);
  bind_errors(module);
  bind_held_objects(module);
  bind_devices(module);
  bind_datasets(module);
  bind_arrays(module);
  bind_sequence_dataset(module);
  bind_sample_info(module);
  bind_worker_side(module);
  bind_workers(module);
  bind_composition(module);
  bind_queue(module);
  bind_ragged(module);
  bind_packing(module);
  bind_image_options(module);
  bind_padding(module);
  bind_tables(module);
  bind_formats(module);
  bind_record_function(module);
  bind_tfrecord(module);
  bind_record_sets(module);
  bind_array_record(module);
  bind_parquet(module);
  bind_image_sets(module);
  bind_nd_arrays(module);
  bind_windows(module);
  bind_zarr(module);
#ifdef FEEDLINE_HAS_HDF5
  bind_hdf5_arrays(module);
  bind_hdf5(module);
#endif
#ifdef FEEDLINE_HAS_REMOTE
  bind_remote(module);
#endif
  bind_ragged_samples(module);
  bind_samplers(module);
  bind_loader_options(module);
  bind_reports(module);
  bind_statistics(module);
  bind_batch(module);
  bind_loader(module);
  explain_refused_arguments(module);
#ifdef FEEDLINE_HAS_REMOTE
  feedline::mount_remote_files();  // not only `open` takes addresses, but each open_…
#endif
}
