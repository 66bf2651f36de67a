# Under a sanitizer a process takes long to start, more than most test cases. So there ctest runs
# the cases of a source in one process, and as one test: with Catch2's own report if one fails.

# feedline_test_by_source(TARGET ENVIRONMENT): adds a test for each name of TARGET's sources of
# tests. To be called when it has all of them.
function(feedline_test_by_source target environment)
  get_target_property(names ${target} SOURCES)
  list(FILTER names INCLUDE REGEX "_test\\.cpp$")
  list(TRANSFORM names REPLACE "^.*/|\\.cpp$" "")
  list(REMOVE_DUPLICATES names)
  foreach(name IN LISTS names)
    add_test(NAME "${target}: ${name}" COMMAND ${target} --filenames-as-tags "[#${name}]")
    set_tests_properties("${target}: ${name}" PROPERTIES
      TIMEOUT ${feedline_test_timeout} ENVIRONMENT "${environment}")
  endforeach()
endfunction()
