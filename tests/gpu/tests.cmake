# The tests of the CUDA device. Included by tests/CMakeLists.txt, so paths are relative
# to tests/.

# The contexts that a loader makes show only in a process of its own.
add_executable(feedline_cuda_context_program gpu/cuda_context_program.cpp)
target_include_directories(feedline_cuda_context_program PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(feedline_cuda_context_program PRIVATE
  feedline_test_support feedline::cuda CUDA::cudart_static)
feedline_private_options(feedline_cuda_context_program)
# Nor can a process continue after its context is broken.
add_executable(feedline_sticky_error_program gpu/broken_kernel.cu gpu/sticky_error_program.cpp)
target_link_libraries(feedline_sticky_error_program PRIVATE
  feedline_test_support feedline::cuda CUDA::cudart_static)
set_property(TARGET feedline_sticky_error_program PROPERTY CUDA_RUNTIME_LIBRARY Static)
feedline_private_options(feedline_sticky_error_program)
feedline_add_tests(feedline_gpu_tests
  LIBRARIES feedline::cuda CUDA::cudart_static spdlog::spdlog
  SOURCES
  gpu/assembly/assembly_case.cpp
  gpu/assembly/assembly_on_gpu.cpp
  gpu/assembly/assembly_plan_test.cpp
  gpu/assembly/assembly_test.cpp
  gpu/assembly/augmented_images_test.cpp
  gpu/capture_test.cpp
  gpu/checksums.cu
  gpu/cuda_edge_test.cpp
  gpu/cuda_errors_test.cpp
  gpu/cuda_loader_test.cpp
  gpu/cuda_manners_test.cpp
  gpu/decode/jpeg_program_test.cpp
  gpu/decode/program_test.cpp
  gpu/decode/refusals_test.cpp
  gpu/gate.cu
  gpu/memory/gather_neighbours_test.cpp
  gpu/interop_test.cpp
  gpu/memory/kept_batches_test.cpp
  gpu/loaded_kernels_test.cpp
  gpu/assembly/mix_plan_test.cpp
  gpu/assembly/mixed_loader_test.cpp
  gpu/assembly/mixed_pairs_test.cpp
  gpu/memory/mapped_memory_test.cpp
  gpu/assembly/moved_images_test.cpp
  gpu/memory/page_uses_test.cpp
  gpu/memory/pinned_memory_test.cpp
  gpu/results_test.cpp
  gpu/sized_batches_test.cpp
  gpu/step_graphs_test.cpp
  gpu/sticky_error_test.cpp
  gpu/assembly/packed_values_test.cpp
  gpu/assembly/tile_plan_test.cpp
  # Where GPUs are, processors have the instructions that other machines lack.
  unit/sampler/feistel_test.cpp
)
set_property(TARGET feedline_gpu_tests PROPERTY CUDA_RUNTIME_LIBRARY Static)
if(FEEDLINE_HAS_HDF5)  # its filters are the reference, and encode
  target_sources(feedline_gpu_tests PRIVATE gpu/decode/block_decoder_test.cpp
    gpu/decode/encoded_case.cpp gpu/decode/hdf5_chunks_test.cpp gpu/decode/hdf5_windows_test.cpp
    gpu/decode/hdf5_sparse_rows_test.cpp)
  target_link_libraries(feedline_gpu_tests PRIVATE
    feedline_test_encoders feedline_test_hdf5 ZLIB::ZLIB)
endif()
if(FEEDLINE_HAS_HDF5 AND TARGET feedline_libraries::zstd)
  target_sources(feedline_gpu_tests PRIVATE gpu/decode/zstd_test.cpp)
endif()
if(FEEDLINE_HAS_HDF5 AND TARGET feedline_libraries::blosc)
  target_sources(feedline_gpu_tests PRIVATE gpu/decode/blosc_test.cpp)
endif()
if(FEEDLINE_HAS_HDF5 AND TARGET feedline_libraries::lz4)
  target_sources(feedline_gpu_tests PRIVATE gpu/decode/lz4_test.cpp)
  if(TARGET feedline_libraries::zstd)
    target_sources(feedline_gpu_tests PRIVATE gpu/decode/bit_blocks_test.cpp)
  endif()
endif()
if(FEEDLINE_HAS_JPEG AND FEEDLINE_HAS_PNG)  # images are written with it
  target_sources(feedline_gpu_tests PRIVATE gpu/decode/decoded_images.cpp
    gpu/decode/jpeg_coefficients_test.cpp gpu/decode/jpeg_folder_test.cpp
    gpu/decode/jpeg_test.cpp gpu/decode/pixel_formats_test.cpp gpu/decode/png_test.cpp
    gpu/decode/sized_images_test.cpp
    support/images/drawn_png.cpp
    support/images/image_bytes.cpp)
  set_source_files_properties(gpu/decode/jpeg_coefficients_test.cpp PROPERTIES COMPILE_DEFINITIONS
    "FEEDLINE_JPEG_CORPUS=\"${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/jpeg_pixels\"")
  target_link_libraries(feedline_gpu_tests PRIVATE feedline::images JPEG::JPEG PNG::PNG ZLIB::ZLIB)
else()
  feedline_skip_tests("feedline_gpu_tests: images" "libjpeg and libpng")
endif()
add_dependencies(feedline_gpu_tests feedline_cuda_context_program feedline_sticky_error_program)
set_source_files_properties(gpu/sticky_error_test.cpp PROPERTIES COMPILE_DEFINITIONS
  "FEEDLINE_STICKY_ERROR_PROGRAM=\"$<TARGET_FILE:feedline_sticky_error_program>\"")
set_source_files_properties(gpu/cuda_manners_test.cpp PROPERTIES COMPILE_DEFINITIONS
  "FEEDLINE_CUDA_CONTEXT_PROGRAM=\"$<TARGET_FILE:feedline_cuda_context_program>\"")

include(gpu/nvtx.cmake)

