/// A copy of the library with all that belongs to it, as a plugin would bring one into the
/// process of `copies_program.cpp`.

#include "faults/library_copy.hpp"

extern "C" {

__attribute__((visibility("default"))) bool copy_delivers() {
  return feedline::test::delivers();
}

__attribute__((visibility("default"))) void copy_leaves_read(feedline::test::semaphore& gate,
                                                             feedline::test::semaphore& ended) {
  feedline::test::leave_read(gate, ended);
}
}
