#include <feedline/error.hpp>

#include "ranks.hpp"

#ifdef MNIST_HAS_MPI
#include <mpi.h>
#endif

namespace mnist {

void broadcast_by_mpi([[maybe_unused]] std::span<char> bytes, [[maybe_unused]] int world) {
#ifdef MNIST_HAS_MPI
  // Faults of MPI end the process with its own words.
  MPI_Init(nullptr, nullptr);
  int found = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &found);
  if (found == world)
    MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Finalize();  // from here on NCCL connects the processes
  if (found != world)
    throw feedline::usage_error{"MPI knows " + std::to_string(found) + " processes, the launcher " +
                                std::to_string(world) +
                                ": start the trainer with the mpirun of the MPI it was built with"};
#else
  throw feedline::usage_error{
      "the processes cannot find each other, for this trainer was built without MPI: set "
      "NCCL_COMM_ID=HOST:PORT alike for all, a free port of rank 0's machine; or install "
      "libopenmpi-dev and build again; or start them by torchrun"};
#endif
}

}  // namespace mnist
