#pragma once

#include <feedline/needs_cpp20.hpp>
#include <feedline/version.hpp>

/// The API stands in an inline namespace with the version of its interface, `v0_1`. Libraries that
/// were built with two versions can so live in one process. Code need not name it: it says
/// `feedline::loader`. A forward declaration of a class of feedline's cannot do without it, so
/// include its header.
#define FEEDLINE_ABI_OF(major, minor) v##major##_##minor
#define FEEDLINE_ABI_EXPANDED(major, minor) FEEDLINE_ABI_OF(major, minor)
#define FEEDLINE_ABI FEEDLINE_ABI_EXPANDED(FEEDLINE_VERSION_MAJOR, FEEDLINE_VERSION_MINOR)

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
