# feedline::remote, files of other machines, which feedline::formats opens, too.

if(NOT FEEDLINE_HAS_REMOTE)
  return()
endif()

add_library(feedline_remote
  remote/ahead_store.cpp
  remote/answer/answer.cpp
  remote/answer/judge_answer.cpp
  remote/answer/object_checksum.cpp
  remote/cache/block_file.cpp
  remote/cache/block_key.cpp
  remote/cache/cache_folder.cpp
  remote/cache/cache_threads.cpp
  remote/cache/download_simulation.cpp
  remote/cache/foretell.cpp
  remote/cache/object_cache.cpp
  remote/cache/use_table.cpp
  remote/cache/use_times.cpp
  remote/direct/connections_answers.cpp
  remote/direct/connections.cpp
  remote/direct/servers.cpp
  remote/manifest.cpp
  remote/mount.cpp
  remote/object_file.cpp
  remote/object_file_blocks.cpp
  remote/object_files.cpp
  remote/objects_ahead.cpp
  remote/request/attempt.cpp
  remote/request/attempt_direct.cpp
  remote/request/attempt_options.cpp
  remote/request/connection_groups.cpp
  remote/request/counts.cpp
  remote/request/credential_services.cpp
  remote/request/plain_request.cpp
  remote/request/request_thread.cpp
  remote/request/request_thread_ends.cpp
  remote/request/s3_identity.cpp
  remote/request/transfer_loop.cpp
  remote/request/transfer_queue.cpp
  remote/s3_files.cpp
  remote/s3_listing.cpp
  remote/statistics.cpp
  remote/web_files.cpp
)
add_library(feedline::remote ALIAS feedline_remote)
set_target_properties(feedline_remote PROPERTIES EXPORT_NAME remote)
target_include_directories(feedline_remote PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(feedline_remote PUBLIC feedline_core PRIVATE CURL::libcurl
  pugixml::pugixml ZLIB::ZLIB spdlog::spdlog)
if("libdeflate" IN_LIST FEEDLINE_HDF5_LIBRARIES)  # faster checksums than zlib's
  target_compile_definitions(feedline_remote PRIVATE FEEDLINE_HAS_LIBDEFLATE)
  target_link_libraries(feedline_remote PRIVATE feedline_libraries::libdeflate)
endif()
feedline_private_options(feedline_remote)
list(APPEND feedline_targets feedline_remote)

# The core says what to do where they are not mounted.
target_compile_definitions(feedline_core PRIVATE FEEDLINE_HAS_REMOTE)
target_compile_definitions(feedline_formats PRIVATE FEEDLINE_HAS_REMOTE)
target_link_libraries(feedline_formats PUBLIC feedline_remote)
target_sources(feedline_formats PRIVATE formats/open/write_manifest.cpp)
