# Stands in for CMake's, on a machine with another HDF5.
set(HDF5_FOUND TRUE)
set(HDF5_VERSION ${OTHER_HDF5})
