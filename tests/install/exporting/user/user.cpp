#include <cstdint>
#include <iostream>

std::uint64_t sum_of_numbers(std::uint32_t count);

int main() {
  std::cout << "sum " << sum_of_numbers(1000) << '\n';
}
