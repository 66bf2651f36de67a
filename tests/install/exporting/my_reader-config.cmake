# What find_package(my_reader) reads; docs/guide/installing.md shows these lines.
# [find_both]
include(CMakeFindDependencyMacro)
find_dependency(feedline 0.2 COMPONENTS core)
include(${CMAKE_CURRENT_LIST_DIR}/my_reader-targets.cmake)
# [/find_both]
