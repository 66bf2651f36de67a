// a loader cannot be copied
// expect: deleted (function|constructor).*loader

#include <feedline/feedline.hpp>

#include <utility>

feedline::loader take(feedline::loader& loader) {
#ifdef MISUSE
  return loader;
#else
  return std::move(loader);
#endif
}
