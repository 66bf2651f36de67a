// a batch cannot be copied
// expect: deleted (function|constructor).*batch

#include <feedline/feedline.hpp>

#include <utility>

feedline::batch take(feedline::batch& batch) {
#ifdef MISUSE
  return batch;
#else
  return std::move(batch);
#endif
}
