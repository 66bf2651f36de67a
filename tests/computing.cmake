# Tests that compute much, in headers of kernels or by themselves.
set(feedline_computing_sources
  "^(gpu|unit/codecs/(jpeg|lz|lz4|zstd)|support/images/image_bytes).*cpp$")

# feedline_optimize_computing(SOURCES…): optimizes these of SOURCES, and no other test.
function(feedline_optimize_computing)
  list(FILTER ARGN INCLUDE REGEX "${feedline_computing_sources}")
  if(ARGN)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-O1")
  endif()
endfunction()
