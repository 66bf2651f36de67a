#pragma once

#include <feedline/needs_cpp20.hpp>

/// What a shared library of feedline exports: `namespace FEEDLINE_EXPORT feedline` in public
/// headers, so all that they declare, and nothing else. Sources open it so, too, for clang goes by
/// where a function is defined. Those who link to the targets of a shared feedline have
/// FEEDLINE_SHARED defined. A static library exports nothing, so that a plugin that is built with
/// one keeps it to itself.
#ifdef FEEDLINE_SHARED
#define FEEDLINE_EXPORT [[gnu::visibility("default")]]
#else
#define FEEDLINE_EXPORT
#endif
