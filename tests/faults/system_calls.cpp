#include "faults/system_calls.hpp"

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <dlfcn.h>

namespace feedline::test {
namespace {

constinit nth_call allocation_calls;
constinit nth_call thread_calls;
constinit std::atomic<std::int64_t> blocks{0};

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (allocation_calls.count()) return nullptr;
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
  if (memory != nullptr) ++blocks;
  return memory;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  --blocks;
  std::free(memory);
}

}  // namespace

nth_call& allocations() noexcept {
  return allocation_calls;
}

nth_call& thread_creations() noexcept {
  return thread_calls;
}

std::int64_t living_blocks() noexcept {
  return blocks.load();
}

}  // namespace feedline::test

// The program's own functions replace the library's. The others of each kind call these.

namespace {

constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

void* operator new(std::size_t bytes) {
  return feedline::test::allocate_or_throw(bytes, usual);
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return feedline::test::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return feedline::test::allocate(bytes, usual);
}

void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return feedline::test::allocate(bytes, static_cast<std::size_t>(alignment));
}

void* operator new[](std::size_t bytes) {
  return feedline::test::allocate_or_throw(bytes, usual);
}

void operator delete(void* memory) noexcept {
  feedline::test::release(memory);
}

void operator delete[](void* memory) noexcept {
  feedline::test::release(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  feedline::test::release(memory);
}

void operator delete[](void* memory, std::size_t) noexcept {
  feedline::test::release(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept {
  feedline::test::release(memory);
}

void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  feedline::test::release(memory);
}

void operator delete(void* memory, const std::nothrow_t&) noexcept {
  feedline::test::release(memory);
}

void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  feedline::test::release(memory);
}

/// A sanitizer's own, where it is a part of the program, as clang has it.
extern "C" __attribute__((weak)) int __interceptor_pthread_create(pthread_t*, const pthread_attr_t*,
                                                                  void* (*)(void*), void*);

/// The next one is the C library's, or a sanitizer's.
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  if (feedline::test::thread_creations().count()) return EAGAIN;
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto next = __interceptor_pthread_create != nullptr
                               ? &__interceptor_pthread_create
                               : reinterpret_cast<function>(::dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, body, argument);
}
