// a result that no variable holds has no arrow
// expect: deleted (member )?function.*operator->|deleted operator.*->

#include <feedline/feedline.hpp>

#include <cstddef>

std::size_t size(feedline::result_ring& results) {
#ifdef MISUSE
  return results.next()->bytes().size();
#else
  const auto result = results.next();
  return result->bytes().size();
#endif
}
