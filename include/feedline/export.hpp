#pragma once

#include <feedline/needs_cpp20.hpp>
#include <feedline/version.hpp>

/// The API is in an inline namespace named after the version of its interface, for example `v0_2`.
/// So libraries that were built with two versions can live in one process. User code need not name
/// it: it says `feedline::loader`. A forward declaration of a feedline class would have to name it,
/// so include the class's header instead.
#define FEEDLINE_ABI_OF(major, minor) v##major##_##minor
#define FEEDLINE_ABI_EXPANDED(major, minor) FEEDLINE_ABI_OF(major, minor)
#define FEEDLINE_ABI FEEDLINE_ABI_EXPANDED(FEEDLINE_VERSION_MAJOR, FEEDLINE_VERSION_MINOR)

/// Symbol visibility of a shared feedline library. Public headers open `namespace FEEDLINE_EXPORT
/// feedline`, so the library exports all that they declare, and nothing else. Sources open the
/// namespace in the same way, because clang looks at the definition of a function. Targets that
/// link to a shared feedline have FEEDLINE_SHARED defined. A static library exports nothing, so a
/// plugin that contains one keeps it private.
#ifdef FEEDLINE_SHARED
#define FEEDLINE_EXPORT [[gnu::visibility("default")]]
#else
#define FEEDLINE_EXPORT
#endif
