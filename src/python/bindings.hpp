#pragma once

#include "python/dataset_object.hpp"
#include "python/interpreter/bindings.hpp"

#include <nanobind/nanobind.h>

namespace feedline::python {

// The additions of each file to the module, after bind_logging and bind_interruptible. Call them in
// this order, because stubs and defaults name classes that were added before.

void bind_errors(nb::module_& module);
void bind_devices(nb::module_& module);
void bind_cuda(nb::module_& module);  // where CUDA is, by bind_devices
void bind_datasets(nb::module_& module);
void bind_composition(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_sequence_dataset(nb::module_& module);
void bind_sample_info(nb::module_& module);
void bind_worker_side(nb::module_& module);  // in worker processes
void bind_workers(nb::module_& module);      // in their parent
void bind_packing(nb::module_& module);
void bind_padding(nb::module_& module);
void bind_formats(nb::module_& module);
void bind_image_options(nb::module_& module);
void bind_parquet(nb::module_& module);
void bind_tables(nb::module_& module);
void bind_record_function(nb::module_& module);
void bind_tfrecord(nb::module_& module);
void bind_record_sets(nb::module_& module);
void bind_array_record(nb::module_& module);
void bind_image_sets(nb::module_& module);
void bind_nd_arrays(nb::module_& module);
void bind_windows(nb::module_& module);
void bind_zarr(nb::module_& module);
void bind_hdf5(nb::module_& module);         // where HDF5 is
void bind_hdf5_arrays(nb::module_& module);  // the same
void bind_remote(nb::module_& module);       // where libcurl and pugixml are
void bind_queue(nb::module_& module);
void bind_ragged(nb::module_& module);
void bind_ragged_samples(nb::module_& module);
void bind_samplers(nb::module_& module);
void bind_image_operations(nb::module_& module);
void bind_transforms(nb::module_& module);
void bind_loader_options(nb::module_& module);
void bind_reports(nb::module_& module);
void bind_statistics(nb::module_& module);
void bind_batch(nb::module_& module);
void bind_loader(nb::module_& module);

/// From now on a TypeError of a class's constructor names the argument that is wrong.
void explain_refused_arguments(nb::module_& module);

}  // namespace feedline::python
