// Several processes share an HDF5 file, by an HDF5 library that may be a parallel one. Each adds up
// its share of the bytes of the dataset "image", and MPI adds up what they have:
//
//     mpirun -np 2 hdf5_by_mpi train.h5
//
// A parallel HDF5 library closes all files in MPI_Finalize. So datasets are destroyed before it.

#include <feedline/feedline.hpp>
#include <feedline/hdf5/dataset.hpp>

#include <cstdint>
#include <exception>
#include <iostream>

#include <mpi.h>

namespace {

// [share]
std::uint64_t sum_of_share(const char* file, int rank, int world) {
  const auto images = feedline::open_hdf5(file, {{"image"}});
  feedline::loader loader{images,
                          feedline::shuffle{.seed = 42},
                          feedline::make_host_device(),
                          {.batch_size = 32, .shard = {.rank = rank, .world = world}}};
  std::uint64_t sum = 0;
  for (const feedline::batch& batch : loader.epoch(0))
    for (const std::uint8_t byte : batch["image"].values<std::uint8_t>()) sum += byte;
  return sum;
}
// [/share]

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: mpirun -np 2 hdf5_by_mpi FILE\n";
    return 2;
  }
  MPI_Init(&count, &arguments);
  int rank = 0;
  int world = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  try {
    const std::uint64_t share = sum_of_share(arguments[1], rank, world);
    std::uint64_t sum = 0;
    MPI_Reduce(&share, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::cout << world << " processes, sum " << sum << '\n';
  } catch (const std::exception& error) {
    std::cerr << "rank " << rank << ": " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
