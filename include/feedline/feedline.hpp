#pragma once

/// All headers of the core. These parts have headers of their own:
///
///     feedline/cuda/device.hpp                              feedline::cuda
///     feedline/hdf5/dataset.hpp, ragged, arrays, groups     feedline::hdf5
///     feedline/image/decode.hpp, sizes, folder, list, joined, annotations, coco, voc
///                                                           feedline::images
///     feedline/formats/open.hpp, numbers, parquet, zarr     feedline::formats
///
/// Some core headers are not included here, because few programs need them:
/// feedline/interop/mdspan.hpp, feedline/interop/cuda_mdspan.hpp for device code,
/// feedline/backend/ for those who write devices, and feedline/testing/ for tests.

#include <feedline/arrays/array_views.hpp>
#include <feedline/arrays/csr.hpp>
#include <feedline/arrays/memory_array.hpp>
#include <feedline/arrays/windows.hpp>
#include <feedline/batch/batch.hpp>
#include <feedline/batch/batch_transform.hpp>
#include <feedline/batch/stream_use.hpp>
#include <feedline/batch/tensor_view.hpp>
#include <feedline/dataset/batch_sizes.hpp>
#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/dataset/made_fields.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/read_counts.hpp>
#include <feedline/dataset/read_request.hpp>
#include <feedline/dataset/record_decoder.hpp>
#include <feedline/dataset/sample_random.hpp>
#include <feedline/dataset/select.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/deadline_error.hpp>
#include <feedline/device/device_ptr.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/error.hpp>
#include <feedline/error_policy.hpp>
#include <feedline/formats/array_record.hpp>
#include <feedline/formats/cifar.hpp>
#include <feedline/formats/columns.hpp>
#include <feedline/formats/csv.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/idx.hpp>
#include <feedline/formats/litdata.hpp>
#include <feedline/formats/lmdb.hpp>
#include <feedline/formats/mds.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/npz.hpp>
#include <feedline/formats/records.hpp>
#include <feedline/formats/shard_options.hpp>
#include <feedline/formats/tar.hpp>
#include <feedline/formats/tfrecord.hpp>
#include <feedline/formats/tokens.hpp>
#include <feedline/interop/dlpack.hpp>
#include <feedline/interop/dlpack_dataset.hpp>
#include <feedline/io/external_files.hpp>
#include <feedline/io/map_files.hpp>
#include <feedline/loader/cpu_budget.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/loader/loader_state.hpp>
#include <feedline/loader/placement.hpp>
#include <feedline/loader/tuning_budget.hpp>
#include <feedline/packing/pack_together.hpp>
#include <feedline/queue/queue_dataset.hpp>
#include <feedline/ragged/dataset.hpp>
#include <feedline/ragged/decode.hpp>
#include <feedline/ragged/pack.hpp>
#include <feedline/ragged/pad.hpp>
#include <feedline/results/result.hpp>
#include <feedline/results/ring.hpp>
#include <feedline/results/source_lease.hpp>
#include <feedline/sampler/bucket_by_length.hpp>
#include <feedline/sampler/class_balanced.hpp>
#include <feedline/sampler/explicit_order.hpp>
#include <feedline/sampler/mixture.hpp>
#include <feedline/sampler/random_split.hpp>
#include <feedline/sampler/sampler.hpp>
#include <feedline/sampler/scheduled_mixture.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shard.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/sampler/take.hpp>
#include <feedline/sampler/weighted.hpp>
#include <feedline/statistics/download_plan.hpp>
#include <feedline/statistics/statistics.hpp>
#include <feedline/statistics/trace.hpp>
#include <feedline/transform/field_transform.hpp>
#include <feedline/transform/mixing.hpp>
#include <feedline/version.hpp>
