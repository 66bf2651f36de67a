#include "cpu.hpp"

#include <Eigen/Core>

namespace mnist {

/// Eigen could spread its products over the cores, but these are small: that doubled the rate of an
/// idle machine with two cores, and cut it to a tenth when the machine had other work.
void cpu::multiply(const matrix& left, const matrix& right, float keep, float* out) {
  using strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const auto view = [](const matrix& of) {
    const auto rows = static_cast<Eigen::Index>(of.rows);
    const auto columns = static_cast<Eigen::Index>(of.columns);
    return Eigen::Map<const Eigen::MatrixXf, 0, strides>{
        of.data, rows, columns, of.transposed ? strides{1, columns} : strides{rows, 1}};
  };
  Eigen::Map<Eigen::MatrixXf> result{out, static_cast<Eigen::Index>(left.rows),
                                     static_cast<Eigen::Index>(right.columns)};
  result *= keep;
  result.noalias() += view(left) * view(right);
}

}  // namespace mnist
