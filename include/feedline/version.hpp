#pragma once

/// Semantic version of these headers. CMakeLists.txt reads it from here.
#define FEEDLINE_VERSION_MAJOR 0
#define FEEDLINE_VERSION_MINOR 2
#define FEEDLINE_VERSION_PATCH 0
