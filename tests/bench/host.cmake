# Benchmarks that need no GPU: built everywhere.
add_executable(feedline_bench_seek bench/loading/seek.cpp)
target_link_libraries(feedline_bench_seek PRIVATE feedline::core feedline_command_line)
target_include_directories(feedline_bench_seek PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
feedline_private_options(feedline_bench_seek)
add_executable(feedline_bench_blend bench/loading/blend.cpp bench/support/delivered.cpp)
target_link_libraries(feedline_bench_blend PRIVATE feedline::core feedline_command_line)
target_include_directories(feedline_bench_blend PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
if(TARGET feedline::cuda)
  target_link_libraries(feedline_bench_blend PRIVATE feedline::cuda CUDA::cudart_static)
  target_compile_definitions(feedline_bench_blend PRIVATE FEEDLINE_BENCH_CUDA)
endif()
feedline_private_options(feedline_bench_blend)
if(NOT FEEDLINE_SANITIZE)
  add_test(NAME "blend: a rank is ready for 2,000 files of 15 T tokens at once, with no index"
    COMMAND feedline_bench_blend --check --batches 1)
  add_test(NAME "blend: a rank is ready for a schedule over 2,000 files at once, with no index"
    COMMAND feedline_bench_blend --check --batches 1 --scheduled)
endif()
add_executable(feedline_bench_packing bench/loading/packing.cpp bench/support/delivered.cpp)
target_link_libraries(feedline_bench_packing PRIVATE feedline::core feedline_command_line)
target_include_directories(feedline_bench_packing PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
if(TARGET feedline::cuda)
  target_link_libraries(feedline_bench_packing PRIVATE feedline::cuda CUDA::cudart_static)
  target_compile_definitions(feedline_bench_packing PRIVATE FEEDLINE_BENCH_CUDA)
endif()
feedline_private_options(feedline_bench_packing)
add_test(NAME "packing: rows of documents are 99 % full"
  COMMAND feedline_bench_packing --documents 200000 --capacities 4096 --readers 1 --least 0.99)
add_executable(feedline_bench_statistics bench/loading/statistics.cpp)
target_link_libraries(feedline_bench_statistics PRIVATE feedline::core feedline_command_line)
target_include_directories(feedline_bench_statistics
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
feedline_private_options(feedline_bench_statistics)
add_executable(feedline_bench_tuning bench/loading/tuning.cpp)
target_link_libraries(feedline_bench_tuning PRIVATE feedline::core feedline_command_line)
target_include_directories(feedline_bench_tuning PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
if(TARGET feedline::cuda)
  target_link_libraries(feedline_bench_tuning PRIVATE feedline::cuda CUDA::cudart_static)
  target_compile_definitions(feedline_bench_tuning PRIVATE FEEDLINE_BENCH_CUDA)
endif()
feedline_private_options(feedline_bench_tuning)
add_executable(feedline_bench_checksums bench/storage/checksums.cpp)
target_link_libraries(feedline_bench_checksums PRIVATE feedline::core)
target_include_directories(feedline_bench_checksums
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
feedline_private_options(feedline_bench_checksums)
if(FEEDLINE_HAS_JSON)
  add_executable(feedline_bench_text_tables bench/storage/text_tables.cpp
    bench/support/delivered.cpp bench/support/program.cpp)
  target_include_directories(feedline_bench_text_tables PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(feedline_bench_text_tables
    PRIVATE feedline::formats feedline_test_support feedline_command_line spdlog::spdlog)
  feedline_private_options(feedline_bench_text_tables)
  add_test(NAME "text tables: records of JSON lines and CSV are read"
    COMMAND feedline_bench_text_tables --records 2000 --readers 1 --runs 1 --seconds 0.01)
endif()
add_executable(feedline_bench_queue_delay bench/loading/queue_delay.cpp)
target_link_libraries(feedline_bench_queue_delay PRIVATE feedline::core feedline_command_line)
target_include_directories(feedline_bench_queue_delay PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
if(TARGET feedline::cuda)
  target_link_libraries(feedline_bench_queue_delay PRIVATE feedline::cuda CUDA::cudart_static)
  target_compile_definitions(feedline_bench_queue_delay PRIVATE FEEDLINE_BENCH_CUDA)
endif()
feedline_private_options(feedline_bench_queue_delay)
add_test(NAME "queue delay: each request is delivered once"
  COMMAND feedline_bench_queue_delay --seconds 0.1 --rate 1000 --max-delays 0,1000)
if(FEEDLINE_HAS_HDF5)
  add_executable(feedline_bench_decode bench/storage/decode.cpp)
  target_link_libraries(feedline_bench_decode PRIVATE feedline_test_encoders feedline_command_line)
  feedline_private_options(feedline_bench_decode)
endif()

# The program that overhead.py compares Python's loop with.
add_executable(feedline_bench_python_overhead bench/python/overhead.cpp)
target_link_libraries(feedline_bench_python_overhead PRIVATE feedline::core)
feedline_private_options(feedline_bench_python_overhead)
if(FEEDLINE_HAS_REMOTE)
  add_executable(feedline_bench_remote
    bench/remote/bare_client.cpp
    bench/remote/caches.cpp
    bench/remote/client_process.cpp
    bench/remote/file_server.cpp
    bench/remote/forms.cpp
    bench/remote/remote.cpp
    bench/support/child_server.cpp
    bench/support/delivered.cpp)
  target_include_directories(feedline_bench_remote
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(feedline_bench_remote
    PRIVATE feedline::formats feedline_test_http feedline_command_line spdlog::spdlog)
  if(FEEDLINE_HAS_HDF5)
    target_sources(feedline_bench_remote PRIVATE
      bench/hdf5/encodings.cpp bench/hdf5/hdf5_files.cpp bench/support/shapes.cpp)
    target_link_libraries(feedline_bench_remote
      PRIVATE feedline_test_hdf5 feedline_test_encoders ZLIB::ZLIB)
    target_compile_definitions(feedline_bench_remote PRIVATE FEEDLINE_BENCH_HDF5)
  endif()
  if(TARGET feedline::cuda)
    target_link_libraries(feedline_bench_remote PRIVATE feedline::cuda CUDA::cudart_static)
    target_compile_definitions(feedline_bench_remote PRIVATE FEEDLINE_BENCH_CUDA)
  endif()
  feedline_private_options(feedline_bench_remote)
  add_executable(feedline_bench_cache bench/storage/cache.cpp)
  target_include_directories(feedline_bench_cache
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(feedline_bench_cache PRIVATE feedline::remote feedline_command_line)
  feedline_private_options(feedline_bench_cache)
endif()

# The trainings of MLPerf Storage.
if(FEEDLINE_HAS_JPEG AND FEEDLINE_HAS_PNG)
  add_executable(feedline_bench_mlperf
    bench/mlperf/accelerators.cpp
    bench/mlperf/make_data.cpp
    bench/mlperf/mlperf.cpp
    bench/mlperf/open_data.cpp
    bench/mlperf/parquet_file.cpp
    bench/mlperf/serve.cpp
    bench/mlperf/workload.cpp
    bench/support/delivered.cpp
    support/images/image_bytes.cpp)
  target_include_directories(feedline_bench_mlperf
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(feedline_bench_mlperf PRIVATE feedline::formats feedline_test_support
    feedline_command_line JPEG::JPEG PNG::PNG)
  if(FEEDLINE_HAS_REMOTE)
    target_sources(feedline_bench_mlperf PRIVATE bench/support/child_server.cpp)
    target_link_libraries(feedline_bench_mlperf PRIVATE feedline_test_http feedline::remote)
    target_compile_definitions(feedline_bench_mlperf PRIVATE FEEDLINE_HAS_REMOTE)
  endif()
  if(FEEDLINE_HAS_PARQUET)
    target_link_libraries(feedline_bench_mlperf PRIVATE ${feedline_parquet_libraries})
    target_compile_definitions(feedline_bench_mlperf PRIVATE FEEDLINE_HAS_PARQUET)
  endif()
  if(TARGET feedline::cuda)
    target_link_libraries(feedline_bench_mlperf PRIVATE feedline::cuda CUDA::cudart_static)
    target_compile_definitions(feedline_bench_mlperf PRIVATE FEEDLINE_BENCH_CUDA)
  endif()
  feedline_private_options(feedline_bench_mlperf)
  set(small_mlperf --scale 0.001 --steps 3 --data-mib 1 --accelerators 2)
  add_test(NAME "mlperf: the trainings of MLPerf Storage run"
    COMMAND feedline_bench_mlperf ${small_mlperf} --workload unet3d,resnet50,cosmoflow)
  if(FEEDLINE_HAS_REMOTE)
    add_test(NAME "mlperf: the trainings run with data of a web server"
      COMMAND feedline_bench_mlperf ${small_mlperf} --serve --workload unet3d,resnet50)
  endif()
  add_test(NAME "mlperf: the trainings of later rounds run"
    COMMAND feedline_bench_mlperf ${small_mlperf} --accelerator b200
      --workload retinanet,flux,dlrm)
  add_test(NAME "mlperf: images of a training are decoded"
    COMMAND feedline_bench_mlperf ${small_mlperf} --accelerator b200 --workload retinanet --decode)
  set_tests_properties("mlperf: the trainings of later rounds run" PROPERTIES
    SKIP_REGULAR_EXPRESSION "\\[feedline skip\\]")
endif()
