# cmake -D SOURCE=… -P layers_test.cmake: which folder may include which.
#
# A folder of include/feedline and the folder of that name in src are one room. A room may include
# itself, those after its colon, and include/feedline's own files (errors, indices, the version). It
# may name only rooms above it in this list, so that includes form no ring. The headers in
# include/feedline/transform say what users and devices want, so they are a room below `device`.

cmake_minimum_required(VERSION 3.25)
set(max_files 30)
set(rooms
  "detail:"
  "detail/json: detail"
  "detail/checksums:"
  "statistics: detail detail/json"
  "io: detail statistics"
  "io/local: detail io"
  "remote/answer: detail detail/checksums"
  "remote/direct:"
  "remote/request: detail detail/json io remote/answer remote/direct"
  "remote/cache: detail statistics io remote/answer remote/request"
  "remote: detail detail/json io remote/answer remote/direct remote/request remote/cache"
  "rows: detail io"
  "dataset: detail io rows"
  "dataset/memory: detail rows dataset"
  "rows/decoded: detail io rows dataset"
  "dataset/sparse: dataset"
  "arrays/cut: dataset"
  "arrays: detail io rows dataset arrays/cut"
  "arrays/sparse: detail dataset dataset/sparse arrays"
  "arrays/windows: detail dataset arrays arrays/cut"
  "ragged: detail io rows dataset"
  "queue: detail dataset"
  "transform/options: dataset"
  "transform/operations: detail dataset transform/options"
  "codecs: detail"
  "codecs/lz: detail codecs"
  "codecs/inflate: detail codecs codecs/lz"
  "codecs/zstd: detail codecs codecs/lz"
  "codecs/lz4: detail codecs/lz"
  "codecs/blosc: detail codecs/lz"
  "codecs/jpeg: detail"
  "codecs/png: detail codecs"
  "sampler: detail dataset ragged"
  "sampler/mixture: detail dataset sampler"
  "packing: detail dataset ragged sampler"
  "image/resize: detail dataset codecs"
  "image: detail image/resize io rows dataset ragged sampler codecs/jpeg codecs/png \
transform/options transform/operations"
  "image/sets: detail image/resize io dataset ragged sampler image transform/options \
transform/operations"
  "formats: detail detail/checksums io rows dataset arrays ragged image"
  "formats/open: detail io remote dataset image formats"
  "formats/npy: detail io rows dataset arrays formats formats/open"
  "hdf5: io dataset arrays ragged"
  "hdf5/filter: detail"
  "hdf5/format: detail io"
  "hdf5/library: detail io io/local dataset arrays hdf5 hdf5/filter hdf5/format"
  "hdf5/attributes: detail arrays hdf5/library"
  "hdf5/rows: detail io rows dataset dataset/memory rows/decoded arrays hdf5 hdf5/attributes \
hdf5/filter hdf5/format hdf5/library"
  "hdf5/vlen: detail rows ragged hdf5 hdf5/format hdf5/library hdf5/rows"
  "formats/zarr/stores: detail io formats/npy"
  "formats/zarr/json: detail io"
  "formats/zarr: detail io rows dataset dataset/memory rows/decoded arrays hdf5/filter formats \
formats/open formats/npy formats/zarr/json formats/zarr/stores"
  "formats/columns: detail io rows dataset ragged image hdf5/filter formats formats/open"
  "formats/table: detail io rows dataset ragged formats"
  "formats/array_files: detail io dataset ragged formats formats/open formats/npy"
  "formats/file_list: detail io dataset ragged image image/sets formats formats/open \
formats/array_files"
  "formats/*: detail io rows dataset arrays ragged image hdf5 formats formats/open formats/npy \
formats/columns formats/table"
  "formats/array_record: detail detail/checksums io rows ragged formats formats/open \
formats/columns formats/tfrecord"
  "device: detail statistics dataset dataset/sparse transform/options transform/operations"
  "device/trace: detail statistics dataset device"
  "results: detail device"
  "staging: detail io statistics dataset queue sampler device"
  "batch: detail statistics dataset sampler device device/trace staging"
  "interop: detail rows dataset sampler device batch"
  "transform: detail dataset device transform/options transform/operations"
  "reader: detail io statistics dataset queue sampler device staging"
  "transfer: detail statistics device staging batch transform reader"
  "loader: detail detail/json statistics dataset sampler device batch transform/options transform \
reader"
  "decoding: detail dataset sampler device staging batch reader transfer loader"
  "loader/plan: detail io dataset queue sampler device staging transform transfer loader decoding"
  "loader/pipeline: detail io statistics dataset queue sampler device device/trace staging batch \
transform reader transfer loader decoding loader/plan"
  "cuda: detail dataset device"
  "cuda/assembly: detail dataset device transform/operations cuda"
  "cuda/kernel: codecs cuda"
  "cuda/decode/jpeg: detail dataset image/resize codecs/jpeg codecs/png cuda cuda/kernel"
  "cuda/decode/png: codecs/inflate codecs/png cuda cuda/kernel cuda/decode/jpeg"
  "cuda/decode: detail dataset image codecs/jpeg codecs/png device codecs/inflate codecs/lz \
codecs/zstd codecs/lz4 codecs/blosc cuda cuda/kernel cuda/decode/jpeg cuda/decode/png"
  "cuda/backend: detail device cuda cuda/assembly cuda/decode"
  "cuda/graphs: device batch cuda"
  "programs/inputs: io remote dataset formats"
  "programs/words:"
  "programs/convert/attributes: detail dataset formats formats/zarr formats/zarr/json \
formats/zarr/stores hdf5/attributes hdf5/library"
  "programs/convert/output: detail io io/local dataset formats hdf5 hdf5/library loader \
programs/convert/attributes"
  "programs/convert/work: io io/local programs/convert/output"
  "programs/convert: detail dataset formats hdf5 sampler device loader programs/inputs \
programs/words programs/convert/attributes programs/convert/work programs/convert/output"
  "programs/doctor/decoding: dataset arrays"
  "programs/doctor: detail detail/json io io/local dataset arrays ragged image formats hdf5 \
sampler device statistics loader cuda programs/inputs programs/words programs/doctor/decoding"
  "python/interpreter: detail"
  "python: detail io dataset ragged packing image formats sampler device statistics loader remote \
    cuda transform/options python/interpreter"
  "python/datasets: io remote dataset arrays queue ragged packing image formats hdf5 sampler \
python/interpreter python"
  "python/samples: detail dataset ragged python/interpreter python python/datasets"
  "python/workers: detail dataset device python/interpreter python python/samples"
  "python/samplers: dataset ragged sampler image python/interpreter python python/datasets"
  "python/loader: sampler device statistics batch transform transform/options loader interop \
    python/interpreter python python/datasets python/samplers"
)

# Formats are rooms of one kind: every other folder of src/formats.
file(GLOB formats RELATIVE ${SOURCE}/src LIST_DIRECTORIES TRUE ${SOURCE}/src/formats/*)
list(FILTER formats EXCLUDE REGEX
  "\\.|^formats/(open|array_record|npy|zarr|columns|table|array_files|file_list)$")
list(JOIN rooms "\n" text)
string(REGEX MATCH "formats/\\*(:[^\n]*)" line "${text}")
list(TRANSFORM formats APPEND "${CMAKE_MATCH_1}")
list(FIND rooms "${line}" at)
list(REMOVE_AT rooms ${at})
list(INSERT rooms ${at} ${formats})

set(allowed_ detail)  # include/feedline's own files, of which error.cpp shows texts
set(known "")
foreach(line IN LISTS rooms)
  string(REGEX MATCH "^([a-z0-9_/]+):(.*)$" found "${line}")
  set(room ${CMAKE_MATCH_1})
  string(REPLACE " " ";" allowed "${CMAKE_MATCH_2}")
  list(REMOVE_ITEM allowed "")
  foreach(other IN LISTS allowed)
    if(NOT other IN_LIST known)
      message(FATAL_ERROR
        "the list of rooms lets ${room} include ${other}, which does not stand above it")
    endif()
  endforeach()
  list(APPEND known ${room})
  set("allowed_${room}" ${room} ${allowed})
endforeach()

# room_of(RESULT PATH): the folder of a path below src or include/feedline; empty for
# include/feedline's own files.
function(room_of result path)
  string(REGEX REPLACE "^(src|include/feedline|feedline)/" "" path "${path}")
  cmake_path(GET path PARENT_PATH room)
  # What those who write devices, and their tests, include.
  string(REGEX REPLACE "^backend$" "device" room "${room}")
  string(REGEX REPLACE "^testing$" "sampler" room "${room}")
  if(ARGV1 MATCHES "feedline/transform/")
    set(room transform/options)
  endif()
  set(${result} "${room}" PARENT_SCOPE)
endfunction()

# check_includes(LIST FILE TEXT): adds a line for each include that FILE may not have.
function(check_includes list file text)
  room_of(room ${file})
  set(found_faults ${${list}})
  if(room AND NOT room IN_LIST known)
    list(APPEND found_faults
      "${file} lies in the folder ${room}, which is not in layers_test.cmake's list")
    set(text "")
  endif()
  string(REGEX MATCHALL "#include [<\"][^>\"\n]+[>\"]" includes "${text}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include .(.*).$" "\\1" header "${include}")
    if(NOT header MATCHES "/" OR (include MATCHES "<" AND NOT header MATCHES "^feedline/"))
      continue()  # a library's, or the file's neighbour
    endif()
    room_of(other ${header})
    if(other AND NOT other IN_LIST "allowed_${room}")
      list(APPEND found_faults "${file} includes ${header}: ${room} may not include ${other}")
    endif()
  endforeach()
  set(${list} "${found_faults}" PARENT_SCOPE)
endfunction()

# The check sees what it is there for.
foreach(wrong "src/detail/log.hpp|loader/pipeline/pipeline.hpp"
    "src/hdf5/filter/undo.hpp|hdf5/library/session.hpp"
    "src/formats/tar/index.hpp|formats/idx/array.hpp"
    "include/feedline/backend/device.hpp|feedline/loader/loader.hpp"
    "src/attic/old.hpp|detail/log.hpp")
  string(REPLACE "|" ";" wrong "${wrong}")
  list(POP_FRONT wrong file header)
  set(faults "")
  check_includes(faults ${file} "#include \"${header}\"\n")
  if(NOT faults)
    message(FATAL_ERROR "the check lets ${file} include ${header}")
  endif()
endforeach()

file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/src/* ${SOURCE}/include/feedline/*)
list(FILTER files INCLUDE REGEX "\\.(hpp|cpp|cuh?)$")
list(LENGTH files count)
if(count LESS 200)
  message(FATAL_ERROR
    "only ${count} files found under ${SOURCE}: this test looks in the wrong place")
endif()
set(faults "")
foreach(file IN LISTS files)
  if(file MATCHES "^include/feedline/(feedline|torch)[.]hpp$")
    continue()  # includes all that users need
  endif()
  file(READ ${SOURCE}/${file} text)
  check_includes(faults ${file} "${text}")
  if(file MATCHES "^src/")
    room_of(room ${file})
    list(APPEND "files_${room}" ${file})
  endif()
endforeach()
foreach(room IN LISTS known)
  list(LENGTH "files_${room}" room_files)
  if(room_files GREATER max_files)
    list(APPEND faults "src/${room} has ${room_files} files: at most ${max_files}, so divide it")
  endif()
endforeach()

if(faults)
  list(JOIN faults "\n  " text)
  message(FATAL_ERROR "includes against the layers:\n  ${text}")
endif()
list(LENGTH known rooms_count)
message(STATUS "${count} files in ${rooms_count} rooms include what they may")
