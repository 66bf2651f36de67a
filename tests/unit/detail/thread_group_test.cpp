#include "detail/thread_group.hpp"

#include "support/checks/catch.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

using feedline::detail::thread_group;

namespace {

/// Says which thread destroys it.
struct kept_object {
  ~kept_object() { destroyed_by.set_value(std::this_thread::get_id()); }
  std::promise<std::thread::id>& destroyed_by;
};

}  // namespace

TEST_CASE("thread group: its threads are waited for, up to the given time", "[detail][host]") {
  std::atomic<bool> open{false};
  thread_group group;
  group.reserve(2);
  CHECK(group.wait_for(std::chrono::milliseconds{0}));
  for (int i = 0; i < 2; ++i) group.start("a thread", [&] { open.wait(false); });
  CHECK_FALSE(group.wait_for(std::chrono::milliseconds{1}));
  open.store(true);
  open.notify_all();
  CHECK(group.wait_for(std::chrono::milliseconds{0}));
  group.join();
}

TEST_CASE("thread group: the longest time there is waits for the threads' end", "[detail][host]") {
  std::promise<void> go;
  thread_group group;
  group.start("a thread", [ready = go.get_future().share()] { ready.wait(); });
  std::promise<void> begun;
  std::thread opens{[&] {
    begun.get_future().wait();
    go.set_value();
  }};
  begun.set_value();
  CHECK(group.wait_for(std::chrono::milliseconds::max()));
  opens.join();
  group.join();
}

TEST_CASE("thread group: the last abandoned thread destroys the object that it is given",
          "[detail][host]") {
  struct gate {
    std::atomic<bool> open{false};
    std::promise<std::thread::id> last;
  };
  const auto shared = std::make_shared<gate>();
  std::promise<std::thread::id> destroyed_by;
  auto destroyed = destroyed_by.get_future();
  auto kept = std::shared_ptr<kept_object>{new kept_object{destroyed_by}};
  std::promise<void> first_ended;
  {
    thread_group group;
    group.start("a thread", [&] { first_ended.set_value(); });
    group.start("a thread", [shared] {
      shared->open.wait(false);
      shared->last.set_value(std::this_thread::get_id());
    });
    first_ended.get_future().wait();
    group.leave(std::move(kept));
  }
  CHECK(destroyed.wait_for(std::chrono::milliseconds{1}) == std::future_status::timeout);
  shared->open.store(true);
  shared->open.notify_all();
  CHECK(destroyed.get() == shared->last.get_future().get());
}

TEST_CASE("thread group: if all threads have ended nothing is kept", "[detail][host]") {
  std::promise<std::thread::id> destroyed_by;
  thread_group group;
  group.start("a thread", [] {});
  REQUIRE(group.wait_for(std::chrono::milliseconds{0}));
  group.leave(std::shared_ptr<kept_object>{new kept_object{destroyed_by}});
  CHECK(destroyed_by.get_future().get() == std::this_thread::get_id());
}
