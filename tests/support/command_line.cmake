# Reads the command lines of stress programs and benchmarks: CLI11, compiled once.

find_package(CLI11 REQUIRED)
add_library(feedline_command_line STATIC support/command_line.cpp)
target_include_directories(feedline_command_line PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(feedline_command_line PRIVATE CLI11::CLI11)
feedline_private_options(feedline_command_line)
feedline_reads_command_line(support/command_line.cpp)
