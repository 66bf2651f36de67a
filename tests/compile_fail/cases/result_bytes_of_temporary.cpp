// the bytes of a temporary result are unavailable
// expect: deleted (member )?function.*bytes

#include <feedline/feedline.hpp>

#include <cstddef>
#include <span>

std::span<std::byte> held(feedline::result_ring& results, const feedline::result& result) {
#ifdef MISUSE
  static_cast<void>(result);
  return (*results.next()).bytes();
#else
  static_cast<void>(results);
  return result.bytes();
#endif
}
