/// Three copies of the library in one process: this program's own, and two that plugins bring,
/// which are opened and closed again. Argument: what happens. Its exit status says whether all went
/// well; a line says what did not.

#include "faults/library_copy.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <dlfcn.h>

namespace {

using feedline::test::delivers;
using feedline::test::semaphore;

/// A copy, as long as it is open.
class plugin {
 public:
  explicit plugin(const char* path) : library_{::dlopen(path, RTLD_NOW | RTLD_LOCAL)} {
    if (library_ != nullptr) return;
    std::printf("%s\n", ::dlerror());
    std::abort();
  }
  plugin(const plugin&) = delete;
  plugin& operator=(const plugin&) = delete;
  ~plugin() { ::dlclose(library_); }

  [[nodiscard]] bool copy_delivers() const { return function<bool()>("copy_delivers")(); }
  void leaves_read(semaphore& gate, semaphore& ended) const {
    function<void(semaphore&, semaphore&)>("copy_leaves_read")(gate, ended);
  }

 private:
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    void* const found = ::dlsym(library_, name);
    if (found == nullptr) std::abort();
    return reinterpret_cast<Function*>(found);
  }

  void* library_;
};

/// They work at the same time, and are closed while others work.
bool come_and_go() {
  std::atomic<int> well{0};
  constexpr int rounds = 20;
  const auto use = [&](const char* path) {
    for (int round = 0; round < rounds; ++round) {
      const plugin opened{path};
      well += opened.copy_delivers() ? 1 : 0;
    }
  };
  std::thread first{use, FEEDLINE_LIBRARY_COPY_1};
  std::thread second{use, FEEDLINE_LIBRARY_COPY_2};
  for (int round = 0; round < rounds; ++round) well += delivers() ? 1 : 0;
  first.join();
  second.join();
  return well == 3 * rounds;
}

/// A copy that was the first to log is closed before the others log, and before the process ends.
bool logs_first() {
  {
    const plugin opened{FEEDLINE_LIBRARY_COPY_1};
    if (!opened.copy_delivers()) return false;
  }
  void* const loaded = ::dlopen(FEEDLINE_LIBRARY_COPY_1, RTLD_NOW | RTLD_NOLOAD);
  return loaded == nullptr && delivers();
}

/// A copy is closed while its abandoned threads are in a read; these end later.
bool left_behind() {
  semaphore gate;
  semaphore ended;
  {
    const plugin opened{FEEDLINE_LIBRARY_COPY_1};
    opened.leaves_read(gate, ended);
  }
  if (!delivers() || ended.is_posted()) return false;
  gate.post();
  return ended.wait_for(std::chrono::seconds{20}) && !ended.is_posted();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::string_view scenario = arguments[1];
  const bool well = scenario == "come and go"  ? come_and_go()
                    : scenario == "logs first" ? logs_first()
                                               : left_behind();
  if (!well) std::printf("%s: not all went well\n", arguments[1]);
  return well ? 0 : 1;
}
