#include "cpu.hpp"

#include <Eigen/Core>

namespace mnist {

/// Eigen could spread its products over the cores, but these are small: that doubled the rate of an
/// idle machine with two cores, and cut it to a tenth when the machine had other work.
void cpu::multiply(const matrix& left, const matrix& right, float keep, float* out) {
  const auto index = [](std::size_t number) { return static_cast<Eigen::Index>(number); };
  using strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const auto view = [&](const matrix& of) {
    const Eigen::Index height = index(of.height());
    return Eigen::Map<const Eigen::MatrixXf, 0, strides>{
        of.data, index(of.rows), index(of.columns),
        of.transposed ? strides{1, height} : strides{height, 1}};
  };
  Eigen::Map<Eigen::MatrixXf> result{out, index(left.rows), index(right.columns)};
  result *= keep;
  result.noalias() += view(left) * view(right);
}

}  // namespace mnist
